"""``annomodels labels`` on a saved fit."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import annomodels as am


@pytest.mark.slow
def test_the_table_is_that_of_the_fit(saved: Path, call) -> None:
    done = call("labels", saved, "--format", "csv")
    assert done.code == 0
    rows = list(csv.DictReader(io.StringIO(done.out)))
    table = am.load(saved).labels().table
    assert [row["label"] for row in rows] == [str(name) for name in table["label"]]
    for column in ("prevalence", "sensitivity_low", "partner_share", "alpha_change"):
        values = [float(row[column]) for row in rows]
        assert values == pytest.approx(table[column].tolist(), rel=1e-4)
    assert "Merging always makes" in done.err


def test_pairs_as_json(saved: Path, call) -> None:
    rows = json.loads(call("labels", saved, "--pairs", "--json").out)
    assert len(rows) == 6  # four grades
    assert sum(row["confusions"] for row in rows) == pytest.approx(1.0)
