"""``annomodels coref``: the table, the folder, and what broken files get for an answer."""

import json
from pathlib import Path

import pytest

from annomodels.cli.main import main
from annomodels.coref import read

WORDS = ["The", "engine", "met", "the", "boxcar", ".", "It", "left", "."]
CLUSTERS = {
    "ana": [[[0, 1], [6, 6]], [[3, 4]]],
    "ben": [[[0, 1], [6, 6]], [[3, 4]]],
    "cho": [[[0, 1]], [[3, 4], [6, 6]]],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "texts"
    made.mkdir()
    for coder, clusters in CLUSTERS.items():
        lines = [
            {"doc_key": f"{kind}/{n}", "sentences": [WORDS[:6], WORDS[6:]], "clusters": clusters}
            for n in range(3)
            for kind in ("news", "talk")
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (made / f"{coder}.jsonl").write_text(text)
    return made


@pytest.mark.slow
def test_the_folder_holds_report_tables_and_silver_chains(folder: Path, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    assert main(["coref", str(folder), "-o", str(out), "--draws", "100", "-q"]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "agreement.csv", "coders.csv", "links.csv", "places.csv", "rates.csv", "report.html",
        "silver.conll", "silver.jsonl", "texts.csv", "unaligned.csv",
    ]  # fmt: skip
    for name in ("silver.jsonl", "silver.conll"):
        silver = read(out / name, coder="silver")
        assert len(silver) == 6
        groups = {len(group) for text in silver for group in text.layers["silver"].groups}
        assert groups == {2}
    page = (out / "report.html").read_text("utf-8")
    assert "cho" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    coders = (out / "coders.csv").read_text("utf-8").splitlines()
    assert coders[1].startswith("cho,")
    capsys.readouterr()
    assert main(["coref", str(folder), "-o", str(out), "-q"]) == 2
    assert "already exist" in capsys.readouterr().err
    words = ["coref", str(folder), "-o", str(out), "-q", "--force", "--model", "none"]
    assert main([*words, "--draws", "20"]) == 0
