"""The gold standard against computation by hand and on simulated data."""

import numpy as np
import pytest

from annomodels.errors import NotApplicable
from annomodels.summaries.draws import thinned
from annomodels.summaries.gold import gold, wrong_labels
from annomodels.summaries.why import contributions


def expected_errors(tree, data):
    found = wrong_labels(tree, data)
    return found.gold, found.vote


def carpenter(make, gold=None):
    """Set the tutorial's arithmetic up: labels 1, 1, 0 of three coders; pi = .2."""
    specificity, sensitivity = np.array([0.6, 0.7, 0.8]), np.array([0.75, 0.65, 0.9])
    confusion = np.stack(
        [
            np.stack([specificity, 1 - specificity], axis=1),
            np.stack([1 - sensitivity, sensitivity], axis=1),
        ],
        axis=1,
    )
    data = make.coded(np.zeros(3, int), np.arange(3), np.array([1, 1, 0]), 1, 3, 2, gold=gold)
    return data, make.exact(data, [0.8, 0.2], confusion), confusion


def test_tutorial_arithmetic_of_carpenter_2008(make):
    data, tree, _ = carpenter(make)
    table = gold(tree, data).table
    row = table.iloc[0]
    assert 1 - row["probability"] == pytest.approx(0.1126516, abs=1e-6)
    assert (row["label"], row["runner_up"], row["overturned"]) == ("a", "b", True)
    assert row["votes"] == "2 × b, 1 × a"
    # log odds of a against b by hand: log(.4/.75), log(.3/.65), log(.8/.1), prior log(.8/.2)
    assert row["why"] == "c2 +2.1, c1 -0.8, c0 -0.6, prevalence +1.4"
    evidence = contributions(thinned(tree, data), data, np.array([0]), np.array([1]))
    total = evidence.value.sum() + evidence.prior[0]
    assert total == pytest.approx(np.log((1 - 0.1126516) / 0.1126516), abs=1e-5)
    np.testing.assert_allclose(evidence.value, np.log([0.4 / 0.75, 0.3 / 0.65, 0.8 / 0.1]))


def test_known_gold_is_certain_and_says_so(make):
    data, tree, _ = carpenter(make, gold=np.array([1]))
    row = gold(tree, data).table.iloc[0]
    assert (row["label"], row["state"], row["source"]) == ("b", "decided", "truth")
    assert (row["probability"], row["runner_up"], row["why"]) == (1, "", "known truth")
    assert expected_errors(tree, data) == (0, 0)


def test_ties_have_no_majority_and_are_not_overturned(make):
    data = make.coded(np.zeros(2, int), np.arange(2), np.array([0, 1]), 1, 2, 2)
    confusion = np.array([make.matrix(0.9, 2), make.matrix(0.6, 2)])
    tree = make.exact(data, [0.5, 0.5], confusion)
    row = gold(tree, data).table.iloc[0]
    assert (row["overturned"], row["label"]) == (False, "a")
    p = 0.9 * 0.4 / (0.9 * 0.4 + 0.1 * 0.6)
    assert row["probability"] == pytest.approx(p)
    model, vote = expected_errors(tree, data)
    assert (model, vote) == (pytest.approx(1 - p), pytest.approx(0.5))


def test_repeated_labels_of_a_coder_are_one_contribution(make):
    data = make.coded(np.zeros(3, int), np.array([0, 0, 1]), np.array([0, 0, 1]), 1, 2, 2)
    tree = make.exact(data, [0.5, 0.5], np.array([make.matrix(0.8, 2), make.matrix(0.7, 2)]))
    assert gold(tree, data).table["why"][0] == "c0 +2.8, c1 -0.8"


def test_only_the_five_largest_contributions_are_listed(make):
    accuracy = np.array([0.6, 0.9, 0.7, 0.95, 0.8, 0.65, 0.75])
    data = make.coded(np.zeros(7, int), np.arange(7), np.zeros(7, int), 1, 7, 2)
    tree = make.exact(data, [0.5, 0.5], np.array([make.matrix(a, 2) for a in accuracy]))
    assert gold(tree, data).table["why"][0] == "c3 +2.9, c1 +2.2, c4 +1.4, c6 +1.1, c2 +0.8, 2 more"


def test_exact_zeros_of_em_give_finite_reasons(make):
    data = make.coded(np.zeros(2, int), np.arange(2), np.array([0, 1]), 1, 2, 2)
    confusion = np.array([np.eye(2), make.matrix(0.7, 2)])
    why = gold(make.exact(data, [0.5, 0.5], confusion, engine="em"), data).table["why"][0]
    assert "inf" not in why
    assert "nan" not in why


@pytest.mark.slow
def test_threshold_sets_the_state_only(crowd):
    world, tree = crowd
    low, high = (gold(tree, world.data, threshold=limit).table for limit in (0.5, 0.999))
    assert set(low["state"]) <= {"settled", "contested"}
    assert (high["state"] == "needs labels").any()
    assert (low["label"] == high["label"]).all()
    with pytest.raises(NotApplicable, match="between 0 and 1"):
        gold(tree, world.data, threshold=1.5)


@pytest.mark.slow
def test_gold_beats_the_vote_and_knows_how_often_it_errs(crowd):
    world, tree = crowd
    table = gold(tree, world.data).table
    names = np.array(world.data.labels)[world.truth]
    wrong = (table["label"] != names).sum()
    by_vote = (world.data.votes.argmax(axis=1) != world.truth).sum()
    assert wrong < by_vote
    model, vote = expected_errors(tree, world.data)
    assert abs(wrong - model) < 4 * np.sqrt(model) + 2
    assert vote > model


def test_names_of_any_kind_come_back_unchanged(make):
    from annomodels.data.annotations import Annotations

    data = Annotations.from_records([(1, "x", 3), (1, "y", 3), (2, "x", 5), (2, "y", 3)])
    tree = make.gibbs(data, draws=50)
    table = gold(tree, data).table
    assert table["item"].tolist() == [1, 2]
    assert set(table["label"]) <= {3, 5}
    assert set(table["runner_up"]) <= {3, 5}
