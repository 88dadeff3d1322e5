"""Chains that are started in swapped classes on purpose, on real crowds: RTE, K = 2; dog, K = 4."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowds import p_truth, shared_set
from scipy.optimize import linear_sum_assignment

import annomodels as am
from annomodels.engines import gibbs

pytestmark = pytest.mark.shared


def swapped_starts(original):
    """Every chain begins with its classes moved on by another number of places."""

    def starts(model, *given, **options):
        found = original(model, *given, **options)
        k = len(found.states[0].log_prevalence)
        states = [
            model.ordered(state, np.roll(np.arange(k), n % k))
            for n, state in enumerate(found.states, start=1)
        ]
        return replace(found, states=states)

    return starts


def right(fit, truth):
    """Share of right gold labels."""
    return (p_truth(fit).argmax(axis=1) == truth).mean()


def in_place(fit):
    """Whether the classes of each chain are those whose names its coders say most."""
    confusion = fit.tree["posterior"]["confusion"].values.mean(axis=1)
    weight = np.bincount(fit.data.coder) / len(fit.data)
    found = [linear_sum_assignment(-np.einsum("jkl,j->kl", rows, weight))[1] for rows in confusion]
    return [bool((order == np.arange(len(order))).all()) for order in found]


@pytest.mark.calibration
@pytest.mark.parametrize("name", ["snow_rte", "dog"])
@pytest.mark.parametrize("model", ["dawid-skene", "hierarchical"])
def test_chains_find_the_names_of_their_classes(shared, name, model, monkeypatch):
    data, truth = shared_set(shared, name)
    options = {"chains": 4, "draws": 300, "seed": 1, "extend": False}
    wanted = right(am.fit(data, model, **options), truth)
    monkeypatch.setattr(gibbs, "chain_starts", swapped_starts(gibbs.chain_starts))
    fit = am.fit(data, model, **options)
    assert right(fit, truth) == pytest.approx(wanted, abs=0.006)
    assert in_place(fit) == [True] * 4
    # these priors favour the diagonal, so swapped chains have others: the page must not be trusted
    assert fit.check().verdict == "do not use"
    left = am.fit(data, model, relabel=False, **options)
    assert not all(in_place(left))
