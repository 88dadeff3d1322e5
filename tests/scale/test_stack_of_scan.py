"""A stack of a scan is the stack of the same labels in memory, in memory that does not grow."""

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.engines import stacking
from annomodels.errors import AnnotationError
from annomodels.executors.team import Remote
from annomodels.fitting.run import default_model
from annomodels.scale.scanned import Scanned
from annomodels.summaries.gold import wrong_interval
from annomodels.summaries.trust.convergence import fit_findings
from tests.scale.scans import crowd, in_blocks, truths

pytestmark = pytest.mark.slow

RUN: dict[str, Any] = {"chains": 2, "draws": 60, "warmup": 25, "seed": 3}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Scanned:
    """Labels in many small blocks, of which some truth is known."""
    path = tmp_path_factory.mktemp("crowd") / "labels.parquet"
    crowd(300).to_parquet(path)
    found = in_blocks(path, 150, truth="gold")
    assert len(found.blocks) > 5
    return found


@pytest.fixture(scope="module")
def both(data: Scanned) -> tuple[am.Fit, am.Fit]:
    assert default_model(data) == default_model(data.to_annotations()) == "stack"
    return am.fit(data, **RUN), am.fit(data.to_annotations(), **RUN)


def test_it_is_the_one_in_memory_to_the_last_bit(both: tuple[am.Fit, am.Fit]) -> None:
    found, wanted = both
    for group in ("posterior", "sample_stats", "coders"):
        draws, reference = (fit.tree[group].to_dataset() for fit in both)
        assert set(draws) == set(reference)
        for name in draws:
            assert np.array_equal(draws[name].values, reference[name].values), name
    stack, whole = (fit.tree["stack"].to_dataset() for fit in both)
    for name in ("sharpness", "unknown", "tilt"):
        assert np.array_equal(stack[name].values, whole[name].values)
    # of the items, the tree of a scan keeps what tests it
    known = wanted.data.gold >= 0
    assert set(stack) - set(whole) == {"known_mixture", "known_truth"}
    assert np.array_equal(stack["known_mixture"].values, whole["log_mixture"].values[known])
    assert stack["known_truth"].values.tolist() == wanted.data.gold[known].tolist()
    table, truth = truths(found), wanted.tree["truth"].to_dataset()
    assert table["item"].tolist() == list(wanted.data.items)
    p = table[[f"p_{label}" for label in wanted.data.labels]].to_numpy()
    assert np.array_equal(p, truth["p_truth"].values)
    assert np.array_equal(table["mcse"], truth["p_truth_mcse"].values.max(axis=1))
    errors = 1 - p[~known].max(axis=1)
    assert found.tree.attrs["expected_errors"] == pytest.approx(errors.sum())


def test_its_tables_are_those_in_memory(both: tuple[am.Fit, am.Fit], tmp_path: Path) -> None:
    found, wanted = both
    pd.testing.assert_frame_equal(found.coders(0.8).table, wanted.coders(0.8).table)
    whole = wanted.check().table.set_index("name")
    part = found.check().table.set_index("name")
    assert "tested on known truth" in part.index
    # whether chains agree on gold labels needs the labels: a scan looks at the parameters
    mixing = fit_findings(wanted.tree, wanted.data)[:2]
    names = [each.name for each in mixing]
    assert names == ["R-hat", "effective draws"]
    assert part.loc[names, "value"].tolist() == [each.value for each in mixing]
    pd.testing.assert_frame_equal(part.drop(names), whole.loc[part.index].drop(names))
    assert found.check().lamps["tested on known truth"] == "passed"
    assert wrong_interval(found.tree) == wrong_interval(wanted.tree)
    gold = pd.read_parquet(found.write_gold(tmp_path / "gold.parquet", threshold=0.8))
    reference = wanted.gold(0.8).table
    for name in ("item", "label", "source"):
        assert gold[name].tolist() == reference[name].tolist()
    assert gold["probability"].to_numpy() == pytest.approx(reference["probability"].to_numpy())
    for verb in ("gold", "items", "p_next", "next"):
        assert "needs the labels in memory" in found.unsupported(verb) or verb == "gold"


def test_it_is_saved_and_loaded(both: tuple[am.Fit, am.Fit], data: Scanned, tmp_path: Path) -> None:
    again = am.load(both[0].save(tmp_path / "fit"), data)
    assert repr(again) == repr(both[0])
    assert again.model == both[0].model
    assert again.check().lamps == both[0].check().lamps
    pd.testing.assert_frame_equal(truths(again), truths(both[0]))


