"""From a run to decided items and a new gold standard: ``--truth``, ``--text``, ``--show``."""

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pytest

import annomodels as am
from tests.cli.rows import rows_of

FEW = ("--draws", 60, "--sampler", "warmup=60", "--chains", 2, "--seed", 1)
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


def decided(path: Path, items: list[str], **changes: str) -> Path:
    """Write decisions as the page does."""
    fit = DATA.fingerprint
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["item", "label", "decision", "note", "fit"])
        for item in items:
            writer.writerow([item, TRUTH[item], "decided", "", changes.get("fit", fit)])
        writer.writerow(["r001", "", "two readings", "both, really", fit])
        writer.writerow(["r002", "", "skipped", "", fit])
    return path


@pytest.mark.slow
def test_decisions_make_a_new_gold_standard(call, crowd: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    columns = ("--text", "review", "--show", "genre")
    assert call("run", crowd, "-o", out, *FEW, *MODEL, *columns).code == 0
    html = (out / "report.html").read_text()
    data = json.loads(re.search(r"id=items-data>(.*?)</script>", html)[1])
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
    assert call("run", crowd, "-o", again, *FEW, *MODEL, "--truth", file).code == 0
    gold = {row["item"]: row for row in rows_of(again / "gold.csv")}
    assert {name for name, row in gold.items() if row["source"] == "decision"} == {*queue, "r001"}
    assert all(gold[name]["label"] == TRUTH[name] for name in queue)
    html = (again / "report.html").read_text()
    assert "21 items are decided." in html  # one of them has two readings
    assert gold["r001"]["state"] == "decided"
    assert gold["r001"]["reason"] == "An expert decided that it has two readings."
    assert gold["r002"]["source"] == "model"  # it was skipped
    states = {
        each[0]: each[2]
        for each in json.loads(re.search(r"id=items-data>(.*?)</script>", html)[1])["items"]
    }
    assert states["r001"] == 3
    assert "r001" not in {row["item"] for row in rows_of(again / "next.csv")}
    begun = json.loads(re.search(r"id=items-data>(.*?)</script>", html)[1])["decided"]
    undecided = [["r001", {"two": True, "note": "both, really"}], ["r002", {"skip": True}]]
    assert begun == [*([name, {"label": TRUTH[name]}] for name in queue), *undecided]
    # of the saved fit the same decisions make a page without another fit
    assert call("report", out, "-o", tmp_path / "by-report.html", "--truth", file).code == 0
    html = (tmp_path / "by-report.html").read_text()
    assert json.loads(re.search(r"id=items-data>(.*?)</script>", html)[1])["decided"] == begun
    assert "An expert judged 20 items that were not drawn at random." in html
    assert all(f'"{name}.csv":' in html for name in ("gold", "coders", "next", "agreement"))
    # the report of the saved fit finds the columns next to it, or reads them again
    page = tmp_path / "page.html"
    assert call("report", out / "fit.nc", "-o", page).code == 0
    assert json.loads(re.search(r"id=items-data>(.*?)</script>", page.read_text())[1])[
        "columns"
    ] == ["genre"]
    done = call("report", again / "fit.nc", "-o", page, "--force", "--show", "genre,review")
    assert done.code == 0
    assert '"columns":["genre","review"]' in page.read_text()


def test_with_truth_takes_the_file_and_frames(tmp_path: Path) -> None:
    path = decided(tmp_path / "decisions.csv", ["r003", "r004"])
    for given in (path, pd.read_csv(path), pd.read_csv(path, dtype=str)):
        gold = DATA.with_truth(given).gold
        assert [DATA.items[i] for i in (gold >= 0).nonzero()[0]] == ["r003", "r004"]
    truth = tmp_path / "truth.csv"
    truth.write_text(f"item,truth\nr005,{TRUTH['r005']}\n")
    assert (DATA.with_truth(truth).gold >= 0).sum() == 1


def test_every_problem_of_an_edited_file_is_said_at_once(call, crowd: Path, tmp_path: Path) -> None:
    path = decided(tmp_path / "d.csv", ["r003", "r004"], fit="0123456789ab")
    with path.open("a") as file:
        file.write("nobody,pos,decided,,\nr005,great,decided,,\nr006,pos,decided,,\n")
        file.write("r006,neg,decided,,\nr007,,decided,,\nr008,pos,Decided,,\n")
    with pytest.raises(am.errors.AnnotationError) as caught:
        DATA.with_truth(path)
    said = [problem.what for problem in caught.value.problems]
    assert said == [
        "1 decision of an item that is not in the data.",
        "1 decision without a label.",
        "1 decision with an unknown label.",
        "2 decisions of an item that is decided twice, differently.",
        f"2 decisions about other labels (these have the fingerprint {DATA.fingerprint}).",
        "1 row has a decision that is unknown.",
    ]
    assert all("row" in problem.where for problem in caught.value.problems)
    done = call("run", crowd, "-o", tmp_path / "out", *FEW, "--truth", path)
    assert done.code == 3
    assert all(text in done.err for text in said)
    assert not (tmp_path / "out").exists()


def test_columns_that_are_not_there_are_named_before_the_fit(call, crowd: Path, tmp_path) -> None:
    out = tmp_path / "out"
    for words, name in ((("--text", "body"), "body"), (("--show", "genre,colour"), "colour")):
        done = call("run", crowd, "-o", out, *FEW, *words)
        assert done.code == 3
        assert name in done.err
    done = call("run", crowd, "-o", out, *FEW, "--show", "time")
    assert done.code == 3
    assert done.err.count("has '") == 1
    assert "The same applies to 419 more rows." in done.err
    for more in (("--stream",), ("--no-report",)):
        assert call("run", crowd, "-o", out, "--show", "genre", *more).code == 2
    assert not out.exists()


def test_nothing_decided_is_said(tmp_path: Path) -> None:
    path = decided(tmp_path / "d.csv", [])
    path.write_text(path.read_text().replace("two readings", "note"))
    with pytest.raises(am.errors.AnnotationError, match="Nothing is decided: 0 of 2 rows"):
        DATA.with_truth(path)
