"""``annomodels fit --stream`` writes a folder with what a fit in memory would say."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import annomodels as am

RUN = ("--chains", 2, "--draws", 60, "--warmup", 20, "--seed", 3, "--allow-unconverged")


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write labels as two Parquet files and as one text."""
    folder = tmp_path_factory.mktemp("in")
    frame = am.datasets.load("anesthesia").to_frame().astype(str)
    frame[:150].to_parquet(folder / "1.parquet")
    frame[150:].to_parquet(folder / "2.parquet")
    frame.to_csv(folder / "all.csv", index=False)
    return folder


@pytest.mark.slow
def test_a_pattern_is_streamed_into_a_folder(labels: Path, call, tmp_path: Path) -> None:
    pattern, out = labels / "*.parquet", tmp_path / "out"
    done = call("fit", pattern, "--stream", "-o", out, "--json", "--cache", tmp_path / "kept", *RUN)
    assert done.code == 0
    facts = json.loads(done.out)
    assert (facts["items"], facts["seed"]) == (45, 3)
    assert call("fit", labels / "all.csv", "-o", tmp_path / "fit.nc", *RUN).code == 0
    found = am.load(out, am.scan(pattern, cache=tmp_path / "kept"))
    wanted = am.load(tmp_path / "fit.nc")
    gold = pd.read_parquet(out / "gold.parquet")
    assert gold["label"].tolist() == list(map(str, wanted.gold().table["label"]))
    assert len(pd.read_csv(out / "coders.csv")) == wanted.data.n_coders
    assert found.tree.attrs["command"].startswith("annomodels fit")


@pytest.mark.calibration
@pytest.mark.slow
def test_a_stream_may_be_spread(labels: Path, call, tmp_path: Path) -> None:
    told = ("fit", labels / "all.csv", "--stream", *RUN)
    for model in ("stack", "hierarchical"):
        here, there = (tmp_path / f"{model} {place}" for place in ("here", "there"))
        assert call(*told, "-o", here, "--model", model).code == 0
        assert call(*told, "-o", there, "--model", model, "--executor", "threads").code == 0
        about = json.loads((there / "about.json").read_text())
        assert about["model"] == model
        pd.testing.assert_frame_equal(
            *(pd.read_parquet(folder / "gold.parquet") for folder in (here, there))
        )


@pytest.mark.slow
def test_nothing_is_overwritten_unasked(labels: Path, call, tmp_path: Path) -> None:
    told = ("fit", labels / "all.csv", "--stream", "-o", tmp_path / "out", "--engine", "em")
    assert call(*told).code == 0
    again = call(*told)
    assert again.code != 0
    assert "--force" in again.err
    assert call(*told, "--force").code == 0


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--stream", "--input-format", "wide"), "leave out --input-format"),
        (("--stream", "--prior-from", "a.nc"), "cannot both"),
        (("--cache", "kept"), "goes with --stream"),
    ],
)
def test_options_that_do_not_go_together(
    labels: Path, call, tmp_path: Path, more: tuple[str, ...], sentence: str
) -> None:
    done = call("fit", labels / "all.csv", "-o", tmp_path / "out", *more)
    assert done.code == 2
    assert sentence in done.err
