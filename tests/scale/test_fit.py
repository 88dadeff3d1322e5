"""A streamed fit gives the numbers of a fit in memory, and keeps nothing of the items there."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.engines.source.blocks import Stored
from annomodels.errors import AnnotationError, NotApplicable
from annomodels.io.writing import OutputError
from annomodels.scale import files
from annomodels.scale.scanned import Scanned
from annomodels.summaries.trust.convergence import fit_findings
from tests.scale.scans import crowd, in_blocks, truths

RUN: dict[str, Any] = {"chains": 2, "draws": 40, "warmup": 10, "seed": 3, "extend": False}
MODELS = ["hierarchical", "dawid-skene", "class-conditional", "one-coin", "mace", "pooled"]


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scanned]:
    """Scan the crowd with and without its gold, in many small blocks."""
    folder = tmp_path_factory.mktemp("crowd")
    crowd().to_parquet(folder / "labels.parquet", row_group_size=300)

    return {
        "open": in_blocks(folder / "labels.parquet", 150),
        "gold": in_blocks(folder / "labels.parquet", 150, truth="gold"),
    }


@pytest.fixture(scope="module")
def told(scans: dict[str, Scanned]) -> tuple[am.Fit, am.Fit]:
    """Fit the crowd with its gold from the scan and in memory."""
    data = scans["gold"]
    found, wanted = (am.fit(d, "hierarchical", **RUN) for d in (data, data.to_annotations()))
    return found, wanted


def assert_same_items(fit: am.Fit, wanted: am.Fit) -> None:
    """P(truth) on disk is that in memory, item for item."""
    table, truth = truths(fit), wanted.tree["truth"].to_dataset()
    assert table["item"].tolist() == list(wanted.data.items)
    assert table["n"].tolist() == np.diff(wanted.data.starts).tolist()
    p = table[[f"p_{label}" for label in wanted.data.labels]].to_numpy()
    assert p == pytest.approx(truth["p_truth"].values, abs=1e-9)
    assert table["entropy"].to_numpy() == pytest.approx(
        truth["conditional_entropy"].values, abs=1e-9
    )


@pytest.mark.few("hierarchical")
@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_gibbs_draws_are_those_of_a_fit_in_memory_bit_for_bit(
    scans: dict[str, Scanned], model: str
) -> None:
    data = scans["gold" if model == "mace" else "open"]
    assert len(data.blocks) > 10
    found = am.fit(data, model, **RUN)
    wanted = am.fit(data.to_annotations(), model, **RUN)
    draws, reference = (fit.tree["posterior"].to_dataset() for fit in (found, wanted))
    assert set(draws) == set(reference)
    for name in draws:
        assert np.array_equal(draws[name].values, reference[name].values), name
    assert_same_items(found, wanted)
    mcse = wanted.tree["truth"]["p_truth_mcse"].values.max(axis=1)
    assert truths(found)["mcse"].to_numpy() == pytest.approx(mcse, abs=1e-7)
    modes = [len(json.loads(fit.tree.attrs["modes"])) for fit in (found, wanted)]
    assert modes[0] == modes[1]


@pytest.mark.few("hierarchical")
@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_em_is_that_of_a_fit_in_memory(scans: dict[str, Scanned], model: str) -> None:
    data = scans["gold"]
    found = am.fit(data, model, engine="em", seed=1)
    wanted = am.fit(data.to_annotations(), model, engine="em", seed=1, starts=1)
    draws, reference = (fit.tree["posterior"].to_dataset() for fit in (found, wanted))
    for name in draws:
        assert draws[name].values == pytest.approx(reference[name].values, abs=1e-9), name
    assert_same_items(found, wanted)
    assert found.tree.attrs["passes"] == wanted.tree.attrs["passes"]


@pytest.mark.calibration
@pytest.mark.slow
def test_groups_of_coders_are_fitted_as_in_memory(scans: dict[str, Scanned]) -> None:
    data = scans["open"]
    model = am.models.GroupedCoders(groups={name: str(n % 2) for n, name in enumerate(data.coders)})
    found, wanted = (am.fit(d, model, **RUN) for d in (data, data.to_annotations()))
    for name in ("confusion", "group_population"):
        draws, reference = (fit.tree["posterior"][name].values for fit in (found, wanted))
        assert np.array_equal(draws, reference)
    in_memory = wanted.coders().table.filter(regex="^(?!share_right)")
    pd.testing.assert_frame_equal(found.coders().table, in_memory)


@pytest.mark.slow
def test_summaries_are_those_of_a_fit_in_memory(told: tuple[am.Fit, am.Fit]) -> None:
    found, wanted = told
    # the share of right labels needs the labels themselves: a scan compares accuracy with a target
    in_memory = wanted.coders().table.filter(regex="^(?!share_right)")
    pd.testing.assert_frame_equal(found.coders().table, in_memory)
    coders = found.coders(0.8).table
    below = (wanted.coders().draws["accuracy"] < 0.8).mean("sample")
    assert coders["p_below_target"].to_numpy() == pytest.approx(below.values)
    own = {"p_below_target", "advice"}
    pd.testing.assert_frame_equal(
        coders[[name for name in coders if name not in own]],
        in_memory[[name for name in in_memory if name not in own]],
    )
    assert "repeats_agree" in found.coders().table
    whole = wanted.check().table.set_index("name")
    part = found.check().table.set_index("name")
    assert {"R-hat", "effective draws", "modes", "overlap", "groups of coders"} <= set(part.index)
    # whether chains agree on gold labels needs the labels: a scan looks at the parameters
    mixing = fit_findings(wanted.tree, wanted.data)[:2]
    names = [each.name for each in mixing]
    assert names == ["R-hat", "effective draws"]
    assert part.loc[names, "value"].tolist() == [each.value for each in mixing]
    pd.testing.assert_frame_equal(part.drop(names), whole.loc[part.index].drop(names))
    share = wanted.tree["posterior"]["prevalence"].values.mean(axis=(0, 1))
    assert found.prevalence().table["prevalence"].to_numpy() == pytest.approx(share)
    assert "prevalence: no 0." in repr(found)


@pytest.mark.few("parquet")
@pytest.mark.slow
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_gold_standard_is_that_of_a_fit_in_memory(
    told: tuple[am.Fit, am.Fit], ending: str, tmp_path: Path
) -> None:
    found, wanted = told
    path = found.write_gold(tmp_path / f"gold.{ending}", threshold=0.9)
    read = pd.read_parquet if ending == "parquet" else pd.read_csv
    table, reference = read(path), wanted.gold(0.9).table
    for name in ("item", "label", "n", "source"):
        assert table[name].tolist() == reference[name].tolist()
    for name in ("probability", "doubt"):
        assert table[name].to_numpy() == pytest.approx(reference[name].to_numpy(), abs=1e-9)
    assert table["runner_up"].fillna("").tolist() == reference["runner_up"].tolist()
    # whether coders see two readings is told from the labels in memory
    same = reference["state"] != "contested"
    assert table["state"][same].tolist() == reference["state"][same].tolist()
    with pytest.raises(OutputError, match="file with this name"):
        found.write_gold(path)
    with pytest.raises(NotApplicable, match="ends in"):
        found.write_gold(tmp_path / "gold.xlsx")


@pytest.mark.slow
def test_a_fit_is_saved_and_loaded(scans: dict[str, Scanned], tmp_path: Path) -> None:
    found = am.fit(scans["open"], "dawid-skene", engine="em", seed=1)
    folder = found.save(tmp_path / "fit")
    again = am.load(folder, scans["open"])
    assert repr(again) == repr(found)
    pd.testing.assert_frame_equal(truths(again), truths(found))
    pd.testing.assert_frame_equal(again.coders().table, found.coders().table)
    with pytest.raises(OutputError, match="folder with this name already exists"):
        found.save(tmp_path / "fit")
    found.save(tmp_path / "fit", force=True)
    with pytest.raises(NotApplicable, match="other labels"):
        am.load(folder, scans["gold"])
    with pytest.raises(NotApplicable, match="load the folder with the scan"):
        am.load(folder)
    with pytest.raises(AnnotationError, match="does not exist"):
        am.load(tmp_path, scans["open"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fit"]


@pytest.mark.slow
def test_what_was_sampled_is_kept_when_a_run_is_interrupted(
    scans: dict[str, Scanned], stops: Any
) -> None:
    run = {**RUN, "draws": 500}
    found = am.fit(scans["open"], "dawid-skene", **run, executor=stops(100))
    assert found.tree.attrs["stopped"] == "interrupted"
    assert 50 < found.tree.attrs["draws"] < 100
    assert truths(found)["n"].sum() == scans["open"].n_annotations
    assert "The run stopped early" in repr(found.check())
    with pytest.raises(KeyboardInterrupt):
        am.fit(scans["open"], "dawid-skene", **run, executor=stops(5))


@pytest.mark.slow
def test_a_block_is_held_where_there_is_no_other(
    scans: dict[str, Scanned], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block is in memory in every pass anyway; of many, one at a time is."""
    opened: list[str] = []
    read = Stored.read
    monkeypatch.setattr(Stored, "read", lambda part: opened.append(part.folder) or read(part))
    crowd().to_parquet(tmp_path / "labels.parquet")
    for data in (am.scan(tmp_path / "labels.parquet"), scans["open"]):
        opened.clear()
        fit = am.fit(data, "dawid-skene", engine="em", seed=1, threads=1)
        # to start from the votes, and to begin; then for each pass and for P(truth), or not
        passes = 0 if len(data.blocks) == 1 else fit.tree.attrs["passes"] + 1
        assert len(opened) == (2 + passes) * len(data.blocks)


