"""Dawid & Skene (1979), Applied Statistics 28: the anaesthetists' data, doi:10.2307/2346806."""

import numpy as np
import pytest

import annomodels as am
from annomodels.priors import Diagonal, Dirichlet
from tests.engines.crowds import mean_and_error, p_truth

# EM from vote shares without smoothing
LOG_LIKELIHOOD = -192.8909
BEST_KNOWN = -191.569
PREVALENCE = [0.3996, 0.4220, 0.1118, 0.0667]
CODER_1 = [
    [0.8895, 0.1105, 0, 0],
    [0.0706, 0.8764, 0.0530, 0],
    [0, 0.3388, 0.6612, 0],
    [0, 0, 0.5556, 0.4444],
]
CODER_5 = [
    [1, 0, 0, 0],
    [0.1590, 0.7345, 0.1064, 0],
    [0, 0.2091, 0.7909, 0],
    [0, 0, 0.3333, 0.6667],
]
# posterior means with prevalence ~ Dirichlet(3), rows ~ Dirichlet(total 8, diagonal 4.8)
BAYES_PREVALENCE = [0.3752, 0.4070, 0.1432, 0.0746]
BAYES_ITEMS = {
    "3": [0.413, 0.586, 0, 0],
    "7": [0.954, 0.046, 0, 0],
    "12": [0, 0.877, 0.115, 0.007],
    "36": [0, 0, 0.783, 0.217],
    "38": [0, 0.709, 0.291, 0],
}
BAYES_DIAGONALS = [
    [0.849, 0.853, 0.794, 0.688],
    [0.751, 0.583, 0.623, 0.652],
    [0.879, 0.727, 0.507, 0.629],
    [0.825, 0.722, 0.690, 0.650],
    [0.863, 0.652, 0.604, 0.630],
]
PRIORS = am.models.DawidSkene(Dirichlet(3.0), Diagonal(8.0, 0.6))


@pytest.fixture(scope="module")
def data():
    return am.datasets.load("anesthesia")


@pytest.fixture(scope="module")
def em(data):
    return am.fit(data, am.models.DawidSkene.unsmoothed(), engine="em", starts=1, seed=1)


def test_em_from_the_votes_ends_where_the_paper_does(em):
    found = float(em.tree["sample_stats"]["log_likelihood"].values[0, 0])
    assert found == pytest.approx(LOG_LIKELIHOOD, abs=5e-5)
    np.testing.assert_allclose(
        em.tree["posterior"]["prevalence"].values[0, 0], PREVALENCE, atol=5e-5
    )
    confusion = em.tree["posterior"]["confusion"].values[0, 0]
    np.testing.assert_allclose(confusion[0], CODER_1, atol=6e-5)
    np.testing.assert_allclose(confusion[4], CODER_5, atol=6e-5)


def test_em_leaves_the_same_patients_uncertain(em, data):
    p = p_truth(em)
    at = {name: p[data.items.index(type(data.items[0])(name))] for name in ("7", "35", "38")}
    np.testing.assert_allclose(at["7"][:2], [0.981, 0.019], atol=6e-4)
    assert at["35"][1] == pytest.approx(0.948, abs=6e-4)
    assert at["38"][2] == pytest.approx(0.979, abs=6e-4)
    certain = (p.max(axis=1) > 0.995).sum()
    assert certain == data.n_items - 3


@pytest.mark.slow
def test_random_starts_find_better_optima_than_the_votes(data):
    fit = am.fit(data, am.models.DawidSkene.unsmoothed(), engine="em", starts=300, seed=1)
    found = float(fit.tree["sample_stats"]["log_likelihood"].values[0, 0])
    assert found == pytest.approx(BEST_KNOWN, abs=1e-3)
    import json

    modes = json.loads(fit.tree.attrs["modes"])
    assert len(modes) > 1
    from_votes = next(mode for mode in modes if mode["from_votes"])
    assert from_votes["log_likelihood"] == pytest.approx(LOG_LIKELIHOOD, abs=5e-4)


@pytest.mark.slow
# the reference figures carry an error of their own: .0004 for the prevalence, three digits else
def test_posterior_agrees_with_the_reference(data):
    fit = am.fit(data, PRIORS, engine="gibbs", draws=8000, seed=3)
    posterior = fit.tree["posterior"]
    mean, error = mean_and_error(posterior["prevalence"].values)
    assert (np.abs(mean - BAYES_PREVALENCE) < 4 * np.hypot(error, 0.0004)).all()
    diagonal = np.diagonal(posterior["confusion"].values, axis1=3, axis2=4)
    mean, error = mean_and_error(diagonal)
    assert (np.abs(mean - BAYES_DIAGONALS) < 4 * np.hypot(error, 0.001)).all()
    p, mcse = p_truth(fit), fit.tree["truth"]["p_truth_mcse"].values
    for name, expected in BAYES_ITEMS.items():
        i = data.items.index(type(data.items[0])(name))
        assert (np.abs(p[i] - expected) < 4 * np.hypot(mcse[i], 0.002)).all(), name
