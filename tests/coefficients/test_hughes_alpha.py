"""Hughes's alpha and its jackknife (Hughes 2022), written out from the definition."""

import math

import numpy as np
import pytest
from scipy import stats

import annomodels as am


def by_hand(labels, distance):
    """Alpha and log(MSA / MSE) of a list of items, each a list of labels."""
    flat = [x for item in labels for x in item]
    big, a = len(flat), len(labels)
    pairable = sum(len(item) for item in labels if len(item) > 1)
    mse = sum(
        sum(distance(x, y) for n, x in enumerate(item) for y in item[n + 1 :]) / (len(item) - 1)
        for item in labels
        if len(item) > 1
    )
    mse /= pairable
    sst = sum(distance(x, y) for n, x in enumerate(flat) for y in flat[n + 1 :]) / big
    msa = (sst - (big - a) * mse) / (a - 1)
    size = (big - sum(len(item) ** 2 for item in labels) / big) / (a - 1)
    return (msa - mse) / (msa + (size - 1) * mse), math.log(msa / mse), size


def made(rng, n=14):
    truth = rng.integers(1, 5, n)
    sizes = [1, *rng.integers(2, 6, n - 1)]
    return [
        [int(t) if rng.random() < 0.75 else int(rng.integers(1, 5)) for _ in range(r)]
        for t, r in zip(truth, sizes, strict=True)
    ]


DISTANCES = {
    "nominal": lambda x, y: x != y,
    "interval": lambda x, y: (x - y) ** 2,
    "ratio": lambda x, y: ((x - y) / (x + y)) ** 2,
}


@pytest.mark.parametrize("name", DISTANCES)
def test_value_and_jackknife_by_hand(name, rng):
    labels = made(rng)
    rows = [(i, c, x) for i, item in enumerate(labels) for c, x in enumerate(item)]
    data = am.Annotations.from_records(rows, labels=range(1, 5))
    found = am.agreement(data, "hughes_alpha", distance=name, draws=0)
    alpha, eta, size = by_hand(labels, DISTANCES[name])
    assert found.value == pytest.approx(alpha)
    apart = [1 - x if name == "nominal" else x for x in (found.observed, found.expected)]
    assert found.value == pytest.approx(1 - apart[0] / apart[1])
    a = len(labels)
    without = [by_hand([*labels[:i], *labels[i + 1 :]], DISTANCES[name])[1] for i in range(a)]
    pseudo = a * eta - (a - 1) * np.array(without)
    reach = stats.t.ppf(0.975, a - 1) * pseudo.std(ddof=1) / math.sqrt(a)
    low, high = (math.expm1(x) / (math.expm1(x) + size) for x in (eta - reach, eta + reach))
    error = found.analytic()
    assert (error.low, error.high) == pytest.approx((low, high))
    slope = (by_eta(eta + 1e-6, size) - by_eta(eta - 1e-6, size)) / 2e-6
    assert error.se == pytest.approx(slope * pseudo.std(ddof=1) / math.sqrt(a), rel=1e-6)


def test_many_values_by_hand(rng):
    """Sixty different numbers, for which squared differences come from moments."""
    labels = [list(rng.normal(size=rng.integers(1, 5)) + rng.normal() + 50) for _ in range(20)]
    rows = [(i, c, float(x)) for i, item in enumerate(labels) for c, x in enumerate(item)]
    found = am.agreement(am.Annotations.from_records(rows, scale="interval"), "hughes")
    alpha, eta, size = by_hand(labels, DISTANCES["interval"])
    assert found.value == pytest.approx(alpha)
    assert found.analytic().low < found.value < found.analytic().high
    assert by_eta(eta, size) == pytest.approx(alpha)
    assert np.isfinite(found.draws).all()


def by_eta(eta, size):
    return math.expm1(eta) / (math.expm1(eta) + size)


def test_equal_items_are_jackknifed_once_and_count_as_many(rng):
    labels = made(rng, 8) * 30
    rows = [(i, c, x) for i, item in enumerate(labels) for c, x in enumerate(item)]
    found = am.agreement(am.Annotations.from_records(rows), "hughes", draws=0)
    assert found.basis.sample.point.max() >= 30
    eta = by_hand(labels, DISTANCES["nominal"])[1]
    distinct = [by_hand([*labels[:i], *labels[i + 1 :]], DISTANCES["nominal"])[1] for i in range(8)]
    pseudo = np.tile(len(labels) * eta - (len(labels) - 1) * np.array(distinct), 30)
    error = found.analytic()
    reach = stats.t.ppf(0.975, 239) * pseudo.std(ddof=1) / math.sqrt(240)
    size = by_hand(labels, DISTANCES["nominal"])[2]
    assert error.low == pytest.approx(by_eta(eta - reach, size))


def test_it_is_less_biased_than_alpha_where_items_are_few():
    """Four coders who are right with .7, two even labels: the population value is .16."""
    rng = np.random.default_rng(2022)
    values = []
    for _ in range(300):
        truth = rng.integers(0, 2, 10)
        rows = [
            (i, c, int(t ^ (rng.random() < 0.3))) for i, t in enumerate(truth) for c in range(4)
        ]
        data = am.Annotations.from_records(rows, labels=[0, 1])
        panel = am.agreement(data, ["alpha", "hughes_alpha"], draws=0)
        values.append([found.value for found in panel.values()])
    customary, hughes = np.nanmean(values, axis=0)
    assert abs(hughes - 0.16) < abs(customary - 0.16)
    assert hughes == pytest.approx(0.16, abs=0.02)


def test_draws_and_full_agreement(rng):
    labels = made(rng, 40)
    rows = [(i, c, x) for i, item in enumerate(labels) for c, x in enumerate(item)]
    panel = am.agreement(am.Annotations.from_records(rows), ["hughes", "alpha"])
    assert panel["hughes"].interval()[0] < panel["hughes"].value < panel["hughes"].interval()[1]
    assert np.corrcoef(panel["hughes"].draws, panel["alpha"].draws)[0, 1] > 0.95
    agreed = [(i, c, i % 2) for i in range(6) for c in range(2)]
    found = am.agreement(am.Annotations.from_records(agreed), "hughes", draws=0)
    assert found.value == 1
    assert math.isnan(found.analytic().low)
