"""True labels on the command line: ``--truth`` and ``--use``, decisions of a page, ``--show``."""

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from click import UsageError

import annomodels as am
from annomodels.cli.loading import TruthFiles, sorted_truth
from annomodels.cli.options import Truth
from annomodels.io.mappings import truths_from
from tests.cli.rows import FEW, rows_of, write_rows

SHORT = (*FEW, "--seed", 1)

# -- each file is recognized for what it is --------------------------------------------------------


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
    def use(*names: str, use: str | None = None) -> TruthFiles:
        return sorted_truth(Truth(tuple(files[name] for name in names), use), files["out"])

    design = {"audit": Path(files["out"], "audit.json")}
    assert use("plain") == TruthFiles(fit=(files["plain"],))
    assert use("plain", use="test") == TruthFiles(test=(files["plain"],))
    assert use("decided") == TruthFiles(fit=(files["decided"],))
    assert capsys.readouterr().err == ""
    assert use("judged") == TruthFiles(audit=(files["judged"],), how=design)
    assert "judged.csv has the items that `annomodels audit` drew" in capsys.readouterr().err
    # who says the use is believed, and several files keep what they are
    assert use("judged", use="test") == TruthFiles(test=(files["judged"],))
    assert use("judged", "decided", "plain", use="test") == TruthFiles(
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
    path = write_rows(tmp_path / "two.csv", ["t1,pos", "t2,neg"], "name,right")
    assert truths_from(path, ["t1", "t2"]) == {"t1": "pos", "t2": "neg"}


# -- truth that is held back from the fit judges its gold labels -----------------------------------


@pytest.mark.slow
@pytest.mark.calibration
def test_the_report_of_a_fit_is_judged_by_it(call, saved: Path, tmp_path: Path) -> None:
    table = am.load(saved).gold().table.head(20)
    rows = [f"{r.item},{r.label}" for r in table.itertuples()]
    truth = write_rows(tmp_path / "truth.csv", rows, "item,truth")
    page = tmp_path / "page.html"
    done = call("report", saved, "-o", page, "--truth", truth, "--use", "test")
    assert (done.code, done.out) == (0, f"{page}\n")
    assert "20 of 20 gold labels match the true labels that were held back" in page.read_text()


@pytest.mark.slow
def test_the_verdict_of_a_run_and_of_a_report_is_tested_on_it(call, tmp_path: Path) -> None:
    out = tmp_path / "out"  # some items have two readings, and no truth
    rows = [f"{item},{label}" for item, label in TRUTH.items()]
    truth = write_rows(tmp_path / "truth.csv", rows, "item,truth")
    data = ("dataset:crowd", "--model", "hierarchical", "--engine", "em", "--seed", 1)
    done = call("run", *data, "-o", out, "--truth", truth, "--use", "test")
    assert "tested on known truth: needs review" in done.out
    assert f"of {len(TRUTH)} tested gold labels were wrong" in done.out
    judged = ("--truth", truth, "--use", "test", "--format", "json")
    done = call("report", out, "-o", tmp_path / "page.html", *judged)
    assert f"of {len(TRUTH)} tested gold labels were wrong" in done.out


@pytest.mark.slow
@pytest.mark.calibration
def test_an_anonymous_report_tells_no_name_on_stdout_either(call, saved, tmp_path) -> None:
    done = call("report", saved, "-o", tmp_path / "p.html", "--anonymize", "--format", "json")
    assert done.code == 0
    names = {str(coder) for coder in am.load(saved).data.coders}
    assert not [name for name in names if f"{name} and" in done.out or f": {name}" in done.out]
    text = (tmp_path / "p.html").read_text()
    assert "not shown" in text
    assert "dataset:anesthesia" not in text


# -- from a run to decided items and a new gold standard ------------------------------------------

MODEL = ("--model", "hierarchical")
ITEMS = [f"r{n:03}" for n in range(1, 61)]
DATA = am.datasets.load("crowd").select(items=ITEMS)
TRUTH = am.datasets.crowd_truth().truth
OTHERS = ("r001", "r002")  # of two readings by decision, and skipped


@pytest.fixture(scope="module")
def crowd(tmp_path_factory) -> Path:
    """Write some of the crowd as a table with texts, a genre, and a time per label."""
    frame = DATA.to_frame().astype(str)
    texts = dict(zip(DATA.items, DATA.texts, strict=True))
    frame["review"] = [texts[name] for name in frame["item"]]
    frame["genre"] = [f"genre {int(name[1:]) % 3}" for name in frame["item"]]
    frame["time"] = [str(n) for n in range(len(frame))]
    path = tmp_path_factory.mktemp("crowd") / "crowd.csv"
    frame.to_csv(path, index=False)
    return path


def decided(path: Path, items: list[str]) -> Path:
    """Write decisions as the page does."""
    fit = DATA.fingerprint
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["item", "label", "decision", "note", "fit"])
        for item in items:
            writer.writerow([item, TRUTH[item], "decided", "", fit])
        writer.writerow(["r001", "", "two readings", "both, really", fit])
        writer.writerow(["r002", "", "skipped", "", fit])
    return path


