"""``--covariates``: tables about coders and items that a model regresses on."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import annomodels as am

pytestmark = pytest.mark.slow

FIT = ("--chains", 1, "--draws", 20, "--model", "scalar-difficulty")


@pytest.fixture
def tables(votes: Path, tmp_path: Path) -> dict[str, Path]:
    """Write a table about the items of the votes, one about the coders, and what is wrong."""
    items = am.read(votes).items
    rows = {
        "items": ["item,length,genre", *(f"{x},{n},{'ab'[n % 2]}" for n, x in enumerate(items))],
        "gaps": ["item,length", *(f"{x},{n or ''}" for n, x in enumerate(items))],
        "coders": ["coder,years", "ana,1", "ben,2", "cem,4"],
        "neither": ["who,years", "ana,1"],
        "both": ["item,coder,years", "1,ana,1"],
        "empty": [""],
        "header": ["item,length"],
    }
    for name, lines in rows.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return {name: tmp_path / f"{name}.csv" for name in rows}


@pytest.mark.nuts
def test_a_table_about_items_is_what_the_fit_knows(votes, tables, call, tmp_path) -> None:
    out = tmp_path / "named"
    words = ("--covariates", tables["items"], "--no-report", *FIT)
    done = call("run", votes, "-o", out, *words)
    assert done.code in (0, 4), done.err  # one short chain
    fit = am.load(out / "fit.nc")
    assert fit.model.item_covariates.terms == ("length", "genre: b")
    assert fit.effects().table["of"].tolist() == ["item", "item"]
    folder = tmp_path / "out"
    words = ("--covariates", tables["items"], "--anonymize", "--no-report", *FIT)
    assert call("run", votes, "-o", folder, *words).code in (0, 4)
    assert am.load(folder / "fit.nc").model == fit.model
    told = pd.read_csv(folder / "effects.csv")
    assert told["term"].tolist() == ["length", "genre: b"]
    assert {"effect", "low", "high", "unit"} <= set(told)
