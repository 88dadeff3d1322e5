"""Gibbs and NUTS sample one posterior: all models that both serve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowds import mean_and_error, p_truth, shared_set, simulate
from scipy.stats import chi2

import annomodels as am
from annomodels.models.mixtures.consensus import Consensus
from annomodels.models.mixtures.kinds import HonestAndSpammers, Spammers
from annomodels.priors import Beta, Diagonal, Dirichlet, LogNormal

pytestmark = pytest.mark.nuts


def _crowd():
    return am.datasets.load("crowd").select(items=am.datasets.load("crowd").items[:80])


CASES = {
    "anesthesia, Dawid-Skene": ("dawid-skene", lambda _: am.datasets.load("anesthesia")),
    "anesthesia, hierarchical": (
        am.models.HierarchicalDawidSkene(
            population=Diagonal(20, 0.7), concentration=LogNormal(10, 0.5)
        ),
        lambda _: am.datasets.load("anesthesia"),
    ),
    "simulated with gold, two groups of coders": (
        am.models.GroupedCoders(
            population=Diagonal(20, 0.7),
            concentration=LogNormal(10, 0.5),
            prevalence=Dirichlet(3),
            groups={"c0": "first", "c1": "first"},
        ),
        lambda _: _with_gold(2),
    ),
    "simulated with gold, strengths of rows learnt": (
        am.models.HierarchicalDawidSkene(
            population=Diagonal(30, 0.7, 10, spread=0.7),
            concentration=LogNormal(10, 0.5),
            prevalence=Dirichlet(3),
        ),
        lambda _: _with_gold(),
    ),
    "simulated with gold, labels that are not classes": (
        am.models.Answering(
            am.models.DawidSkene(prevalence=Dirichlet(3)), concentration=LogNormal(10, 0.5)
        ),
        lambda _: _with_dont_know(),
    ),
    "caries, Dawid-Skene": ("dawid-skene", lambda _: am.datasets.load("caries")),
    "made-up crowd, pooled": ("pooled", lambda _: _crowd()),
    "bluebirds, Dawid-Skene": ("dawid-skene", lambda shared: shared_set(shared, "bluebirds")[0]),
    "anesthesia, one coin": ("one-coin", lambda _: am.datasets.load("anesthesia")),
    "anesthesia, class-conditional": (
        "class-conditional",
        lambda _: am.datasets.load("anesthesia"),
    ),
    "simulated with gold, MACE": (am.models.Mace(competence=Beta(2, 2)), lambda _: _with_gold()),
    "made-up crowd, MACE": ("mace", lambda _: _crowd()),
    "simulated with gold, Dawid-Skene": ("dawid-skene", lambda _: _with_gold()),
}


def _with_gold(n_labels=3):
    rng = np.random.default_rng(4)
    data, truth = simulate(rng, n_items=40, n_coders=5, n_labels=n_labels)
    return data.with_gold({data.items[i]: int(truth[i]) for i in range(0, 40, 8)})


def _with_dont_know():
    """Make a third of the labels of the second class no answer, and a tenth of the others."""
    rng = np.random.default_rng(8)
    data, truth = simulate(rng, n_items=40, n_coders=4, n_labels=2, per_item=4)
    unsure = rng.random(len(data)) < np.where(truth[data.item] == 1, 0.35, 0.1)
    unsure[np.searchsorted(data.item, np.arange(40))] = False  # every item has an answer
    rows = [
        (int(i), f"c{j}", "?" if no else int(y))
        for i, j, y, no in zip(data.item, data.coder, data.label, unsure, strict=True)
    ]
    gold = {i: int(truth[i]) for i in range(0, 40, 4)}
    return am.Annotations.from_records(rows, labels=[0, 1], dont_know=["?"], gold=gold)


# every day one set without and one with known gold, the others with the long studies
DAILY = ("anesthesia, Dawid-Skene", "simulated with gold, MACE")
MARKED = [
    pytest.param(case, marks=() if case in DAILY else pytest.mark.calibration) for case in CASES
]


@pytest.mark.calibration
@pytest.mark.parametrize("case", MARKED)
def test_gibbs_and_nuts_agree_within_monte_carlo_error(case, request):
    model, load = CASES[case]
    needs_shared = case.startswith("bluebirds")
    data = load(request.getfixturevalue("shared") if needs_shared else None)
    gibbs = am.fit(data, model, engine="gibbs", chains=2, draws=4000, seed=1)
    nuts = am.fit(data, model, engine="nuts", chains=2, draws=1000, warmup=400, seed=1)
    assert not nuts.tree["sample_stats"]["diverging"].values.any()
    _agree(gibbs, nuts)


def _agree(gibbs, nuts, of=lambda posterior: posterior):
    """Means of all variables and of P(truth) are the same up to Monte Carlo error."""
    drawn = [
        of({str(name): values.values for name, values in fit.tree["posterior"].data_vars.items()})
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


# firm priors, so that both engines need few draws
FIRM = am.models.HierarchicalDawidSkene(
    population=Diagonal(20, 0.7), concentration=LogNormal(10, 0.5), prevalence=Dirichlet(3)
)
STATE_CASES = {
    "consensus": Consensus(FIRM),
    "guess-level": am.models.GuessLevel(FIRM, levels=(0.2, 0.7), weights=Dirichlet(3.0)),
    "easy-hard": am.models.EasyHardItems(FIRM),
    "ambiguous": am.models.Ambiguous(FIRM),
    "readings": am.models.Readings(FIRM, pseudo_items=(0.5, 1.0, 3.0, 2.0)),
}


def _few_with_gold(n_labels=2):
    data, truth = simulate(
        np.random.default_rng(6), n_items=40, n_coders=4, n_labels=n_labels, per_item=4
    )
    return data.with_gold({data.items[i]: int(truth[i]) for i in range(0, 40, 3)})


@pytest.mark.calibration
@pytest.mark.parametrize("case", STATE_CASES)
def test_gibbs_and_nuts_agree_on_states_of_items(case):
    model, data = STATE_CASES[case], _few_with_gold()
    gibbs = am.fit(data, model, engine="gibbs", chains=2, draws=4000, seed=1)
    nuts = am.fit(data, model, engine="nuts", chains=2, draws=1500, warmup=600, seed=1)
    _agree(gibbs, nuts)
    own = [each.name for each in model.item_parameters(2)]
    assert {*own, "perceived_confusion"} <= set(nuts.tree["posterior"])
    for name in model.layout(2).values:
        gap = gibbs.tree["items"][name].values - nuts.tree["items"][name].values
        assert np.abs(gap).max() < 0.05


@pytest.mark.calibration
@pytest.mark.parametrize("communities", [1, 2])
def test_gibbs_and_nuts_agree_on_kinds_of_items(communities):
    model = am.models.KindsOfItems(
        Dirichlet(3.0), kinds=2, communities=communities, first=(60.0, 0.6), others=(20.0, 0.4),
        shares=(6.0, 4.0), concentration=(20.0, 2.0),
    )  # fmt: skip
    data = _few_with_gold()
    gibbs = am.fit(data, model, engine="gibbs", chains=2, draws=8000, seed=1, extend=False)
    nuts = am.fit(data, model, engine="nuts", chains=2, draws=1500, warmup=600, seed=1)
    _agree(gibbs, nuts, lambda posterior: _by_size(posterior, communities))


def _by_size(posterior, communities):
    """Give the same draws with communities, whose order means nothing, the larger first."""
    if communities > 1:
        order = np.argsort(-posterior["community_share"], axis=2)
        for name in ("community_share", "population", "concentration"):
            values = posterior[name]
            wide = order.reshape(*order.shape, *(1,) * (values.ndim - 3))
            posterior[name] = np.take_along_axis(values, wide, axis=2)
    return posterior


KINDS = HonestAndSpammers(
    population=Diagonal(20, 0.7), concentration=LogNormal(10, 0.5), prevalence=Dirichlet(3)
)


@pytest.mark.calibration
@pytest.mark.parametrize("time_limit", [None, 1e-9])
def test_a_model_with_kinds_of_coders_is_sampled_by_a_compound_step(time_limit):
    data = _few_with_gold().select(items=range(10))
    settings = {"engine": "nuts", "chains": 2, "draws": 20, "warmup": 10, "time_limit": time_limit}
    if time_limit:
        with pytest.raises(am.errors.EngineError, match="kept no draw"):
            am.fit(data, Spammers(KINDS), **settings)
        return
    posterior = am.fit(data, Spammers(KINDS), **settings).tree["posterior"]
    who, habit = posterior["spammer"].values > 0.5, posterior["habit"].values
    rows = posterior["perceived_confusion"].values
    assert set(np.unique(posterior["spammer"].values)) <= {0.0, 1.0}
    alike = (rows == habit[:, :, :, None, :]).all(axis=(3, 4))
    np.testing.assert_array_equal(alike, who)


@pytest.mark.calibration
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
    data = am.Annotations.from_records(rows, labels=[0, 1], gold=gold)
    model = Spammers(replace(KINDS, habit=Dirichlet(2.0), share=Beta(2.0, 3.0)))
    gibbs = am.fit(data, model, engine="gibbs", chains=2, draws=4000, seed=1, extend=False)
    nuts = am.fit(data, model, engine="nuts", chains=2, draws=1000, seed=1)
    spammer = nuts.tree["posterior"]["spammer"].values.mean(axis=(0, 1))
    # the fourth coder most, and no one for sure: chains must change their mind
    assert spammer.argmax() == 3
    assert ((spammer > 0.002) & (spammer < 0.998)).all()
    _agree(gibbs, nuts)