@pytest.mark.slow
def test_em_gives_the_best_step_when_it_is_interrupted(
    scans: dict[str, Scanned], stops: Any
) -> None:
    found = am.fit(scans["open"], "dawid-skene", engine="em", seed=1, executor=stops(9))
    whole = am.fit(scans["open"], "dawid-skene", engine="em", seed=1)
    assert found.tree.attrs["stopped"] == "interrupted"
    p, wanted = (truths(fit)["p_no"].to_numpy() for fit in (found, whole))
    assert 0 < np.abs(p - wanted).max() < 0.2


def test_models_and_engines_that_need_memory_say_so(scans: dict[str, Scanned]) -> None:
    for model, engine in (("dawid-skene", "nuts"), ("logit-normal", "auto"), ("easy-hard", "auto")):
        with pytest.raises(NotApplicable, match="needs the labels in memory"):
            am.fit(scans["open"], model, engine=engine)


def test_a_path_is_scanned_where_its_tables_are_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "labels.csv"
    crowd().to_csv(path, index=False)
    small = am.fit(path, "pooled", engine="em", seed=1, starts=1)
    monkeypatch.setattr(files, "ROWS_IN_MEMORY", 500)
    large = am.fit(path, "pooled", engine="em", seed=1, starts=1)
    assert isinstance(large.data, Scanned)
    assert isinstance(small.data, am.Annotations)
    assert_same_items(large, small)


