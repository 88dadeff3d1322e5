"""Analytic errors: published figures, closed forms, and simulation."""

import numpy as np
import pytest

import annomodels as am
from annomodels.errors import NotApplicable
from tests.coefficients.pairs_of_labels import of_table

ANALYTIC = ["percent", "s", "k", "multi_kappa", "alpha", "ac1"]


def test_fleiss_cohen_everitt_1969_table_1():
    """Kappa .429 with the variance .002885, which has n instead of n - 1."""
    found = am.agreement(of_table([[106, 10, 4], [22, 28, 10], [2, 12, 6]]), "kappa", draws=0)
    error = found.analytic()
    assert found.value == pytest.approx(0.429, abs=5e-4)
    assert error.df == 199
    assert error.se**2 * 199 / 200 == pytest.approx(0.002885, abs=5e-7)


def test_weighted_kappa_under_weights_of_agreement_is_the_same_as_by_distance():
    table = [[11, 3, 1, 0], [2, 9, 3, 1], [1, 2, 8, 4], [0, 1, 3, 9]]
    data = of_table(table, labels=range(4))
    p = np.array(table) / np.sum(table)
    n, (i, j) = np.sum(table), np.indices((4, 4))
    w = 1 - ((i - j) / 3) ** 2
    po, pe = (w * p).sum(), p.sum(1) @ w @ p.sum(0)
    margin = (w @ p.sum(0))[:, None] + (p.sum(1) @ w)[None, :]
    var = (p * (w * (1 - pe) - margin * (1 - po)) ** 2).sum() - (po * pe - 2 * pe + po) ** 2
    found = am.agreement(data, "cohen_kappa", distance="quadratic", draws=0)
    assert found.value == pytest.approx((po - pe) / (1 - pe))
    assert found.analytic().se ** 2 == pytest.approx(var / ((n - 1) * (1 - pe) ** 4))


def test_unequal_items_have_no_error_under_chance():
    rows = [(1, "a", 0), (1, "b", 0), (1, "c", 1), (2, "a", 1), (2, "b", 1)]
    found = am.agreement(am.Annotations.from_records(rows), "k", draws=0)
    assert np.isnan(found.analytic().z0)


def made(rng, n=40, coders=4, labels=3, missing=0.0, accuracy=0.7):
    truth = rng.choice(labels, n, p=[0.5, 0.3, 0.2][:labels])
    right = rng.random((n, coders)) < accuracy
    x = np.where(right, truth[:, None], rng.integers(labels, size=(n, coders)))
    rows = [
        (i, c, int(x[i, c])) for i in range(n) for c in range(coders) if rng.random() >= missing
    ]
    return am.Annotations.from_records(rows, labels=range(labels), scale="ordinal")


@pytest.mark.calibration
def test_errors_are_the_spread_of_simulated_values():
    """400 data sets of 150 items: the mean error is the standard deviation of the values."""
    rng = np.random.default_rng(1969)
    values, errors = [], []
    for _ in range(400):
        panel = am.agreement(made(rng, n=150, coders=3), ANALYTIC, distance="nominal", draws=0)
        values.append([found.value for found in panel.values()])
        errors.append([found.analytic().se for found in panel.values()])
    spread = np.std(values, axis=0, ddof=1)
    assert np.mean(errors, axis=0) == pytest.approx(spread, rel=0.09)


@pytest.mark.slow
def test_error_under_chance_is_the_spread_of_guesses():
    rng = np.random.default_rng(1979)
    values, errors = [], []
    for _ in range(300):
        found = am.agreement(
            made(rng, n=100, coders=3, accuracy=0.0), "k", distance="nominal", draws=0
        )
        values.append(found.value)
        errors.append(found.analytic().se0)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.1)


def test_interval_and_p_value_follow_the_error(rng):
    found = am.agreement(made(rng, accuracy=0.4), "k", distance="nominal", draws=0)
    wide, narrow = found.analytic(prob=0.99), found.analytic(prob=0.5)
    assert wide.low < narrow.low < found.value < narrow.high < wide.high
    from scipy import stats

    reach = stats.t.ppf(0.75, 39) * narrow.se
    assert narrow.high - found.value == pytest.approx(reach)
    assert narrow.p == pytest.approx(2 * stats.norm.sf(abs(narrow.z0)))
    s = am.agreement(made(rng), "s", distance="nominal", draws=0).analytic()
    assert 0 < s.se < 1
    assert s.p == pytest.approx(2 * stats.t.sf(s.value / s.se, 39))


def test_full_agreement_has_error_0_and_no_interval_above_1():
    rows = [(i, c, i % 2) for i in range(10) for c in range(3)]
    error = am.agreement(am.Annotations.from_records(rows), "k", draws=0).analytic()
    assert (error.se, error.low, error.high) == (0, 1, 1)
    s = am.agreement(am.Annotations.from_records(rows), "s", draws=0).analytic()
    assert np.isnan([s.z0, s.p]).all()


def test_undefined_has_no_error():
    rows = [(i, c, 1) for i in range(10) for c in range(3)]
    for name in ("k", "alpha"):
        error = am.agreement(am.Annotations.from_records(rows), name, draws=0).analytic()
        assert np.isnan([error.value, error.se, error.low, error.high, error.p]).all()


def test_repeats_have_errors_too(rng):
    rows = [(i, c, int(rng.integers(2))) for i in range(20) for c in range(3) for _ in range(2)]
    data = am.Annotations.from_records(rows)
    assert am.agreement(data, "k", duplicates="keep", draws=0).analytic().se > 0
    assert am.agreement(data, "k", draws=0).analytic().se > 0


@pytest.mark.parametrize(
    ("name", "missing", "message"),
    [("light_kappa", None, "Use the draws"), ("k", "pairwise", 'or missing="gwet"')],
)
def test_coefficients_without_an_error(name, missing, message, rng):
    found = am.agreement(made(rng), name, distance="nominal", missing=missing, draws=0)
    with pytest.raises(NotApplicable, match=message):
        found.analytic()
    with pytest.raises(ValueError, match=r"prob=2"):
        found.analytic(prob=2)
