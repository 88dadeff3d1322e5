"""``annomodels gold --why`` on a saved fit."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest


def test_the_table_holds_every_coder_of_the_item_and_adds_up(saved: Path, call) -> None:
    done = call("gold", saved, "--why", "--item", "3", "--format", "csv")
    assert done.code == 0
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["source"] for row in rows][-2:] == ["(prevalence)", "(sum)"]
    assert {row["source"] for row in rows[:-2]} == {"1", "2", "3", "4", "5"}
    *parts, total = (float(row["log_odds"]) for row in rows)
    assert sum(parts) == pytest.approx(total, abs=1e-3)
    assert "independent of each other" in done.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--item", "3"], "--item goes with --why"),
        (["--why", "--soft"], "makes its own table"),
        (["--why", "--to", "prodigy"], "makes its own table"),
        (["--why", "--item", "333"], "There is no item '333'"),
    ],
)
def test_wrong_words_are_usage_errors(saved: Path, words: list[str], hint: str, call) -> None:
    done = call("gold", saved, *words)
    assert done.code == 2
    assert hint in done.err
