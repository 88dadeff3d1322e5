"""``--truth FILE --use fit|test|audit``: each file is recognized for what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annomodels.cli.loading import Truths, sorted_truth
from annomodels.cli.options import Truth
from annomodels.io.mappings import truths_from


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Write a fit's design of an audit, its answers, decisions of a page, and a plain table."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "audit.json").write_text(json.dumps({"rounds": [["t1", "t2"]]}))
    texts = {
        "plain": "item,label\nt1,pos\nt7,neg\n",
        "judged": "item,label\nt1,pos\nt2,neg\n",
        "decided": "item,label,decision,note,fit\nt3,pos,decided,,\n",
        "others": "item,label\nt8,pos\nt9,neg\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return {"out": str(out), **{name: str(tmp_path / f"{name}.csv") for name in texts}}


def test_each_file_is_recognized(files, capsys) -> None:
    def use(*names: str, use: str | None = None) -> Truths:
        return sorted_truth(Truth(tuple(files[name] for name in names), use), files["out"])

    design = {"audit": Path(files["out"], "audit.json")}
    assert use("plain") == Truths(fit=(files["plain"],))
    assert use("plain", use="test") == Truths(test=(files["plain"],))
    assert use("decided") == Truths(fit=(files["decided"],))
    assert capsys.readouterr().err == ""
    assert use("judged") == Truths(audit=(files["judged"],), how=design)
    assert "judged.csv has the items that `annomodels audit` drew" in capsys.readouterr().err
    # who says the use is believed, and several files keep what they are
    assert use("judged", use="test") == Truths(test=(files["judged"],))
    assert use("judged", "decided", "plain", use="test") == Truths(
        fit=(files["decided"],), test=(files["plain"],), audit=(files["judged"],), how=design
    )
    assert use("others", use="audit").how == {"use": "audit"}
    # the page's command writes to another folder, and names the design
    design = str(Path(files["out"], "audit.json"))
    named = Truth((files["judged"], design, files["decided"]))
    found = sorted_truth(named, f"{files['out']}-decided")
    assert (found.fit, found.audit) == ((files["decided"],), (files["judged"],))
    assert found.how == {"audit": Path(design)}


def test_old_options_are_gone_and_a_use_needs_a_file(call, votes: Path, tmp_path: Path) -> None:
    words = ("run", votes, "-o", tmp_path / "out")
    for option in ("--gold", "--known", "--audit", "--drawn", "--gold-column"):
        done = call(*words, option, votes)
        assert done.code == 2
        assert f"No such option '{option}'" in done.err
    done = call(*words, "--use", "test")
    assert done.code == 2
    assert "--use needs --truth" in done.err


def test_files_must_agree(call, votes: Path, tmp_path: Path) -> None:
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, label in zip(paths, ("pos", "neg"), strict=True):
        path.write_text(f"item,label\nt1,{label}\n")
    words = [word for path in paths for word in ("--truth", path)]
    done = call("run", votes, "-o", tmp_path / "out", *words)
    assert done.code == 3
    assert "1 item with different true labels: 't1'" in done.err
    assert "one.csv and two.csv" in done.err


def test_each_kind_of_wrong_file_is_told_once(call, votes: Path, tmp_path: Path) -> None:
    path = tmp_path / "wrong.csv"
    kinds = {
        "item,label\nu1,pos\nu2,neg\n": "2 decisions of an item that is not in the data",
        "item,label\n": "no truths",
        "item,label\nt1,great\nt2,great\n": "2 decisions with an unknown label",
        "item,label\nt1,pos\nt1,neg\n": "1 item with more than one truth",
        "item,coder,label\nt1,ana,pos\nt1,ben,neg\n": "has a column coder: it has labels",
    }
    for text, said in kinds.items():
        path.write_text(text)
        done = call("run", votes, "-o", tmp_path / "out", "--truth", path)
        assert done.code == 3, text
        assert done.err.count(said) == 1, done.err
        assert "wrong.csv" in done.err


def test_a_header_of_other_words_is_not_a_row(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("name,right\nt1,pos\nt2,neg\n")
    assert truths_from(path, ["t1", "t2"]) == {"t1": "pos", "t2": "neg"}
