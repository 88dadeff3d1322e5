"""The command line on labels that depend on no truth."""

import csv
import json

import numpy as np
import pytest

from tests.cli.rows import rows_of

SAID = "hardly depend on any truth"
FEW = ("--chains", 2, "--draws", 300, "--sampler", "warmup=200", "--seed", 1)


@pytest.fixture(params=[(0.4, 0.3, 0.3), (0.85, 0.15)], ids=["three labels", "nearly one label"])
def noise(request, tmp_path):
    """Write 120 items with five random labels each."""
    rng = np.random.default_rng(0)
    path = tmp_path / "noise.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["item", "coder", "label"])
        for i in range(120):
            for j in range(5):
                out.writerow(
                    [f"i{i}", f"c{j}", "abc"[rng.choice(len(request.param), p=request.param)]]
                )
    return path


@pytest.mark.few("three labels")
@pytest.mark.slow
def test_run_settles_nothing_and_says_why(noise, call, tmp_path):
    folder = tmp_path / "out"
    done = call("run", noise, "-o", folder, *FEW, "--no-report", "--format", "json")
    facts = json.loads(done.out)
    assert facts["verdict"] != "trust"
    assert done.code == (4 if facts["verdict"] == "do not use" else 0)
    assert any(SAID in sentence for sentence in facts["sentences"])
    rows = rows_of(folder / "gold.csv")
    assert len(rows) == 120
    assert "settled" not in {row["state"] for row in rows}
