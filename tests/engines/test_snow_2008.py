"""Snow et al. (2008), textual entailment, under Carpenter's (2008) and the default model."""

import json

import numpy as np
import pytest

import annomodels as am
from tests.engines.crowds import draws, p_truth, shared_set

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def rte(shared):
    return shared_set(shared, "snow_rte")


def test_em_reaches_the_known_likelihoods(shared):
    expected = {"snow_rte": (-3679.629, 0.9275), "snow_temp": (-1256.965, 0.9416)}
    expected["snow_wsd"] = (-178.978, 0.9944)
    for name, (log_likelihood, accuracy) in expected.items():
        data, truth = shared_set(shared, name)
        fit = am.fit(data, am.models.DawidSkene.unsmoothed(), engine="em", starts=1, seed=1)
        found = float(fit.tree["sample_stats"]["log_likelihood"].values[0, 0])
        assert found == pytest.approx(log_likelihood, abs=6e-4), name
        right = (p_truth(fit).argmax(axis=1) == truth).mean()
        assert right == pytest.approx(accuracy, abs=6e-5), name


QUANTILES = {
    "prevalence": (0.45, 0.49, 0.52),
    "specificity": (0.81, 0.84, 0.87),
    "sensitivity": (0.82, 0.84, 0.87),
}
# The report's own Monte Carlo error is the larger one: 32,000 of our draws put the upper quantile
# of the second scale at 19.5 +- .3. We take its run for a hundred effective draws; the errors of
# normal quantiles are then these multiples of the standard deviation over sqrt(100).
REPORTED_DRAWS = 100
QUANTILE_ERRORS = np.array([2.67, 1.25, 2.67])
SCALES = {"specificity": (2.0, 2.8, 3.9), "sensitivity": (6.9, 10.9, 17.6)}


@pytest.mark.slow
@pytest.mark.calibration
def test_carpenter_2008_beta_binomial(rte):
    data, truth = rte
    model = am.models.HierarchicalDawidSkene.carpenter()
    fit = am.fit(data, model, engine="gibbs", draws=2000, seed=2)
    p = p_truth(fit)
    wrong = int((p.argmax(axis=1) != truth).sum())
    assert 56 <= wrong <= 60
    unsure = int(((p[:, 1] > 0.01) & (p[:, 1] < 0.99)).sum())
    assert 107 <= unsure <= 110
    means = draws(fit, "population")
    found = {
        "prevalence": draws(fit, "prevalence")[:, 1],
        "specificity": means[:, 0, 0],
        "sensitivity": means[:, 1, 1],
    }
    for name, expected in QUANTILES.items():
        got = np.quantile(found[name], [0.025, 0.5, 0.975])
        np.testing.assert_allclose(got, expected, atol=0.0125, err_msg=name)
    scales = dict(zip(SCALES, draws(fit, "concentration").T, strict=True))
    for name, expected in SCALES.items():
        got = np.quantile(scales[name], [0.025, 0.5, 0.975])
        error = np.log(scales[name]).std() * QUANTILE_ERRORS / np.sqrt(REPORTED_DRAWS)
        assert (np.abs(np.log(got / expected)) < 4 * error).all(), (name, got)


@pytest.mark.slow
def test_the_default_gets_at_most_60_items_wrong(rte):
    data, truth = rte
    fit = am.fit(data, "hierarchical", seed=1)
    assert int((p_truth(fit).argmax(axis=1) != truth).sum()) <= 60
    assert fit.tree.attrs["rhat_max"] < 1.01
    assert json.loads(fit.tree.attrs["swapped_chains"]) == []
