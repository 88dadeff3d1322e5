"""Audits without a model: exact intervals by enumeration, weights by hand, ppi-python's numbers."""

import json
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest

from annomodels.auditing.estimator import (
    ENDS,
    LEVEL,
    Prior,
    Rectifier,
    effective,
    exact,
    needed,
    prediction_powered,
    stretched,
    weighted,
)

FILE = Path(__file__).resolve().parents[1] / "cases" / "prediction_powered_cases.json"
CASES = json.loads(FILE.read_text("utf-8"))


def chance(size: int, total: int, seen: int, found: int) -> Fraction:
    """Hypergeometric probability, as a fraction."""
    return Fraction(comb(total, found) * comb(size - total, seen - found), comb(size, seen))


@pytest.mark.parametrize(
    ("size", "seen"), [(1, 1), (2, 1), (5, 2), (9, 4), (12, 11), (17, 5), (23, 23), (31, 12)]
)
def test_exact_intervals_hold_every_total_often_enough(size, seen):
    for total in range(size + 1):
        held = sum(
            chance(size, total, seen, found)
            for found in range(max(0, seen - size + total), min(seen, total) + 1)
            if exact(size, seen, found)[0] <= total <= exact(size, seen, found)[1]
        )
        assert held >= Fraction(95, 100), (total, float(held))


@pytest.mark.parametrize(("size", "seen"), [(9, 4), (17, 5), (31, 12)])
def test_exact_intervals_hold_just_the_totals_that_neither_tail_refuses(size, seen):
    tail = Fraction(25, 1000)
    for found in range(seen + 1):
        held = [
            total
            for total in range(found, size - seen + found + 1)
            if sum(chance(size, total, seen, k) for k in range(found, seen + 1)) > tail
            and sum(chance(size, total, seen, k) for k in range(found + 1)) > tail
        ]
        assert exact(size, seen, found) == (held[0], held[-1])


