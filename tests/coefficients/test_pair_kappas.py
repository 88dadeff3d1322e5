"""Light's kappa from the cells that occur, against the tables of all pairs of coders."""

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients import evaluation as own
from annomodels.coefficients.counts import count_pairs
from annomodels.coefficients.distances import make_distance
from annomodels.coefficients.evaluation import PairKappas
from annomodels.coefficients.formulas import evaluate_with
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
    monkeypatch.setattr(own, "MOST_PRODUCTS", 10)
    with pytest.raises(NotApplicable, match="products of labels"):
        PairKappas(crowd(rng), make_distance("nominal", range(4)))


def test_the_note_says_which_pairs_are_left_out():
    # Ann and Ben agree on one label only, Cy shares nothing with Dan; two pairs have a kappa.
    items = {
        "ann": "xxxx----",
        "ben": "xxxx----",
        "cy": "xyxy----",
        "dan": "----xyxy",
        "eve": "----xxyy",
    }
    rows = [(i, c, x) for c, said in items.items() for i, x in enumerate(said) if x != "-"]
    data = am.Annotations.from_records(rows)
    found = am.agreement(data, "light_kappa", draws=0)
    # ann-cy and ben-cy are 0 (a constant coder), dan-eve is 0 by the table.
    assert found.value == pytest.approx(0.0)
    assert (
        "The mean is over 3 of 10 pairs of coders; left out: 6 that share no item, 1 that gave "
        "one and the same label on all items they share (0/0)." in found.note
    )
    whole = am.Annotations.from_records([(i, c, (i + c) % 2) for i in range(6) for c in range(3)])
    assert "left out" not in am.agreement(whole, "light_kappa", draws=0).note


@pytest.mark.parametrize("distance", [None, "ordinal"])
def test_without_a_pair_that_has_a_kappa_the_reason_is_the_pairs(distance):
    rows = [(i, c, 1 + (i > 2)) for i in range(6) for c in ((0, 1) if i < 3 else (2, 3))]
    data = am.Annotations.from_records(rows)
    found = am.agreement(data, "light_kappa", distance=distance, draws=0)
    assert np.isnan(found.value)
    assert found.reason == "no_defined_pair"
    assert "The mean is over 0 of 6 pairs" in found.note
