"""``run --stream`` and ``fit --stream`` write what a scan can know, or nothing at all."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import annomodels as am
from annomodels.cli import jobs
from annomodels.scale import files
from tests.cli.rows import write_rows

pytestmark = pytest.mark.slow

RUN = ("--chains", 2, "--draws", 60, "--sampler", "warmup=20", "--seed", 3)
EM = ("--engine", "em", "--seed", 3)
OUTPUTS = {
    *("report.html", "gold.parquet", "coders.csv", "fit.nc", "about.json", "methods.md"),
    "truth",
}


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("in") / "all.csv"
    am.datasets.load("anesthesia").to_frame().astype(str).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def unsure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write labels of which some are not classes, as a text."""
    rows = [
        f"t{i},{coder},{'?' if (i + 2 * j) % 5 == 0 else 'no' if (i + (j == i % 7)) % 2 else 'yes'}"
        for i in range(40)
        for j, coder in enumerate(("ana", "ben", "cem", "dan"))
    ]
    return write_rows(tmp_path_factory.mktemp("unsure") / "labels.csv", rows)


@pytest.mark.few("em")
@pytest.mark.parametrize("how", [EM, RUN], ids=["em", "gibbs"])
def test_a_streamed_run_writes_what_a_scan_can_know(unsure, call, tmp_path, how) -> None:
    asked = ("--read", "dont_know=?", "--target", 0.9, "--threshold", 0.97, *how)
    streamed, whole = tmp_path / "streamed", tmp_path / "whole"
    done = call("run", unsure, "--stream", "-o", streamed, *asked)
    assert done.code in (0, 4)  # the chains are short
    assert done.out.splitlines()[0] == str(streamed / "report.html")
    assert "verdict" in done.out
    assert {path.name for path in streamed.iterdir()} == OUTPUTS
    assert [path.name for path in tmp_path.iterdir()] == ["streamed"]
    assert call("run", unsure, "-o", whole, "--no-report", *asked).code in (0, 4)
    gold = pd.read_parquet(streamed / "gold.parquet")
    wanted = pd.read_csv(whole / "gold.csv", keep_default_na=False)
    assert gold["label"].fillna("").tolist() == wanted["label"].tolist()
    assert gold["probability"].to_numpy() == pytest.approx(wanted["probability"], rel=1e-5)
    coders = [pd.read_csv(folder / "coders.csv") for folder in (streamed, whole)]
    # the share of right labels needs the labels themselves: a scan compares accuracy with a target
    right = ["share_right", "share_right_low", "share_right_high"]
    own = ["p_below_target", "advice"]
    kept = coders[1].drop(columns=[*right, *own], errors="ignore")
    pd.testing.assert_frame_equal(coders[0].drop(columns=own, errors="ignore"), kept)
    accuracy = am.load(whole / "fit.nc").coders().draws["accuracy"]
    below = (accuracy < 0.9).mean("sample").values
    if accuracy.sizes["sample"] == 1:  # of EM
        assert "p_below_target" not in coders[0]
        return
    assert coders[0]["p_below_target"].to_numpy() == pytest.approx(below)
    assert coders[0]["dont_know"].sum() == 32
    about = json.loads((streamed / "about.json").read_text())
    assert (about["items"], about["seed"], about["model"]) == (40, 3, "hierarchical")
    assert about["verdict"] in done.out
    assert about["command"].startswith("annomodels run")
    page = (streamed / "report.html").read_text()
    assert "Set aside, because it is not a class: ?, 32 times." in page
    fit = am.load(streamed, am.scan(unsure, dont_know="?"))
    assert fit.tree.attrs["command"] == about["command"]


def test_a_streamed_run_fits_a_stack_where_nobody_said_that_they_do_not_know(
    labels: Path, call, tmp_path: Path
) -> None:
    done = call("run", labels, "--stream", "-o", tmp_path / "out", *RUN)
    assert done.code in (0, 4)
    assert "tested on known truth: not tested" in done.out
    about = json.loads((tmp_path / "out" / "about.json").read_text())
    assert about["model"] == "stack"
    page = (tmp_path / "out" / "report.html").read_text()
    assert "the stack is calibrated on public data sets with known truth" in page
    assert "overconfident if items differ" not in page
    methods = (tmp_path / "out" / "methods.md").read_text()
    assert "streamed from disk" in methods
    assert "Carpenter" in methods