def test_exact_intervals_are_those_of_the_opposite_turned_round():
    for size, seen in ((40, 7), (800, 60), (60, 60), (1_000_000, 120)):
        for found in range(0, seen + 1, max(1, seen // 6)):
            low, high = exact(size, seen, found)
            assert exact(size, seen, seen - found) == (size - high, size - low)
            assert 0 <= low <= high <= size


def test_exact_intervals_of_large_populations_are_those_of_clopper_and_pearson():
    # 10 of 100: the table of Clopper and Pearson (1934) and every textbook print .0490 and .1762;
    # 0 of 60: 1 - .025 ** (1 / 60)
    low, high = exact(10_000_000, 100, 10)
    assert (low / 1e7, high / 1e7) == (
        pytest.approx(0.0490, abs=5e-5),
        pytest.approx(0.1762, abs=5e-5),
    )
    assert exact(10_000_000, 60, 0)[1] / 1e7 == pytest.approx(1 - 0.025 ** (1 / 60), rel=1e-4)


def test_equal_weights_are_a_simple_random_sample():
    found = np.array([1.0, 0, 0, 1, 0, 0, 0, 0])
    share, low, high = weighted(found, np.full(8, 25.0), 200)
    least, most = exact(200, 8, 2)
    assert (share, low, high) == (0.25, least / 200, most / 200)
    assert weighted(found, np.full(8, 0.5), 200) == (share, low, high)


def test_clusters_of_an_audit_alone_count_once():
    from scipy.special import betainc

    found, weights = np.repeat([1.0, 0, 0, 1], 3), np.full(12, 5.0)
    _, low, high = weighted(found, weights, 1000, np.repeat([0, 1, 2, 3], 3))
    # four clusters, two of them found
    assert betainc(3, 2, high) == pytest.approx(0.975)
    assert betainc(2, 3, low) == pytest.approx(0.025)
    # each item a cluster of its own is no cluster at all
    assert weighted(found, weights, 1000, np.arange(12)) == weighted(found, weights, 1000)
    # a large one keeps its share of the items: 9 of 12 found, of 12 ** 2 / (9 ** 2 + 3) = 1.71
    big = np.array([0] * 9 + [1, 2, 3])
    share, low, high = weighted((big == 0).astype(float), weights, 1000, big)
    assert share == 0.75
    n = 144 / 84
    assert betainc(0.75 * n, 0.25 * n + 1, low) == pytest.approx(0.025)
    assert high == pytest.approx(1, abs=0.01)


def test_weighted_shares_are_those_of_korn_and_graubard():
    # by hand: weights of three 1 and three 9, the first found: a share of 1 / 30, of effectively
    # 900 / 246 items; the limits solve the equations of the incomplete beta function
    from scipy.special import betainc

    found, weights = np.array([1.0, 0, 0, 0, 0, 0]), np.array([1.0, 1, 1, 9, 9, 9])
    share, low, high = weighted(found, weights, 10_000)
    n = 30**2 / 246
    y = n / 30
    assert share == pytest.approx(1 / 30)
    assert betainc(y + 1, n - y, high) == pytest.approx(0.975)
    assert betainc(y, n - y + 1, low) == pytest.approx(0.025)
    # Horvitz and Thompson's ratio does not know the factor of the weights
    assert weighted(found, weights * 7, 10_000) == pytest.approx((share, low, high))


def test_weighted_shares_of_none_and_of_all():
    uneven = np.array([1.0, 2, 3])
    assert weighted(np.zeros(3), uneven, 50)[:2] == (0.0, 0.0)
    assert weighted(np.ones(3), uneven, 50)[2] == 1.0
    nothing = weighted(np.empty(0), np.empty(0), 50)
    assert np.isnan(nothing[0])
    assert nothing[1:] == (0.0, 1.0)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_prediction_powered_means_are_those_of_ppi_python(case):
    arrays = [np.array(case[name], dtype=float) for name in ("truth", "told", "told_of_rest")]
    found = prediction_powered(*arrays, power=case["lam"])
    np.testing.assert_allclose(found, [case["mean"], case["low"], case["high"]], rtol=0, atol=1e-12)


def test_the_rectified_mean_meets_the_classical_one():
    # of a simple random sample of many items, as the weight of the model falls, the posterior of
    # one stratum is centred where ppi with lam = 0 is, with its standard error
    y = np.repeat([1.0, 0.0], [240, 560])
    told, rest = np.full(800, 0.2), np.full(199_200, 0.2)
    mean, low, high = prediction_powered(y, told, rest, power=0.0)
    prior = Prior(near=3.0, far=6.0, weight=1e-3, weight_spread=0.1)
    share = Rectifier(np.array([0.2]), np.array([200_000]), prior).shares(
        np.array([800.0]), np.array([240.0]), 40_000, np.random.default_rng(2)
    )
    assert share.mean() == pytest.approx(mean, abs=5e-4)
    assert np.quantile(share, [0.025, 0.975]) == pytest.approx([low, high], abs=2e-3)
    assert LEVEL == 0.95


def test_means_of_a_model_that_says_nothing_are_classical():
    y, flat = np.array([1.0, 0, 0, 1]), np.full(4, 0.3)
    mean, low, high = prediction_powered(y, flat, np.full(9, 0.3))
    assert mean == pytest.approx(0.5)
    assert (low, high) == (
        pytest.approx(0.5 - 1.959963985 * 0.25), pytest.approx(0.5 + 1.959963985 * 0.25)
    )  # fmt: skip


def test_prediction_powered_means_stay_shares():
    found = prediction_powered(np.array([1.0, 1, 1, 0.9]), np.full(4, 0.5), np.full(9, 0.5))
    assert 0 <= found[1] <= found[0] <= found[2] == 1


def test_one_stratum_is_worth_the_items_that_were_audited():
    worth = effective(np.array([0.2]), np.array([60.0]), np.array([1_000_000]))
    assert worth == pytest.approx(60, abs=0.01)


def test_a_narrow_posterior_is_as_wide_as_a_sample_of_its_worth_allows():
    drawn = stretched(np.arange(45.0, 56.0), 10, 950, 1000, 100.0)
    assert np.quantile(drawn, ENDS).round().tolist() == [18, 109]


def test_sizes_between_and_beyond_a_plan():
    plan = [(30, 0.2, 0.3), (120, 0.1, 0.15)]
    assert needed(plan, 0.05, 2000) == 480
    assert needed(plan, 0.15, 2000) == 54
