"""Difference of a coefficient between two data sets: independent, or two rounds of the same."""

import numpy as np
import pytest

import annomodels as am


def make(rng, truth, accuracy, coders="abc", items=None):
    names = range(len(truth)) if items is None else items
    return am.Annotations.from_records(
        [
            (i, c, int(t if rng.random() < accuracy else 1 - t))
            for i, t in zip(names, truth, strict=True)
            for c in coders
        ],
        labels=[0, 1],
    )


def test_the_value_is_the_difference_of_the_coefficients(rng):
    truth = rng.integers(0, 2, 60)
    one, two = make(rng, truth, 0.9), make(rng, truth, 0.7, "xy")
    for name in ("alpha", "k", "s", "percent", "multi_kappa", "light_kappa"):
        expected = am.agreement(one, name, draws=0).value - am.agreement(two, name, draws=0).value
        for same in (True, False):
            found = am.coefficients.compare_agreement(one, two, name, same_items=same, draws=50)
            assert found.value == pytest.approx(expected)
            assert found.low < found.value < found.high


def test_the_same_data_twice_differ_by_nothing(rng):
    data = make(rng, rng.integers(0, 2, 50), 0.8)
    paired = am.coefficients.compare_agreement(data, data, same_items=True, draws=500)
    apart = am.coefficients.compare_agreement(data, data, draws=500)
    # Only the chance items tell the two rounds apart.
    assert paired.value == apart.value == 0
    assert paired.high - paired.low < 0.5 * (apart.high - apart.low)
    assert "same_items=True" in apart.notes[0]
    assert "share their weights" in paired.notes[0]


def test_items_of_one_round_only_count_in_that_round(rng):
    truth = rng.integers(0, 2, 40)
    one, two = make(rng, truth, 0.9), make(rng, truth, 0.8, items=range(20, 60))
    found = am.coefficients.compare_agreement(one, two, same_items=True, draws=200)
    assert found.notes[0].startswith("20 items")
    expected = am.agreement(one, "alpha", draws=0).value - am.agreement(two, "alpha", draws=0).value
    assert found.value == pytest.approx(expected)


def test_other_label_sets_are_said(rng):
    one = make(rng, rng.integers(0, 2, 30), 0.9)
    rows = [(i, c, "xyz"[(i + (c == "a")) % 3]) for i in range(30) for c in "ab"]
    two = am.Annotations.from_records(rows)
    found = am.coefficients.compare_agreement(one, two, same_items=True, draws=50)
    assert any("2 and 3 labels" in note for note in found.notes)
    assert np.isfinite(found.draws).all()


def test_a_mean_of_kappas_of_few_shared_items_has_no_interval_here_either():
    rng = np.random.default_rng(3)
    crowds = [
        am.Annotations.from_records(
            [(i, int(c), int(rng.integers(2))) for i in range(90) for c in rng.choice(30, 4, False)]
        )
        for _ in range(2)
    ]
    for same in (False, True):
        found = am.coefficients.compare_agreement(*crowds, "light_kappa", same_items=same, draws=50)
        assert np.isfinite(found.value)
        assert np.isnan(found.interval()).all()
        assert any("Use multi_kappa" in note for note in found.notes)
    found = am.coefficients.compare_agreement(*crowds, "multi_kappa", draws=50)
    assert np.isfinite(found.interval()).all()
