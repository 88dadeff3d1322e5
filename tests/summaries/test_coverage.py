"""Accuracy against coverage, and calibration on truth that was held back."""

import numpy as np
import pytest

import annomodels as am
from annomodels.summaries.gold import coverage
from annomodels.summaries.trust.known_truth import calibration


@pytest.fixture(scope="module")
def fit():
    return am.fit(
        am.datasets.load("crowd"), "hierarchical", chains=2, draws=150, warmup=100, seed=1
    )


@pytest.mark.slow
def test_the_curve_is_the_mean_probability_of_the_surest_items(fit):
    found = coverage(fit.tree, fit.data)
    sure = np.sort(fit.tree["truth"]["p_truth"].values.max(axis=1))[::-1]
    curve = found.draws
    kept = curve["kept"].values
    assert kept[0] == 1
    assert kept[-1] == fit.data.n_items
    np.testing.assert_allclose(curve["accuracy"], [sure[:n].mean() for n in kept])
    assert (np.diff(curve["accuracy"].values) <= 1e-12).all()
    table = found.table.set_index("threshold")
    assert table.loc[0.95, "kept"] == (sure >= 0.95).sum()
    assert table.loc[0.0, "wrong"] == pytest.approx((1 - sure).sum())
    assert (table["accuracy_low"] <= table["accuracy"]).all()
    assert table.loc[0.0, "accuracy"] < table.loc[0.0, "accuracy_high"]


@pytest.mark.slow
def test_known_truth_is_left_out_of_the_curve(fit):
    some = dict.fromkeys(fit.data.items[:50], fit.data.labels[0])
    told = am.fit(fit.data.with_truth(some), "hierarchical", chains=2, draws=60, warmup=40, seed=1)
    found = coverage(told.tree, told.data)
    assert found.table["kept"].iloc[0] == fit.data.n_items - 50
    assert "50 items" in found.notes[0]


@pytest.mark.slow
def test_one_draw_gives_a_curve_without_a_band():
    glance = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1, starts=1)
    found = coverage(glance.tree, glance.data)
    assert np.isnan(found.table["accuracy_low"]).all()
    assert np.isfinite(found.table["accuracy"].iloc[0])


@pytest.mark.slow
def test_calibration_counts_what_is_right_in_each_bin(fit):
    p = fit.tree["truth"]["p_truth"].values
    best = p.argmax(axis=1)
    labels = fit.data.labels
    # the first thirty gold labels are taken for wrong, thirty others for right
    known = {fit.data.items[i]: labels[(best[i] + 1) % 3] for i in range(30)}
    known |= {fit.data.items[i]: labels[best[i]] for i in range(30, 60)}
    found = calibration(fit.tree, fit.data, known).table
    last = found.iloc[-1]
    assert (last["n"], last["right"]) == (60, 30)
    assert last["probability"] == pytest.approx(p[:60].max(axis=1).mean())
    assert found["n"].iloc[:-1].sum() == 60
    assert last["share_low"] < 0.5 < last["share_high"]


@pytest.mark.slow
def test_truth_that_the_fit_was_told_cannot_test_it(fit):
    known = {fit.data.items[0]: fit.data.labels[0]}
    told = fit.data.with_truth(known)
    with pytest.raises(am.errors.NotApplicable, match="already used"):
        calibration(fit.tree, told, known)
    with pytest.raises(am.errors.NotApplicable):
        calibration(fit.tree, fit.data, {"no such item": fit.data.labels[0]})


@pytest.mark.calibration
@pytest.mark.slow
def test_contested_items_count_in_the_number_of_wrong_labels():
    """30 of 200 items have two readings: of those listed, as many are wrong as is expected."""
    expected, wrong, covered = [], [], []
    crowd = {"coders": 24, "labels": 3, "labels_per_item": 12, "ambiguous": 0.15}
    for seed in range(6):
        made = am.simulate(items=200, seed=seed, **crowd)
        fit = am.fit(made.annotations, chains=2, draws=100, warmup=60, seed=1)
        p = fit.tree["truth"]["p_truth"].values
        missed = p.argmax(axis=1) != made.truth
        listed = (fit.items().table["state"] == "contested").to_numpy()
        found = fit.wrong_labels()
        expected.append((1 - p.max(axis=1))[listed].sum())
        wrong.append(missed[listed].sum())
        covered.append(found.gold_low <= missed.sum() <= found.gold_high)
    # of 36 wrong labels or so; P(truth) without items that mislead expects hardly any of them
    assert 0.5 * sum(wrong) < sum(expected) < 1.5 * sum(wrong)
    assert sum(covered) >= 5