def test_temporary_folders_go_with_the_fit(scans: dict[str, Scanned]) -> None:
    found = am.fit(scans["open"], "pooled", engine="em", seed=1)
    folder = found.truth.parent
    assert folder.is_dir()
    del found
    assert not folder.exists()


@pytest.mark.slow
def test_a_scan_without_signal_settles_nothing_but_what_is_known(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [
        {"item": f"i{i}", "coder": f"c{j}", "label": str(int(rng.random() < 0.9))}
        for i in range(200)
        for j in range(5)
    ]
    frame = pd.DataFrame(rows)
    frame["gold"] = ["1" if name in ("i3", "i4") else "" for name in frame["item"]]
    frame.to_csv(tmp_path / "noise.csv", index=False)
    data = am.scan(tmp_path / "noise.csv", truth="gold")
    fit = am.fit(data, "hierarchical", chains=2, draws=300, seed=1)
    gold = pd.read_parquet(fit.write_gold(tmp_path / "gold.parquet"))
    assert (gold["probability"] > 0.95).sum() > 100
    assert set(gold.loc[gold["state"] == "decided", "item"]) == {"i3", "i4"}
    finding = fit.check().table.set_index("name").loc["signal"]
    assert not finding["ok"]
    assert "depend on any truth" in finding["sentence"]
