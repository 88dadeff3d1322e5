"""Gibbs and NUTS sample one posterior."""

import numpy as np
import pytest
from scipy.stats import chi2

import annomodels as am
from annomodels.models.mixtures.kinds import HonestAndSpammers, Spammers
from annomodels.priors import Beta, Diagonal, Dirichlet, LogNormal
from tests.engines.crowds import mean_and_error, p_truth, simulate

# all models that both serve have one density (test_enumeration, test_state_enumeration), and SBC is
# of all Gibbs samplers: here is a model of each way from draws of NUTS to a result
pytestmark = [pytest.mark.nuts, pytest.mark.calibration]


MODELS = {
    "strengths of rows learnt": am.models.HierarchicalDawidSkene(
        population=Diagonal(30, 0.7, 10, spread=0.7),
        concentration=LogNormal(10, 0.5),
        prevalence=Dirichlet(3),
    ),
    "MACE": am.models.Mace(competence=Beta(2, 2)),
}


@pytest.mark.parametrize(
    "name",
    [
        "strengths of rows learnt",
        pytest.param(
            "MACE",
            marks=pytest.mark.full("Compiles; reduced runs have enumeration and ranks of MACE."),
        ),
    ],
)
def test_gibbs_and_nuts_agree_within_monte_carlo_error(name):
    data, truth = simulate(np.random.default_rng(4), n_items=40, n_coders=5, n_labels=3)
    data = data.with_truth({data.items[i]: int(truth[i]) for i in range(0, 40, 8)})
    gibbs = am.fit(data, MODELS[name], engine="gibbs", chains=2, draws=4000, seed=1)
    nuts = am.fit(data, MODELS[name], engine="nuts", chains=2, draws=1000, warmup=400, seed=1)
    assert not nuts.tree["sample_stats"]["diverging"].values.any()
    _agree(gibbs, nuts)


def _agree(gibbs, nuts):
    """Means of all variables and of P(truth) are the same up to Monte Carlo error."""
    drawn = [
        {str(name): values.values for name, values in fit.tree["posterior"].data_vars.items()}
        for fit in (gibbs, nuts)
    ]
    assert drawn[0].keys() == drawn[1].keys() >= {"prevalence", "confusion"}
    for name in drawn[0]:
        ours, our_error = mean_and_error(drawn[0][name])
        theirs, their_error = mean_and_error(drawn[1][name])
        z = (ours - theirs) / np.maximum(np.hypot(our_error, their_error), 1e-4)
        # of a few hundred numbers the largest lies near 3; 5 leaves room, a wrong model does not
        assert np.abs(z).max() < 5, (name, np.abs(z).max())
        assert (z**2).sum() < 1.2 * chi2.isf(1e-4, z.size), name
    errors = [fit.tree["truth"]["p_truth_mcse"].values for fit in (gibbs, nuts)]
    gap = p_truth(gibbs) - p_truth(nuts)
    assert np.abs(gap / np.maximum(np.hypot(*errors), 2e-3)).max() < 5


@pytest.mark.full("Compiles for a minute; reduced runs have enumeration and ranks of states.")
def test_gibbs_and_nuts_agree_on_states_of_items():
    # firm priors, so that both engines need few draws
    coders = am.models.HierarchicalDawidSkene(
        population=Diagonal(20, 0.7), concentration=LogNormal(10, 0.5), prevalence=Dirichlet(3)
    )
    model = am.models.GuessLevel(coders, levels=(0.2, 0.7), weights=Dirichlet(3.0))
    data, truth = simulate(np.random.default_rng(6), n_items=40, n_coders=4, n_labels=2, per_item=4)
    data = data.with_truth({data.items[i]: int(truth[i]) for i in range(0, 40, 3)})
    gibbs = am.fit(data, model, engine="gibbs", chains=2, draws=4000, seed=1)
    nuts = am.fit(data, model, engine="nuts", chains=2, draws=1500, warmup=600, seed=1)
    _agree(gibbs, nuts)
    own = [each.name for each in model.item_parameters(2)]
    assert {*own, "perceived_confusion"} <= set(nuts.tree["posterior"])
    for name in model.layout(2).values:
        gap = gibbs.tree["items"][name].values - nuts.tree["items"][name].values
        assert np.abs(gap).max() < 0.05


@pytest.mark.full("Compiles in each fit; reduced runs have enumeration and ranks of spammers.")
def test_gibbs_and_nuts_agree_on_who_is_a_spammer():
    """Of four coders one answers by habit; broad habits let a compound step change its mind."""
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=14)
    right = rng.random((14, 3)) < 0.8
    rows = [
        (i, j, int(truth[i] if right[i, j] else 1 - truth[i])) for i in range(14) for j in range(3)
    ]
    rows += [(i, 3, int(rng.random() < 0.7)) for i in range(14)]
    gold = {i: int(truth[i]) for i in range(0, 14, 2)}
    data = am.Annotations.from_records(rows, labels=[0, 1], truth=gold)
    kinds = HonestAndSpammers(
        population=Diagonal(20, 0.7), concentration=LogNormal(10, 0.5), prevalence=Dirichlet(3),
        habit=Dirichlet(2.0), share=Beta(2.0, 3.0),
    )  # fmt: skip
    model = Spammers(kinds)
    gibbs = am.fit(data, model, engine="gibbs", chains=2, draws=4000, seed=1, extend=False)
    nuts = am.fit(data, model, engine="nuts", chains=2, draws=1000, seed=1)
    posterior = nuts.tree["posterior"]
    spammer = posterior["spammer"].values.mean(axis=(0, 1))
    # the fourth coder most, and no one for sure: chains must change their mind
    assert spammer.argmax() == 3
    assert ((spammer > 0.002) & (spammer < 0.998)).all()
    _agree(gibbs, nuts)
    who, habit = posterior["spammer"].values > 0.5, posterior["habit"].values
    rows = posterior["perceived_confusion"].values
    assert set(np.unique(posterior["spammer"].values)) <= {0.0, 1.0}
    alike = (rows == habit[:, :, :, None, :]).all(axis=(3, 4))
    np.testing.assert_array_equal(alike, who)
    with pytest.raises(am.errors.EngineError, match="kept no draw"):
        am.fit(data, model, engine="nuts", chains=2, draws=20, warmup=10, time_limit=1e-9)
