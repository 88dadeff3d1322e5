"""``annomodels gold --why`` on a saved fit."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import annomodels as am


def test_the_table_holds_every_coder_of_the_item_and_adds_up(saved: Path, call) -> None:
    done = call("gold", saved, "--why", "--item", "3", "--format", "csv")
    assert done.code == 0
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["source"] for row in rows][-2:] == ["(prevalence)", "(sum)"]
    assert {row["source"] for row in rows[:-2]} == {"1", "2", "3", "4", "5"}
    *parts, total = (float(row["log_odds"]) for row in rows)
    assert sum(parts) == pytest.approx(total, abs=1e-3)
    assert "independent of each other" in done.err


@pytest.mark.slow
def test_json_has_the_same_rows(saved: Path, call) -> None:
    rows = json.loads(call("gold", saved, "--why", "--item", "3", "--item", "2", "--json").out)
    table = am.load(saved).why(["3", "2"]).table
    assert [row["source"] for row in rows] == table["source"].tolist()
    assert [row["log_odds"] for row in rows] == pytest.approx(table["log_odds"].tolist())


@pytest.mark.slow
def test_without_items_it_explains_overturned_majorities(saved: Path, call) -> None:
    done = call("gold", saved, "--why", "--json")
    gold = am.load(saved).gold().table
    named = [str(name) for name in gold.loc[gold["overturned"], "item"]]
    assert list(dict.fromkeys(str(row["item"]) for row in json.loads(done.out))) == named


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
