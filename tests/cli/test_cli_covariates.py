"""``--covariates``: tables about coders and items that a model regresses on."""

from pathlib import Path

import pandas as pd
import pytest

import annomodels as am

pytestmark = pytest.mark.slow

FIT = ("--chains", 1, "--draws", 20, "--model", "scalar-difficulty")


@pytest.fixture
def items(votes: Path, tmp_path: Path) -> Path:
    rows = [f"{x},{n},{'ab'[n % 2]}" for n, x in enumerate(am.read(votes).items)]
    path = tmp_path / "items.csv"
    path.write_text("\n".join(["item,length,genre", *rows]) + "\n")
    return path


@pytest.mark.usefixtures("unsampled")
def test_a_table_about_items_is_what_the_fit_knows(votes, items, call, tmp_path) -> None:
    out = tmp_path / "named"
    words = ("--covariates", items, "--no-report", *FIT)
    done = call("run", votes, "-o", out, *words)
    assert done.code in (0, 4), done.err  # one short chain
    fit = am.load(out / "fit.nc")
    assert fit.model.item_covariates.terms == ("length", "genre: b")
    assert fit.effects().table["of"].tolist() == ["item", "item"]
    folder = tmp_path / "out"
    words = ("--covariates", items, "--anonymize", "--no-report", *FIT)
    assert call("run", votes, "-o", folder, *words).code in (0, 4)
    assert am.load(folder / "fit.nc").model == fit.model
    told = pd.read_csv(folder / "effects.csv")
    assert told["term"].tolist() == ["length", "genre: b"]
    assert {"effect", "low", "high", "unit"} <= set(told)
