"""Largest kappa, prevalence and bias of two coders (Cohen 1960; Byrt, Bishop & Carlin 1993)."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import annomodels as am
from tests.coefficients.pairs_of_labels import of_pairs

NAMES = ["kappa", "kappa_max", "prevalence_index", "bias_index", "pabak"]


def panel_of(a, b, c, d, draws=0):
    table = {("yes", "yes"): a, ("yes", "no"): b, ("no", "yes"): c, ("no", "no"): d}
    data = of_pairs(table, labels=["yes", "no"])
    return am.agreement(data, NAMES, draws=draws)


def test_prevalence_of_feinstein_cicchetti_1990():
    """Same agreement of .85, kappa .70 and .32: the prevalence index is -.05 and .75."""
    even, skewed = panel_of(40, 9, 6, 45), panel_of(80, 10, 5, 5)
    assert even["kappa"].value == pytest.approx(0.70, abs=5e-3)
    assert skewed["kappa"].value == pytest.approx(0.32, abs=5e-3)
    assert even["prevalence_index"].value == pytest.approx(-0.05)
    assert skewed["prevalence"].value == pytest.approx(0.75)
    assert even["pabak"].value == skewed["pabak"].value == pytest.approx(0.70)
    assert skewed["bias"].value == pytest.approx(0.05)


@given(st.lists(st.integers(0, 20), min_size=4, max_size=4))
def test_kappa_from_prevalence_and_bias_byrt_1993(cells):
    a, b, c, d = cells
    n = a + b + c + d
    assume(n > 0)
    panel = panel_of(*cells)
    kappa, pabak = panel["kappa"].value, panel["s"].value
    prevalence, bias = panel["prevalence_index"].value, panel["bias_index"].value
    assert (prevalence, bias) == pytest.approx(((a - d) / n, (b - c) / n))
    scale = 1 - prevalence**2 + bias**2
    assume(scale > 1e-9)
    assert kappa == pytest.approx((pabak - prevalence**2 + bias**2) / scale)


@given(st.lists(st.integers(0, 20), min_size=4, max_size=4))
def test_kappa_max_is_reached_by_the_best_table_with_these_margins(cells):
    a, b, c, d = cells
    assume((a + b) * (c + d) + (a + c) * (b + d) > 0)
    both = min(a + b, a + c)
    neither = min(c + d, b + d)
    rest = a + b + c + d - both - neither
    more_by_first = a + b > a + c
    best = (both, rest, 0, neither) if more_by_first else (both, 0, rest, neither)
    assert panel_of(*cells)["kappa_max"].value == pytest.approx(panel_of(*best)["kappa"].value)
    assert panel_of(*cells)["kappa_max"].value >= panel_of(*cells)["kappa"].value - 1e-12


def test_draws_belong_together():
    panel = panel_of(40, 9, 6, 45, draws=500)
    p, b = panel["prevalence"].draws, panel["bias"].draws
    expected = (panel["s"].draws - p**2 + b**2) / (1 - p**2 + b**2)
    assert panel["kappa"].draws == pytest.approx(expected)
    assert (panel.difference("kappa_max", "kappa") > -1e-12).all()
