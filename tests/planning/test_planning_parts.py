"""The parts of planning by hand: crowds, facts, verdicts, votes."""

import numpy as np
import pytest

from annomodels.data.annotations import Annotations
from annomodels.planning.crowds import assign, draw_coders, honest, spread_out
from annomodels.planning.rules import FIRST, Facts, facts_of, holding
from annomodels.planning.simulate import label_rows, simulate
from annomodels.planning.supports import Use, sentence, supports
from annomodels.planning.trials import assumed, trial, vote_accuracy
from annomodels.planning.verdicts import verdict
from annomodels.priors import Beta


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def test_even_work_is_even(rng):
    item, coder = assign(6, 4, 2, "even", rng)
    assert np.bincount(item).tolist() == [2] * 6
    assert np.bincount(coder).tolist() == [3] * 4


def test_a_crowd_has_the_kinds_that_were_asked_for(rng):
    confusion, kinds = draw_coders(4, 2, 0.9, 0.25, 0.25, rng)
    assert kinds == ("uniform spammer", "adversary", "honest", "honest")
    assert confusion[:2].round(2).tolist() == [[[0.5, 0.5], [0.5, 0.5]], [[0.1, 0.9], [0.9, 0.1]]]


def test_honest_coders_err_evenly(rng):
    rows = honest(2, 3, [1.0, 0.4], rng)[:, 0]
    assert rows == pytest.approx(np.array([[1.0, 0.0, 0.0], [0.4, 0.3, 0.3]]))
    assert spread_out(0.8, 0.1) == Beta(12.0, 3.0)


def test_difficulty_is_taken_from_the_log_odds():
    rows = label_rows(np.array([[0.9, 0.1]]), np.array([0]), np.array([np.log(9)]))
    assert rows == pytest.approx(np.array([[0.5, 0.5]]))


def test_facts_and_the_rules_that_hold():
    rows = [("t1", "a", "x"), ("t1", "b", "y"), ("t2", "a", "x")]
    found = facts_of(Annotations.from_records(rows))
    numbers = (found.per_item, found.per_coder, found.shared, found.agreement)
    assert numbers == (1.5, 1.5, 0.5, 0.0)
    facts = Facts(50, 5, 3, 200, 4.0, 40.0, 1.0, "nominal", 0, 0, 0.8)
    assert [rule.model for rule in holding(FIRST, facts)] == ["stack", "hierarchical"]


def test_what_data_support_by_question():
    rows = [("t1", "a", "x"), ("t1", "b", "y"), ("t2", "a", "x"), ("t2", "b", "x")]
    uses = [(use.what, use.why) for use in supports(Annotations.from_records(rows))]
    assert uses[:3] == [("alpha", ""), ("gold", ""), ("coders' accuracy", "2 coders")]
    alpha, gold = Use("alpha"), Use("gold", "2 coders")
    assert sentence({"q": (alpha, gold)}) == "supports: alpha; not yet: gold (2 coders)"
    several = sentence({"q": (alpha, Use("gold")), "r": (alpha, gold)})
    expected = "supports: alpha by question, gold for q; not yet: gold for r (2 coders)"
    assert several == expected


@pytest.mark.parametrize(
    ("mean", "error", "target", "above", "expected"),
    [
        (0.96, 0.004, 0.95, True, "yes"),
        (0.96, 0.01, 0.95, True, "unclear"),
        (0.12, 0.002, 0.1, False, "no"),
        (float("nan"), 0.1, 0.1, False, "no"),
    ],
)
def test_verdicts(mean, error, target, above, expected):
    assert verdict(mean, error, target, above=above) == expected


def test_a_trial_compares_gold_and_votes_with_the_truth():
    made = simulate(40, 6, 2, 6, accuracy=0.99, seed=1)
    found = trial(made.annotations, made.truth, "dawid-skene", 1)
    assert (found.accuracy, found.vote, round(found.alpha, 2)) == (1.0, 1.0, 0.93)
    assert len(assumed(labels=3, accuracy=0.9)(50, 6, 2, 1)[0]) == 100
    rows = [("t1", "a", 0), ("t1", "b", 1), ("t2", "a", 1), ("t2", "b", 1)]
    assert vote_accuracy(Annotations.from_records(rows), np.array([0, 1])) == 0.75
