"""Prior against data: named where most coders take a class for another, and nowhere else."""

import numpy as np
import pytest

import annomodels as am
from annomodels.models.hierarchical import HierarchicalDawidSkene, expected_accuracy
from annomodels.models.parameters import ExpectedAccuracy
from annomodels.priors import Diagonal
from annomodels.summaries.trust.checks import check
from annomodels.summaries.trust.priors import prior_finding

ROWS = np.array([[0.05, 0.55, 0.40], [0.075, 0.85, 0.075], [0.075, 0.075, 0.85]])
OPTIONS = {"chains": 2, "draws": 200, "warmup": 150, "seed": 1}


def labeled(rng, truth, rows):
    """Labels of all coders [coder, truth, label] of items of these classes."""
    below = rows.cumsum(axis=2)[:, truth, :-1]
    given = (rng.random(below.shape[:2])[:, :, None] > below).sum(axis=2)
    rows = ((i, f"c{j}", "abc"[given[j, i]]) for j, i in np.ndindex(given.shape))
    return am.Annotations.from_records(rows, labels=["a", "b", "c"])


@pytest.mark.slow
def test_a_class_that_most_coders_take_for_its_neighbour_is_named(rng):
    truth = rng.choice(3, 600, p=[0.25, 0.45, 0.30])
    data = labeled(rng, truth, np.broadcast_to(ROWS, (5, 3, 3)))
    fit = am.fit(data, **OPTIONS)
    found = prior_finding(fit.tree, data)
    [told] = found.values["told"]
    assert "of the items of a, and the prior allows" in told
    assert told.endswith("% b")
    assert found.severity == 1
    assert found.said in check(fit.tree, data).sentences


@pytest.mark.parametrize(("strength", "concentration"), [(300.0, 5.0), (40.0, 20.0), (300.0, 60.0)])
def test_what_is_expected_is_what_the_prior_draws(strength, concentration):
    """Coders drawn from the prior lie from its mean by numbers of variance 1."""
    rng = np.random.default_rng(3)
    model = HierarchicalDawidSkene(population=Diagonal(strength, 0.7, 10.0))
    n, n_coders, k = 3000, 7, 3
    accuracy = rng.beta(7.0, 3.0, n)
    off = (1.0 - accuracy)[:, None, None] / (k - 1)
    shares = np.where(np.eye(k, dtype=bool), accuracy[:, None, None], off)
    gamma = np.maximum(rng.standard_gamma(strength * shares), 1e-300)
    mean = gamma / gamma.sum(axis=2, keepdims=True)
    shapes = np.broadcast_to(concentration * mean[:, None], (n, n_coders, k, k))
    gamma = np.maximum(rng.standard_gamma(shapes), 1e-300)
    draws = {
        "confusion": gamma / gamma.sum(axis=3, keepdims=True),
        "concentration": np.full((n, k), concentration),
        "common_accuracy": accuracy,
    }
    found = expected_accuracy(model, draws.__getitem__)
    assert isinstance(found, ExpectedAccuracy)
    z = (found.seen - found.mean) / found.spread
    assert abs(z.mean()) < 4 / np.sqrt(z.size)
    assert z.var() == pytest.approx(1.0, abs=0.06)


@pytest.mark.calibration
@pytest.mark.slow
def test_coders_of_the_prior_are_no_conflict(rng):
    model = HierarchicalDawidSkene()
    found = []
    for _ in range(8):
        state = model.sample_parameters(6, 3, rng)
        truth = rng.choice(3, 200, p=np.exp(state.log_prevalence))
        rows = np.exp(state.log_confusion).transpose(0, 2, 1)
        data = labeled(rng, truth, rows / rows.sum(axis=2, keepdims=True))
        fit = am.fit(data, "hierarchical", chains=2, draws=80, warmup=60, seed=1, extend=False)
        found.append(prior_finding(fit.tree, data).severity)
    assert sum(found) == 0


@pytest.mark.slow
def test_models_that_expect_nothing_of_a_class_are_not_asked(rng):
    data = labeled(rng, rng.integers(3, size=40), np.broadcast_to(ROWS, (4, 3, 3)))
    for name in ("dawid-skene", "one-coin", "pooled"):
        fit = am.fit(data, name, chains=1, draws=10, warmup=5, seed=1, extend=False)
        assert prior_finding(fit.tree, data) is None
    fit = am.fit(data, "hierarchical", engine="em", starts=1, seed=1)
    assert prior_finding(fit.tree, data) is None
