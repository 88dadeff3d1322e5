"""What ``annomodels run`` fits: covariates, numbers, earlier fits, answers that are no class."""

import json
import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from tests.cli.rows import FEW, rows_of, write_rows

pytestmark = pytest.mark.slow

EM = ("--engine", "em")
SAID = "hardly depend on any truth"


@pytest.fixture
def items(votes: Path, tmp_path: Path) -> Path:
    rows = [f"{x},{n},{'ab'[n % 2]}" for n, x in enumerate(am.read(votes).items)]
    return write_rows(tmp_path / "items.csv", rows, "item,length,genre")


@pytest.mark.usefixtures("unsampled")
def test_a_table_about_items_is_what_the_fit_knows(votes, items, call, tmp_path) -> None:
    few = ("--no-report", "--chains", 1, "--draws", 20, "--model", "scalar-difficulty")
    out, folder = tmp_path / "named", tmp_path / "out"
    done = call("run", votes, "-o", out, "--covariates", items, *few)
    assert done.code in (0, 4), done.err  # one short chain
    fit = am.load(out / "fit.nc")
    assert fit.model.item_covariates.terms == ("length", "genre: b")
    assert fit.effects().table["of"].tolist() == ["item", "item"]
    words = ("--covariates", items, "--anonymize", *few)
    assert call("run", votes, "-o", folder, *words).code in (0, 4)
    assert am.load(folder / "fit.nc").model == fit.model
    told = pd.read_csv(folder / "effects.csv")
    assert told["term"].tolist() == ["length", "genre: b"]
    assert {"effect", "low", "high", "unit"} <= set(told)


@pytest.mark.calibration
@pytest.mark.parametrize("how", [EM, FEW], ids=["em", "gibbs"])
def test_dont_know_is_learnt_and_reported(tmp_path: Path, call, how: tuple[object, ...]) -> None:
    out = tmp_path / "out"
    rows = [
        f"t{i},{coder},{'dk' if (i + j) % 4 == 0 else 'yes' if i % 2 else 'no'}"
        for i in range(16)
        for j, coder in enumerate(("ana", "ben", "cem"))
    ]
    path = write_rows(tmp_path / "votes.csv", rows)
    words = ("--no-report", "--read", "dont_know=dk", *how)
    assert call("run", path, "-o", out, *words).code in (0, 4)
    fit = am.load(out / "fit.nc")
    assert fit.data.labels == ("no", "yes")
    assert len(fit.data.unanswered) == 12
    assert fit.tree["posterior"]["no_answer"].dims[2:] == ("coder", "truth", "dont_know")
    said = call("coders", out, "--format", "csv")
    table = rows_of(said.out)
    assert [int(row["dont_know"]) for row in table] == [4, 4, 4]
    assert all(0.4 < float(row["answer_rate"]) < 1.0 for row in table)
    assert "counts as no answer" in said.err
    # without the option it is a class
    assert call("check", path).code == 0
    assert call("agree", path, "--read", "dont_know=dk").code == 0
    assert am.read(path).labels == ("dk", "no", "yes")


@pytest.fixture(params=[(0.4, 0.3, 0.3), (0.85, 0.15)], ids=["three labels", "nearly one label"])
def noise(request, tmp_path):
    """Write 120 items with five random labels each."""
    rng = np.random.default_rng(0)
    rows = [
        f"i{i},c{j},{'abc'[rng.choice(len(request.param), p=request.param)]}"
        for i in range(120)
        for j in range(5)
    ]
    return write_rows(tmp_path / "noise.csv", rows)


@pytest.mark.few("three labels")
def test_run_settles_nothing_where_labels_depend_on_no_truth_and_says_why(noise, call, tmp_path):
    folder = tmp_path / "out"
    few = ("--chains", 2, "--draws", 300, "--sampler", "warmup=200", "--seed", 1)
    done = call("run", noise, "-o", folder, *few, "--no-report", "--format", "json")
    facts = json.loads(done.out)
    assert facts["verdict"] != "trust"
    assert done.code == (4 if facts["verdict"] == "do not use" else 0)
    assert any(SAID in sentence for sentence in facts["sentences"])
    rows = rows_of(folder / "gold.csv")
    assert len(rows) == 120
    assert "settled" not in {row["state"] for row in rows}


def test_a_folder_of_tables_from_numbers(call, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    truth = rng.normal(50, 20, 12)
    rows = [
        f"i{i},c{j},{round(truth[i] + 5 * j + rng.normal(0, 4))}"
        for i in range(12)
        for j in range(3)
    ]
    ratings, out = write_rows(tmp_path / "ratings.csv", rows), tmp_path / "out"
    words = ("run", ratings, "-o", out, "--model", "interval", "--no-report")
    done = call(*words, "--draws", 300, "--format", "json")
    assert done.code in (0, 4)
    facts = json.loads(done.out)
    names = {Path(name).name for name in facts["files"]}
    assert names == {path.name for path in out.iterdir()}
    rows = rows_of(out / "gold.csv")
    assert len(rows) == 12
    assert all(float(r["low"]) <= float(r["value"]) <= float(r["high"]) for r in rows)
    assert am.load(out / "fit.nc").data.scale == "interval"
    again = call(*words)
    assert again.code != 0
    assert "--force" in again.err


def test_a_fit_starts_from_an_earlier_one(call, votes: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    few = ("--no-report", "--draws", 50, "--chains", 2)
    assert call("run", votes, "-o", first, *few).code == 0
    assert call("run", votes, "-o", second, "--prior-from", first, *few).code == 0
    model = am.load(second / "fit.nc").model
    assert [rows.coder for rows in model.returning] == ["ana", "ben", "cem"]
    assert model.places == (0, 1, 2)
    wrong = call("run", votes, "-o", second, "--prior-from", first, "--model", "mace", "--force")
    assert wrong.code == 2


@pytest.fixture(scope="module")
def crowd(tmp_path_factory) -> Path:
    """Write 60 items of four coders."""
    rng = np.random.default_rng(5)
    rows = []
    for item in range(60):
        truth = rng.integers(2)
        said = np.where(rng.random(4) < 0.8, truth, 1 - truth)
        rows += [f"i{item:03},c{coder},{label}" for coder, label in enumerate(said)]
    return write_rows(tmp_path_factory.mktemp("votes") / "votes.csv", rows)


def confusions(call, crowd: Path, folder: Path, *few: object, spread: str) -> list[np.ndarray]:
    """Fit the crowd, plainly and spread; return the confusion of both."""
    found = []
    for name, more in (("plain", ()), ("spread", ("--sampler", spread))):
        done = call("run", crowd, "-o", folder / name, *few, *more, "--no-report")
        assert done.code in (0, 4), done.err
        found.append(am.load(folder / name / "fit.nc").tree["posterior"]["confusion"].values)
    return found


def test_threads_change_no_number(call, crowd: Path, tmp_path: Path) -> None:
    few = ("--chains", 2, "--draws", 30, "--sampler", "warmup=20", "--model", "one-coin")
    np.testing.assert_array_equal(*confusions(call, crowd, tmp_path, *few, spread="threads=1"))


@pytest.mark.calibration
def test_a_local_dask_cluster_changes_no_number(call, crowd: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    few = (*EM, "--model", "dawid-skene")
    found = confusions(call, crowd, tmp_path, *few, spread="dask=local:2")
    np.testing.assert_allclose(*found, atol=1e-9)