def items_data(page: Path) -> dict:
    """Return what the script of a page reads."""
    return json.loads(re.search(r"id=items-data>(.*?)</script>", page.read_text())[1])


@pytest.mark.slow
def test_decisions_make_a_new_gold_standard(call, crowd: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    columns = ("--text", "review", "--show", "genre")
    assert call("run", crowd, "-o", out, *SHORT, *MODEL, *columns).code == 0
    data = items_data(out / "report.html")
    frame = pd.read_csv(crowd, dtype=str).set_index("item")
    assert data["columns"] == ["genre"]
    for name, *_, text, genre in data["items"]:
        assert text == frame.loc[name, "review"].iloc[0]
        assert genre == frame.loc[name, "genre"].iloc[0]
    before = rows_of(out / "gold.csv")
    assert {row["source"] for row in before} == {"model"}
    assert "decided" not in {row["state"] for row in before}
    # a few items have two readings, and no true label
    queue = [name for name, *_ in data["items"] if name in TRUTH and name not in OTHERS][:20]
    file = decided(tmp_path / "decisions.csv", queue)
    again = tmp_path / "again"
    assert call("run", crowd, "-o", again, *SHORT, *MODEL, "--truth", file).code == 0
    gold = {row["item"]: row for row in rows_of(again / "gold.csv")}
    assert {name for name, row in gold.items() if row["source"] == "decision"} == {*queue, "r001"}
    assert all(gold[name]["label"] == TRUTH[name] for name in queue)
    assert "21 items are decided." in (again / "report.html").read_text()  # one has two readings
    assert gold["r001"]["state"] == "decided"
    assert gold["r001"]["reason"] == "An expert decided that it has two readings."
    assert gold["r002"]["source"] == "model"  # it was skipped
    data = items_data(again / "report.html")
    assert {each[0]: each[2] for each in data["items"]}["r001"] == 3
    assert "r001" not in {row["item"] for row in rows_of(again / "next.csv")}
    begun = data["decided"]
    undecided = [["r001", {"two": True, "note": "both, really"}], ["r002", {"skip": True}]]
    assert begun == [*([name, {"label": TRUTH[name]}] for name in queue), *undecided]
    # of the saved fit the same decisions make a page without another fit
    page = tmp_path / "by-report.html"
    assert call("report", out, "-o", page, "--truth", file).code == 0
    html = page.read_text()
    assert items_data(page)["decided"] == begun
    assert "An expert judged 20 items that were not drawn at random." in html
    assert all(f'"{name}.csv":' in html for name in ("gold", "coders", "next", "agreement"))
    # the report of the saved fit finds the columns next to it, or reads them again
    page = tmp_path / "page.html"
    assert call("report", out / "fit.nc", "-o", page).code == 0
    assert items_data(page)["columns"] == ["genre"]
    done = call("report", again / "fit.nc", "-o", page, "--force", "--show", "genre,review")
    assert done.code == 0
    assert '"columns":["genre","review"]' in page.read_text()


def test_with_truth_takes_the_file_and_frames(tmp_path: Path) -> None:
    path = decided(tmp_path / "decisions.csv", ["r003", "r004"])
    for given in (path, pd.read_csv(path), pd.read_csv(path, dtype=str)):
        gold = DATA.with_truth(given).gold
        assert [DATA.items[i] for i in (gold >= 0).nonzero()[0]] == ["r003", "r004"]
    truth = write_rows(tmp_path / "truth.csv", [f"r005,{TRUTH['r005']}"], "item,truth")
    assert (DATA.with_truth(truth).gold >= 0).sum() == 1