@pytest.mark.calibration
def test_threads_give_the_same(both: tuple[am.Fit, am.Fit], data: Scanned) -> None:
    found = am.fit(data, executor="threads", threads=3, **RUN)
    for name in ("prevalence", "confusion"):
        draws, reference = (fit.tree["posterior"][name].values for fit in (found, both[0]))
        assert np.array_equal(draws, reference)
    pd.testing.assert_frame_equal(truths(found), truths(both[0]))


class Away(Remote):
    """Two places whose results are sent back and forth."""

    def __init__(self) -> None:
        super().__init__(2)

    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        return pickle.loads(pickle.dumps(function(*arguments)))

    def values(self, promises: Sequence[Any]) -> list[Any]:
        return list(promises)


@pytest.mark.parametrize("model", ["stack", "hierarchical"])
def test_blocks_are_read_where_the_calls_are(model: str, data: Scanned) -> None:
    short = {**RUN, "draws": 6, "warmup": 4}
    here, away = (am.fit(data, model, executor=each, **short) for each in (None, Away()))
    for name in ("prevalence", "confusion"):
        assert np.array_equal(*(fit.tree["posterior"][name].values for fit in (here, away)))
    pd.testing.assert_frame_equal(truths(away), truths(here), rtol=1e-9)


def test_the_page_gives_the_interval_of_wrong_labels(
    both: tuple[am.Fit, am.Fit], tmp_path: Path
) -> None:
    html = am.report(both[0], tmp_path / "page.html").read_text("utf-8")
    low, high = wrong_interval(both[0].tree) or (0, 0)
    assert f"95 % interval {low:,} to {high:,}" in html
    assert "calibrated on public data sets with known truth" in html
    assert "overconfident if items differ" not in html


@pytest.mark.calibration
def test_memory_does_not_grow_with_the_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: Callable[..., Any]
) -> None:
    monkeypatch.setattr(stacking, "MOST_LOOKED_AT", 4000)
    peaks = []
    run: dict[str, Any] = {"chains": 2, "draws": 20, "warmup": 10, "seed": 1, "threads": 1}
    for n in (8000, 32_000):
        rng = np.random.default_rng(n)
        frame = pd.DataFrame(
            {
                "item": np.arange(n) // 5,
                "coder": rng.integers(0, 40, n).astype(str),
                "label": rng.integers(0, 2, n).astype(str),
            }
        )
        frame.to_parquet(tmp_path / f"{n}.parquet")
        del frame
        data = in_blocks(tmp_path / f"{n}.parquet", 4000)
        am.fit(data, "stack", **{**run, "draws": 2})  # what is imported and compiled once
        fit, peak = measured(am.fit, data, "stack", **run)
        peaks.append(peak)
        assert fit.tree.attrs["blocks"] == n // 4000
    assert peaks[1] < 1.5 * peaks[0]


def test_what_cannot_be_learnt_from_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": ["a", "a", "b"], "coder": ["x", "y", "x"], "label": "1"})
    frame.to_csv(tmp_path / "equal.csv", index=False)
    with pytest.raises(AnnotationError, match="Every label is"):
        am.fit(am.scan(tmp_path / "equal.csv"), **RUN)
    alone = pd.DataFrame({"item": ["a", "b"], "coder": "x", "label": ["1", "2"]})
    alone.to_csv(tmp_path / "alone.csv", index=False)
    with pytest.raises(AnnotationError, match="one coder"):
        am.fit(am.scan(tmp_path / "alone.csv"), "stack", **RUN)


def test_coders_of_a_single_label_are_taken_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    truth = rng.random(60) < 0.4
    rows = [
        (f"{i}", f"{i}-{j}", "ny"[int(truth[i] == (rng.random() < 0.8))])
        for i in range(60)
        for j in range(5)
    ]
    frame = pd.DataFrame(rows, columns=["item", "coder", "label"])
    frame.to_parquet(tmp_path / "labels.parquet")
    data = in_blocks(tmp_path / "labels.parquet", 60)
    found, wanted = (am.fit(d, "stack", **RUN) for d in (data, data.to_annotations()))
    assert np.array_equal(
        found.tree["posterior"]["confusion"].values, wanted.tree["posterior"]["confusion"].values
    )
    table = truths(found)
    assert np.array_equal(table[["p_n", "p_y"]].to_numpy(), wanted.tree["truth"]["p_truth"].values)
