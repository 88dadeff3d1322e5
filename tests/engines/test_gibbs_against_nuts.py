"""Gibbs and NUTS sample one posterior: five data sets, all models that both serve."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import mean_and_error, p_truth, shared_set, simulate
from scipy.stats import chi2

import annomodels as am
from annomodels.priors import Beta, Diagonal, LogNormal
from annomodels.schema import DIMS

pytestmark = pytest.mark.nuts


def _crowd():
    return am.datasets.load("crowd").select(items=am.datasets.load("crowd").items[:80])


CASES = {
    "anesthesia, Dawid-Skene": ("dawid-skene", lambda _: am.datasets.load("anesthesia")),
    "anesthesia, hierarchical": (
        am.HierarchicalDawidSkene(population=Diagonal(20, 0.7), concentration=LogNormal(10, 0.5)),
        lambda _: am.datasets.load("anesthesia"),
    ),
    "caries, Dawid-Skene": ("dawid-skene", lambda _: am.datasets.load("caries")),
    "made-up crowd, pooled": ("pooled", lambda _: _crowd()),
    "bluebirds, Dawid-Skene": ("dawid-skene", lambda shared: shared_set(shared, "bluebirds")[0]),
    "anesthesia, one coin": ("one-coin", lambda _: am.datasets.load("anesthesia")),
    "anesthesia, class-conditional": (
        "class-conditional",
        lambda _: am.datasets.load("anesthesia"),
    ),
    "simulated with gold, MACE": (am.Mace(competence=Beta(2, 2)), lambda _: _with_gold()),
    "made-up crowd, MACE": ("mace", lambda _: _crowd()),
    "simulated with gold, Dawid-Skene": ("dawid-skene", lambda _: _with_gold()),
}


def _with_gold():
    data, truth = simulate(np.random.default_rng(4), n_items=40, n_coders=5)
    return data.with_gold({data.items[i]: int(truth[i]) for i in range(0, 40, 8)})


@pytest.mark.parametrize("case", CASES)
def test_gibbs_and_nuts_agree_within_monte_carlo_error(case, request):
    model, load = CASES[case]
    needs_shared = case.startswith("bluebirds")
    data = load(request.getfixturevalue("shared") if needs_shared else None)
    gibbs = am.fit(data, model, engine="gibbs", draws=4000, seed=1)
    nuts = am.fit(data, model, engine="nuts", draws=1500, warmup=600, seed=1)
    assert not nuts.tree["sample_stats"]["diverging"].values.any()
    for name in DIMS:
        if name not in gibbs.tree["posterior"]:
            continue
        ours, our_error = mean_and_error(gibbs.tree["posterior"][name].values)
        theirs, their_error = mean_and_error(nuts.tree["posterior"][name].values)
        z = (ours - theirs) / np.maximum(np.hypot(our_error, their_error), 1e-4)
        # of a few hundred numbers the largest lies near 3; 5 leaves room, a wrong model does not
        assert np.abs(z).max() < 5, (name, np.abs(z).max())
        assert (z**2).sum() < 1.2 * chi2.isf(1e-4, z.size), name
    errors = [fit.tree["truth"]["p_truth_mcse"].values for fit in (gibbs, nuts)]
    gap = p_truth(gibbs) - p_truth(nuts)
    assert np.abs(gap / np.maximum(np.hypot(*errors), 2e-3)).max() < 5
