"""``--truth FILE --use fit|test|audit``: each file is recognized for what it is."""

import json
from pathlib import Path

import pytest
from click import UsageError

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
    # decisions are of items that the page chose
    with pytest.raises(UsageError, match="not drawn at random"):
        use("decided", use="audit")
    # the page's command writes to another folder, and names the design
    design = str(Path(files["out"], "audit.json"))
    named = Truth((files["judged"], design, files["decided"]))
    found = sorted_truth(named, f"{files['out']}-decided")
    assert (found.fit, found.audit) == ((files["decided"],), (files["judged"],))
    assert found.how == {"audit": Path(design)}


def test_a_header_of_other_words_is_not_a_row(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("name,right\nt1,pos\nt2,neg\n")
    assert truths_from(path, ["t1", "t2"]) == {"t1": "pos", "t2": "neg"}
