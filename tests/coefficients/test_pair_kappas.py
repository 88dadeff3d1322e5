"""Light's kappa from the cells that occur, against the tables of all pairs of coders."""

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients import coder_pairs
from annomodels.coefficients.coder_pairs import PairKappas, count_pairs
from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.metrics import make_distance
from annomodels.coefficients.rows import prepare
from annomodels.errors import NotApplicable


def crowd(rng, n_items=40, n_coders=9, n_labels=4):
    rows = [
        (i, int(c), int(rng.integers(n_labels)))
        for i in range(n_items)
        for c in rng.choice(n_coders, rng.integers(1, n_coders + 1), replace=False)
    ]
    return prepare(am.Annotations.from_records(rows))


@pytest.mark.parametrize("distance", ["nominal", "linear", "quadratic"])
@pytest.mark.parametrize("complete_only", [False, True])
def test_mean_over_the_pairs_that_have_a_kappa(rng, distance, complete_only):
    rows = crowd(rng)
    metric = make_distance(distance, range(rows.n_labels), np.arange(rows.n_labels, dtype=float))
    weights = rng.exponential(size=(3, rows.n_items))
    weights[:, ::3] = 0
    each = evaluate_with("between", count_pairs(rows, complete_only).each(weights), metric)
    found = PairKappas(rows, metric, complete_only).evaluate(weights)
    for what, all_pairs in zip(found, each, strict=True):
        defined = np.where(np.isnan(each.value), np.nan, all_pairs)
        assert what == pytest.approx(np.nanmean(defined, axis=1), abs=1e-12)
    one = PairKappas(rows, metric, complete_only).evaluate(weights[0])
    assert float(one.value) == pytest.approx(found.value[0])


def test_too_many_products_of_labels_are_refused(rng, monkeypatch):
    monkeypatch.setattr(coder_pairs, "MOST_PRODUCTS", 10)
    with pytest.raises(NotApplicable, match="products of labels"):
        PairKappas(crowd(rng), make_distance("nominal", range(4)))
