"""``--truth FILE --use test``: truth that is held back from the fit judges its gold labels."""

from pathlib import Path

import pytest

import annomodels as am

pytestmark = pytest.mark.slow

FEW = ("--chains", 2, "--draws", 60, "--sampler", "warmup=30", "--seed", 1)


@pytest.mark.calibration
def test_the_report_of_a_fit_is_judged_by_it(call, saved: Path, tmp_path: Path) -> None:
    table = am.load(saved).gold().table.head(20)
    truth = tmp_path / "truth.csv"
    rows = (f"{r.item},{r.label}\n" for r in table.itertuples())
    truth.write_text("item,truth\n" + "".join(rows))
    page = tmp_path / "page.html"
    done = call("report", saved, "-o", page, "--truth", truth, "--use", "test")
    assert (done.code, done.out) == (0, f"{page}\n")
    assert "20 of 20 gold labels match the true labels that were held back" in page.read_text()


def test_a_run_is_judged_by_it_and_not_told_it(call, votes: Path, tmp_path: Path) -> None:
    truth = tmp_path / "truth.json"
    truth.write_text('{"t1": "pos", "t2": "neg", "elsewhere": "neg"}')
    out = tmp_path / "out"
    done = call("run", votes, "-o", out, "--truth", truth, "--use", "test", *FEW)
    assert done.code == 0
    assert (
        "of 2 gold labels match the true labels that were held back"
        in (out / "report.html").read_text()
    )
    assert am.load(out / "fit.nc").data.gold is None


def test_the_verdict_of_a_run_and_of_a_report_is_tested_on_it(call, tmp_path: Path) -> None:
    truth, out = tmp_path / "truth.csv", tmp_path / "out"
    true = am.datasets.crowd_truth().truth  # some items have two readings, and none
    truth.write_text("item,truth\n" + "".join(f"{i},{label}\n" for i, label in true.items()))
    data = ("dataset:crowd", "--model", "hierarchical", "--engine", "em", "--seed", 1)
    done = call("run", *data, "-o", out, "--truth", truth, "--use", "test")
    assert "tested on known truth: needs review" in done.out
    assert f"of {len(true)} tested gold labels were wrong" in done.out
    judged = ("--truth", truth, "--use", "test", "--format", "json")
    done = call("report", out, "-o", tmp_path / "page.html", *judged)
    assert f"of {len(true)} tested gold labels were wrong" in done.out


@pytest.mark.calibration
def test_an_anonymous_report_tells_no_name_on_stdout_either(call, saved, tmp_path) -> None:
    done = call("report", saved, "-o", tmp_path / "p.html", "--anonymize", "--format", "json")
    assert done.code == 0
    names = {str(coder) for coder in am.load(saved).data.coders}
    assert not [name for name in names if f"{name} and" in done.out or f": {name}" in done.out]
    text = (tmp_path / "p.html").read_text()
    assert "not shown" in text
    assert "dataset:anesthesia" not in text
