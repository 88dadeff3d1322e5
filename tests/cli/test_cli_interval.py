"""Numbers as labels, and priors from an earlier fit, on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

import annomodels as am
from tests.cli.rows import rows_of


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    truth = rng.normal(50, 20, 12)
    rows = [
        f"i{i},c{j},{round(truth[i] + 5 * j + rng.normal(0, 4))}"
        for i in range(12)
        for j in range(3)
    ]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(["item,coder,label", *rows]) + "\n")
    return path


@pytest.mark.slow
def test_a_folder_of_tables_from_numbers(call, ratings: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
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


@pytest.mark.slow
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
