"""Nodes in the place of many values give the same coefficients, and cost no more than three."""

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients import sums
from annomodels.coefficients.catalogue import COEFFICIENTS


def ratings(rng, n_items, n_coders, missing, values):
    level = rng.normal(size=n_items)
    rows = []
    for i, c in np.ndindex(n_items, n_coders):
        if rng.random() >= missing:
            x = 10 + 3 * level[i] + rng.normal() + 0.5 * c
            rows.append((i, c, float(x if values is None else np.clip(np.round(x), 0, values))))
    return am.Annotations.from_records(rows, scale="interval")


KNOWN = [
    (name, convention)
    for name in ("alpha", "k", "multi_kappa", "alpha_kappa")
    for convention in COEFFICIENTS[name].missing
    if convention != "pairwise"
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "convention"), KNOWN)
@pytest.mark.parametrize("values", [25, None])
def test_nodes_change_nothing(rng, monkeypatch, name, convention, values):
    data = ratings(rng, 30, 4, 0.2, values)
    few = am.agreement(data, name, distance="interval", missing=convention, draws=200)
    monkeypatch.setattr(sums, "MANY_VALUES", 10**9)
    all_values = am.agreement(data, name, distance="interval", missing=convention, draws=200)
    for what in ("value", "observed", "expected", "draws"):
        assert getattr(few, what) == pytest.approx(getattr(all_values, what), rel=1e-9), what


def test_alpha_of_one_item_by_thousands_of_coders_needs_no_pairs(rng):
    n = 4000
    item = np.repeat([0, 1], n)
    x = rng.normal(size=2 * n) + 5.0 * item
    rows = zip(item.tolist(), (np.arange(2 * n) % n).tolist(), x.tolist(), strict=True)
    data = am.Annotations.from_records(rows, scale="interval")
    found = am.agreement(data, "alpha", draws=0)
    within = np.var(x[:n], ddof=1) + np.var(x[n:], ddof=1)
    assert found.value == pytest.approx(1 - within / 2 / np.var(x, ddof=1))


@pytest.mark.slow
def test_a_hundred_thousand_values_need_no_pairs(rng, measured):
    n = 100_000
    x = np.sort(rng.normal(size=n))
    label = rng.permutation(n).astype(np.int32)
    item, coder = np.divmod(np.arange(n), 5)
    names = tuple(range(n // 5)), tuple(range(5)), tuple(x.tolist())
    data = am.Annotations(item, coder, label, *names, scale="interval")
    found, peak = measured(am.agreement, data, "alpha", draws=100)
    assert peak < 200e6
    y = x[label].reshape(-1, 5)
    assert found.value == pytest.approx(1 - y.var(axis=1, ddof=1).mean() / x.var(ddof=1))
