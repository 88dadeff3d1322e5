"""The logistic model of Carpenter (2008) on textual entailment (Snow et al. 2008) and X-rays.

The report's numbers follow from its BUGS program (lingpipe/sandbox, hierAnno/trunk/R/bugs/
logistic.bug), which has bounds that the text does not mention: difficulties lie in (-1, 1),
abilities in (-1, 5) for items that are not of the class and (-1, 8) for those that are. BUGS cuts
the normal densities off there and does not divide them by what is left, so wide populations are
made unlikely: scales come out smaller than without bounds, and so does the mean ability where 5
logits are the most. `BugsLogistic` is that program with truth and difficulty summed out.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import annomodels as am
from annomodels.models.continuous.difficulty_rows import log_rows
from annomodels.models.states import ItemStates, add_states
from tests.engines.crowds import draws, p_truth, shared_set
from tests.engines.patterns import chi_square

pytestmark = [pytest.mark.nuts, pytest.mark.calibration]

LEAST_ABILITY, MOST_ABILITY = np.array([-1.0, -1.0]), np.array([5.0, 8.0])
HARDEST = 1.0
QUANTILES = (0.025, 0.5, 0.975)
takes_minutes = pytest.mark.full(
    "NUTS on 8,000 labels takes minutes; reduced runs have the program on X-rays."
)


@dataclass(frozen=True)
class BugsLogistic(am.models.ScalarDifficulty):
    """The logistic model with the report's priors and its bounds, densities not normalised."""

    def build(self, codes, coords):
        import pymc as pm
        import pytensor.tensor as pt

        nodes, weights = np.polynomial.legendre.leggauss(11)
        with pm.Model(coords=coords) as model:
            prevalence = pm.Dirichlet("prevalence", a=np.ones(2), dims="truth")
            mean = pm.HalfNormal("mean_ability", sigma=10.0, dims="truth")
            scale = pm.Uniform("ability_scale", lower=0.5, upper=5.0, dims="truth")
            rho = pm.Uniform("difficulty_scale", lower=0.0, upper=10.0, dims="truth")
            ability = pm.Uniform(
                "ability", lower=LEAST_ABILITY, upper=MOST_ABILITY, dims=("coder", "truth")
            )
            pm.Potential("abilities", pm.logp(pm.Normal.dist(mean, scale), ability).sum())
            reach = pt.minimum(HARDEST, 4.5 * rho)[:, None]
            hard = reach * nodes
            density = pm.logp(pm.Normal.dist(0.0, rho[:, None]), hard)
            share = pt.log(prevalence)[:, None] + density + pt.log(reach * weights)
            truth = np.repeat(np.eye(2), len(nodes), axis=0)
            emission = pt.reshape(log_rows(ability, hard, 2, pt), (codes.n_rows, 22, 2))
            add_states(codes, ItemStates(pt.reshape(share, (22,)), truth, emission))
        return model

    def pymc_start(self, state):
        values = super().pymc_start(state)
        return {
            "prevalence": values["prevalence"],
            "mean_ability": np.maximum(values["level"] + values["contrast"], 0.5),
            "ability_scale": np.clip(values["ability_scale"], 0.6, 4.0),
            "difficulty_scale": np.full(2, 0.3),
            "ability": np.clip(values["ability"], LEAST_ABILITY + 0.2, MOST_ABILITY - 0.2),
        }


def quantiles(fit, name, k):
    return np.quantile(draws(fit, name)[:, k], QUANTILES)


# what the report prints of entailment: .025, .5 and .975, for pairs not entailed and entailed
MEAN_ABILITY = ((2.0, 2.3, 2.6), (1.7, 1.9, 2.2))
ABILITY_SCALE = ((1.1, 1.3, 1.5), (0.60, 0.82, 1.06))
# without the .025 quantile, .05 and .21: Gibbs sampling of the difficulties hardly gets to scales
# near none, where all of them would have to be none
DIFFICULTY_SCALE = ((0.24, 0.36), (0.31, 0.39))
ROUNDED = 0.05


@takes_minutes
@pytest.mark.shared
def test_entailment_under_the_report_s_program(shared):
    data, truth = shared_set(shared, "snow_rte")
    # the lower quantile of the second scale is slow: 12,000 draws know it to .0045
    run = {"chains": 4, "draws": 3000, "warmup": 1000}
    fit = am.fit(data, BugsLogistic(by_class=True), seed=1, **run)
    assert abs(int((p_truth(fit).argmax(axis=1) != truth).sum()) - 55) <= 1
    for k in (0, 1):
        digits = 0.0 if k else ROUNDED
        found = quantiles(fit, "mean_ability", k)
        np.testing.assert_allclose(found, MEAN_ABILITY[k], atol=0.03 + ROUNDED)
        found = quantiles(fit, "ability_scale", k)
        np.testing.assert_allclose(found, ABILITY_SCALE[k], atol=0.03 + digits)
        found = quantiles(fit, "difficulty_scale", k)[1:]
        np.testing.assert_allclose(found, DIFFICULTY_SCALE[k], atol=0.03)


@takes_minutes
@pytest.mark.shared
def test_entailment_without_the_bounds(shared):
    """Pairs that are entailed as reported, and the others with wider populations."""
    data, truth = shared_set(shared, "snow_rte")
    model = am.models.ScalarDifficulty.carpenter()
    fit = am.fit(data, model, chains=2, draws=600, warmup=500, seed=1)
    assert abs(int((p_truth(fit).argmax(axis=1) != truth).sum()) - 55) <= 2
    found = quantiles(fit, "mean_ability", 1)
    np.testing.assert_allclose(found, MEAN_ABILITY[1], atol=0.11)
    found = quantiles(fit, "ability_scale", 1)
    np.testing.assert_allclose(found, ABILITY_SCALE[1], atol=0.08)
    assert quantiles(fit, "ability_scale", 0)[1] > ABILITY_SCALE[0][2]
    assert quantiles(fit, "difficulty_scale", 0)[1] > DIFFICULTY_SCALE[0][1]


def test_caries_under_the_report_s_program():
    """A chi-square of 114 and difficulties near none, as reported; without bounds below 75."""
    caries = am.datasets.load("caries")
    fit = am.fit(caries, BugsLogistic(by_class=True), chains=2, draws=1000, warmup=500, seed=1)
    assert chi_square(fit, caries) == pytest.approx(114, abs=3)
    assert quantiles(fit, "prevalence", 1)[1] == pytest.approx(0.197, abs=0.005)
    # .975 quantiles; the report's intervals are (.13, .31) and (.24, .35)
    for k, widest in ((0, 0.31), (1, 0.35)):
        assert quantiles(fit, "difficulty_scale", k)[2] == pytest.approx(widest, abs=0.03)
