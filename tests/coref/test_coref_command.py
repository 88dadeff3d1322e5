"""``annomodels coref``: the table, the folder, and what broken files get for an answer."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from annomodels.cli.main import main
from annomodels.coref import pair_agreement, read

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


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


def test_the_table_names_the_condition_of_every_alpha(folder: Path, capsys) -> None:
    code = main(
        ["coref", str(folder), "--chain", "none", "--chain", "incl-", "--distance", "masi",
         "--draws", "100", "-q"]
    )  # fmt: skip
    assert code == 0
    table = rows(capsys.readouterr().out)
    measures = {row["coefficient"]: row["measure"] for row in table}
    assert measures["alpha_none_masi"] == "Krippendorff's alpha, masi, immediate antecedents"
    assert measures["alpha_incl-minus_masi"].endswith("inclusive chains [−top]")
    value = {row["coefficient"]: float(row["value"]) for row in table}
    assert value["pair_kappa"] == pytest.approx(pair_agreement(read(folder)).mean, abs=1e-6)
    assert value["mention_f1"] == 1


def test_text_types_have_rows_of_their_own_and_K_needs_no_distance(folder: Path, capsys) -> None:
    words = ["coref", str(folder), "--by", "genre", "--coefficient", "K", "--format", "json"]
    assert main([*words, "--draws", "50", "-q"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert list(dict.fromkeys(row["part"] for row in table)) == ["news", "talk"]
    assert {row["measure"] for row in table if row["coefficient"] == "K_incl-minus"} == {
        "K, inclusive chains [−top]"
    }
    assert main([*words[:2], "--by", "document", "--draws", "50", "-q"]) == 0
    assert len({row["part"] for row in rows(capsys.readouterr().out)}) == 6


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


def test_gates(folder: Path, capsys) -> None:
    words = ["coref", str(folder), "--draws", "50", "-q", "--fail-if"]
    assert main([*words, "pair_kappa<0.99"]) == 1
    assert "FAILED pair_kappa" in capsys.readouterr().err
    assert main([*words, "pair_kappa<-0.9"]) == 0
    assert main([*words, "kappa<0.9"]) == 2


def test_coders_are_named_on_the_command_line(folder: Path, capsys) -> None:
    files = [f"{name}={folder / f'{old}.jsonl'}" for name, old in (("x", "ana"), ("y", "cho"))]
    assert main(["coref", *files, "--draws", "20", "--read", "genre=/(.)"]) == 0
    assert "2 coders" in capsys.readouterr().err
    assert main(["coref", files[0], str(folder / "cho.jsonl")]) == 2
    assert "Name all coders" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--chain", "long"], "Unknown chain condition 'long'"),
        (["--read", "attributes=set"], "write WHAT=NAME"),
        (["--read", "genre=("], "is not a pattern"),
        (["--read", "genre=news"], "has no group"),
        (["--model", "pairs"], "add -o FOLDER"),
        (["--read", "format=xml"], "Unknown format 'xml'"),
    ],
)
def test_wrong_words(folder: Path, capsys, words: list[str], message: str) -> None:
    assert main(["coref", str(folder), *words]) in (2, 3)
    assert message in capsys.readouterr().err


def conll(*brackets: str, words: str = "a b c d") -> str:
    lines = [f"{w} {b}" for w, b in zip(words.split(), brackets, strict=True)]
    return "\n".join(["#begin document (t); part 000", *lines, "", "#end document", ""])


def test_all_problems_of_all_files_at_once_with_file_and_line(tmp_path: Path, capsys) -> None:
    (tmp_path / "ana.conll").write_text(conll("(1", "(2", "1)", "2)"))
    (tmp_path / "ben.conll").write_text(conll("(1", "-", "3)", "-"))
    (tmp_path / "cho.conll").write_bytes(conll("(1)", "-", "-", "-").encode("utf-8-sig"))
    (tmp_path / "dan.conll").write_bytes(
        conll("(1)", "-", "-", "-", words="a \u00e9 c d").encode("latin-1")
    )
    assert main(["coref", str(tmp_path), "-q"]) == 3
    said = capsys.readouterr().err
    assert "The brackets of (1 and (2 cross." in said
    assert "The bracket (1 is never closed." in said
    assert "The bracket 3) closes a mention that was never opened." in said
    assert "ana.conll, line 5" in said
    assert "ben.conll, line 4" in said
    assert "dan.conll" in said
    assert "cho.conll" not in said


def test_coders_with_different_words(tmp_path: Path, capsys) -> None:
    (tmp_path / "ana.conll").write_text(conll("(1)", "-", "-", "-"))
    (tmp_path / "ben.conll").write_text(conll("(1)", "-", "-", "-", words="a b x d"))
    assert main(["coref", str(tmp_path), "-q"]) == 3
    said = capsys.readouterr().err
    assert "at word 2, it is 'x' for ben and it is 'c' for ana" in said
    assert "ben.conll, line 4" in said


def test_unknown_ids_and_words_that_are_not_there(tmp_path: Path, capsys) -> None:
    (tmp_path / "t.txt").write_text("Ana left")
    (tmp_path / "t.ann").write_text("T1\tM 0 3\tAna\nR1\tCoref Anaphora:T9 Antecedent:T1\n")
    assert main(["coref", str(tmp_path), "-q"]) == 3
    said = capsys.readouterr().err
    assert "T9" in said
    assert "t.ann, line 2" in said
    assert main(["coref", str(tmp_path / "nothing"), "-q"]) == 3
