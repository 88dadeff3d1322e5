"""Simulation-based calibration (Talts et al. 2018) of the models that Gibbs serves.

The studies are those of the benchmarks; ANNOMODELS_CALIBRATION=reduced makes them small.
"""

import dataclasses
import os

import numpy as np
import pytest

import annomodels as am
from annomodels.models import resolve
from annomodels.models.dawid_skene import DawidSkene
from annomodels.priors import Beta, Diagonal

pytestmark = pytest.mark.calibration

REDUCED = os.environ.get("ANNOMODELS_CALIBRATION") == "reduced"
OF_CLASSES, OF_ANSWERS, OF_STATES = (60, 60, 40) if REDUCED else (500, 300, 60)  # replications


@pytest.fixture
def study(benchmark_script):
    """Import a study: of classes, of answers that are none, or of states."""
    return lambda name: benchmark_script(f"calibration{name}")


@pytest.fixture
def sbc(study, monkeypatch):
    if REDUCED:
        # of 60 ranks up to 39, p < .001 finds a shift by .75 standard deviations in 86 %
        # and half of the width in 88 %, coverage twice the width in 98 %; with 99 draws in
        # 86, 90 and 100 %
        monkeypatch.setattr(study(""), "RANKS", 39)
    return study("")


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    "name",
    ["pooled", "dawid-skene", "hierarchical", "groups", "one-coin", "class-conditional", "mace"],
)
def test_ranks_are_uniform_and_intervals_cover(sbc, name, k):
    found = sbc.study(sbc.Case(sbc.believed(name), k), OF_CLASSES, seed=20, top=sbc.RANKS)
    # with .001 one of some 30 tests fails in 3 % of studies although nothing is wrong
    assert sbc.failures([found], p_bound=0.001, slack=4) == []
    assert found.autocorrelation < 0.3


def test_the_study_finds_a_wrong_prior(sbc):
    model, source = DawidSkene(), DawidSkene(confusion=Diagonal(4.0, 0.9))
    found = sbc.study(sbc.Case(model, 2, source), 80, seed=20, top=sbc.RANKS)
    assert found.p_value("confusion[0, 0, 0]") < 0.001


def test_the_study_finds_intervals_that_are_too_narrow(sbc):
    rng = np.random.default_rng(1)
    # the ranks of a sampler whose draws have half of their spread
    z = rng.normal(size=(400, 1))
    ranks = sbc.rank(z.T, 0.5 * rng.normal(size=(99, 400)), rng)[:, None]
    share, error = sbc.coverage([ranks.reshape(-1, 1)])
    assert share < 0.9 - 4 * error


def test_ranks_of_ties_are_spread_evenly(sbc):
    rng = np.random.default_rng(2)
    ranks = sbc.rank(np.zeros(5000), np.zeros((99, 5000)), rng)
    assert ranks.min() == 0
    assert ranks.max() == 99
    assert abs(ranks.mean() - 49.5) < 4 * 28.9 / np.sqrt(5000)


@pytest.mark.parametrize("name", ["dawid-skene", "hierarchical", "class-conditional"])
def test_labels_that_are_no_classes(study, name):
    answers = study("_answers")
    found = answers.run(answers.Case(answers.answering(name), 2), OF_ANSWERS, seed=20)
    # some 20 quantities are tested, so one p-value in a thousand is nothing
    assert answers.calibration.failures([found], p_bound=0.0005, slack=4) == []


@pytest.mark.parametrize(
    "name", ["guess-level", "consensus", "easy-hard", "ambiguous", "readings", "spammers"]
)
def test_items_that_have_states(study, name):
    states = study("_states")

    def failures(replications, seed):
        found = states.run(states.Case(resolve(name), 2), replications, seed=seed)
        return states.calibration.failures([found], p_bound=0.0005, slack=4)

    # Of some 90 quantities one in eleven hundred is off by chance, and with few replications a
    # chi-square test is rough: what is off must be off again, in twice as many other ones.
    if failures(OF_STATES, 20):
        assert failures(2 * OF_STATES, 21) == []


def test_other_studies_find_a_wrong_prior(study):
    answers, states = study("_answers"), study("_states")
    model = answers.answering("dawid-skene")
    source = dataclasses.replace(model, rate=Beta(4.0, 4.0))
    found = answers.run(answers.Case(model, 2, source), 60, seed=20)
    assert found.p_value("no_answer_mean[0, 0]") < 0.001
    model = am.models.EasyHardItems()
    source = dataclasses.replace(model, easy=Beta(60.0, 1.0))
    found = states.run(states.Case(model, 2, source), OF_STATES, seed=20)
    assert found.p_value("easy_share[0]") < 0.001