def test_an_interrupted_run_is_written(
    labels: Path, call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stops: Any
) -> None:
    told = ("run", labels, "--stream", "--no-report", "--engine", "em")

    @contextmanager
    def impatient(after: int) -> Iterator[Any]:
        yield stops(after)

    monkeypatch.setattr(jobs, "spreading", lambda _: impatient(9))
    done = call(*told, "-o", tmp_path / "part")
    assert done.code == 130
    assert "the draws so far are kept" in done.err
    assert {path.name for path in (tmp_path / "part").iterdir()} == OUTPUTS - {"report.html"}
    monkeypatch.setattr(jobs, "spreading", lambda _: impatient(1))
    assert call(*told, "-o", tmp_path / "none").code == 130
    assert not (tmp_path / "none").exists()


@pytest.mark.calibration
def test_a_streamed_run_may_name_nobody(unsure: Path, call, tmp_path: Path) -> None:
    rows, out = ("ana,paid", "ben,paid", "cem,free", "dan,free"), tmp_path / "out"
    groups = write_rows(tmp_path / "groups.csv", rows, "coder,group")
    told = ("run", unsure, "--stream", "-o", out, "--anonymize", "--groups", groups, *EM)
    assert call(*told).code in (0, 4)
    table = pd.read_csv(out / "coders.csv")
    assert sorted(table["coder"]) == ["coder 1", "coder 2", "coder 3", "coder 4"]
    assert sorted(table["group"]) == ["free", "free", "paid", "paid"]
    written = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert not [name for name in (b"ana,", b">ana<", b'"ana"', b"labels.csv") if name in written]
    named = tmp_path / "named"
    told = ("run", unsure, "--stream", "--no-report", "-o", named, "--groups", groups, *EM)
    assert call(*told).code in (0, 4)
    shown = ["n", "skill", "group"]
    pd.testing.assert_frame_equal(pd.read_csv(named / "coders.csv")[shown], table[shown])


def test_a_pattern_is_streamed_into_a_folder(labels: Path, call, tmp_path: Path) -> None:
    frame = pd.read_csv(labels, dtype=str)
    frame[:150].to_parquet(tmp_path / "1.parquet")
    frame[150:].to_parquet(tmp_path / "2.parquet")
    pattern, out = tmp_path / "*.parquet", tmp_path / "out"
    words = ("--stream", "--no-report", "--format", "json", "--cache", tmp_path / "kept")
    done = call("run", pattern, "-o", out, *words, *RUN)
    assert done.code in (0, 4)
    facts = json.loads(done.out)
    assert (facts["items"], facts["seed"]) == (45, 3)
    assert call("run", labels, "-o", tmp_path / "whole", "--no-report", *RUN).code in (0, 4)
    found = am.load(out, am.scan(pattern, cache=tmp_path / "kept"))
    wanted = am.load(tmp_path / "whole" / "fit.nc")
    gold = pd.read_parquet(out / "gold.parquet")
    assert gold["label"].tolist() == list(map(str, wanted.gold().table["label"]))
    assert len(pd.read_csv(out / "coders.csv")) == wanted.data.n_coders
    assert found.tree.attrs["command"].startswith("annomodels run")
    assert am.load(out / "fit.nc", data=found.data).tree.attrs["engine"] == "gibbs"


@pytest.mark.calibration
def test_a_stream_may_be_spread(labels: Path, call, tmp_path: Path) -> None:
    told = ("run", labels, "--stream", "--no-report", *RUN)
    for model in ("stack", "hierarchical"):
        here, there = (tmp_path / f"{model} {place}" for place in ("here", "there"))
        assert call(*told, "-o", here, "--model", model).code in (0, 4)
        assert call(*told, "-o", there, "--model", model).code in (0, 4)
        about = json.loads((there / "about.json").read_text())
        assert about["model"] == model
        pd.testing.assert_frame_equal(
            *(pd.read_parquet(folder / "gold.parquet") for folder in (here, there))
        )


def test_a_large_file_is_streamed_unless_an_option_needs_it_in_memory(
    labels: Path, call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ROWS_IN_MEMORY", 300)
    told = ("run", labels, "--no-report", *EM)
    done = call(*told, "-o", tmp_path / "streamed")
    assert "fitted block by block, as with --stream" in done.err
    assert (tmp_path / "streamed" / "gold.parquet").exists()
    assert call(*told, "-o", tmp_path / "read", "--read", "format=long").code in (0, 4)
    assert (tmp_path / "read" / "gold.csv").exists()
