"""An estimate lies inside the interval next to it: every coefficient, every breakdown, any data."""

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.intervals import interval

pytestmark = pytest.mark.slow

ROUNDING = 1e-12


def random_data(rng):
    """Draw panels and crowds from agreement in everything to labels at random."""
    n_coders = int(rng.choice((2, 3, 5, 40)))
    n_items = int(rng.choice((1, 2, 5, 10, 30, 100)))
    n_labels, most = int(rng.choice((2, 3, 10))), int(min(n_coders, rng.choice((2, 3, 5, 40))))
    accuracy, missing = rng.choice((0.0, 0.3, 0.8, 1.0)), rng.random() < 0.5
    shares = rng.dirichlet(np.full(n_labels, rng.choice((0.2, 1.0, 10.0))))
    rows = []
    for i in range(n_items):
        truth = rng.choice(n_labels, p=shares)
        size = int(rng.integers(1, most + 1)) if missing else most
        for c in rng.choice(n_coders, size, replace=False):
            said = truth if rng.random() < accuracy else rng.choice(n_labels, p=shares)
            rows.append((f"i{i:03}", f"c{c:02}", int(said), f"g{i % 3}"))
    scale = str(rng.choice(("nominal", "ordinal", "interval")))
    labels = None if scale == "nominal" else list(range(n_labels))
    frame = pd.DataFrame(rows, columns=["item", "coder", "label", "group"])
    group = "group" if rng.random() < 0.3 else None
    return am.Annotations.from_frame(frame, scale=scale, labels=labels, group=group)


def outside(value, low, high):
    value, low, high = (np.asarray(x, dtype=float) for x in (value, low, high))
    return (value < low - ROUNDING) | (value > high + ROUNDING)


def all_inside(table, *values):
    """Test each value that a table has with its interval; that of "value" has no prefix."""
    for value in values:
        low, high = (f"{value}_{end}".removeprefix("value_") for end in ("low", "high"))
        column = "over_by" if value == "over" else value
        if low in table and column in table:
            assert not outside(table[column], table[low], table[high]).any(), value


@pytest.mark.parametrize("seed", range(40))
def test_every_coefficient(seed):
    data = random_data(np.random.default_rng([1, seed]))
    names = [name for name in COEFFICIENTS if name != "s_item"]
    chance = {"chance": 0.3} if seed % 2 else {}
    table = am.agreement(data, "all" if chance else names, draws=150, seed=seed, **chance).table
    wrong = table[outside(table["value"], table["low"], table["high"])]
    assert wrong.empty, wrong[["coefficient", "value", "low", "high"]]
    assert seed or table["low"].notna().any()


@pytest.mark.parametrize("seed", range(16))
def test_every_breakdown(seed):
    data = random_data(np.random.default_rng([2, seed]))
    for by in ("label", "item", "coder", "pair", "group"):
        for name in ("alpha", "k", "multi_kappa"):
            try:
                found = am.breakdown(data, by, name, draws=100, seed=seed)
            except am.errors.NotApplicable:
                continue
            all_inside(found.table, "value", "difference", "specific", "further")
            all_inside(found.overall, "value")


@pytest.mark.parametrize("seed", range(8))
def test_every_share_of_a_diagnosis(seed):
    found = am.diagnose(random_data(np.random.default_rng([3, seed])), draws=100, seed=seed)
    for _, table in found.tables():
        all_inside(table, "value", "share", "ratio", "difference", "over")


def test_full_agreement_reaches_one():
    rows = [(i, c, i % 2) for i in range(30) for c in "ab"]
    found = am.agreement(am.Annotations.from_records(rows), "kappa", draws=200)
    assert found.value == found.high == found.interval(0.5)[1] == 1
    assert found.low < 1
    assert am.coefficients.easy_hard(found).table["low"][0] == 0


def test_intervals_of_many_quantities_are_those_of_each():
    rng = np.random.default_rng(8)
    draws = rng.normal(size=(101, 3))
    draws[::2, 1] = np.nan
    draws[:, 2] = np.nan
    low, high = interval(draws, 0.9, np.array([9.0, np.nan, 0.0]))
    assert low[0] == np.quantile(draws[:, 0], 0.05)
    assert high[0] == 9
    assert high[1] == np.quantile(draws[1::2, 1], 0.95)
    assert np.isnan([low[2], high[2]]).all()
    with pytest.raises(ValueError, match="between 0 and 1"):
        interval(draws, 95)
