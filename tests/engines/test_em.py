"""EM climbs, and says in which modes it ended."""

from __future__ import annotations

import json

import numpy as np
import pytest
from crowds import p_truth, simulate

import annomodels as am
from annomodels.engines.em import climb
from annomodels.engines.starts import random_shares, state_from_shares
from annomodels.models import resolve
from annomodels.models.encoded import encode


@pytest.mark.parametrize("model", ["pooled", "dawid-skene", "hierarchical"])
@pytest.mark.parametrize("seed", range(4))
def test_em_never_goes_down(model, seed):
    rng = np.random.default_rng(seed)
    data, _ = simulate(rng, n_items=40, n_coders=5)
    model = resolve(model)
    codes = encode(data, shared=model.shared)
    start = state_from_shares(model, codes, random_shares(codes, rng, votes=0.2))
    trace = climb(model, codes, start).trace
    assert len(trace) > 2
    assert np.diff(trace).min() > -1e-9 * abs(trace[-1])


def test_em_recovers_the_truth_and_says_that_it_has_no_intervals():
    data, truth = simulate(np.random.default_rng(0), n_items=300, per_item=6)
    fit = am.fit(data, "dawid-skene", engine="em", seed=1)
    assert (p_truth(fit).argmax(axis=1) == truth).mean() > 0.95
    assert fit.tree["posterior"].sizes["draw"] == fit.tree["posterior"].sizes["chain"] == 1
    assert np.isnan(fit.tree["truth"]["p_truth_mcse"].values).all()
    modes = json.loads(fit.tree.attrs["modes"])
    assert sum(mode["share"] for mode in modes) == pytest.approx(1.0)
    assert modes[0]["lp"] == pytest.approx(float(fit.tree["sample_stats"]["lp"].values[0, 0]))


def test_the_mode_is_a_mode():
    """No small step on the log-ratio scale goes up from where EM ended."""
    from annomodels.engines.em import expect

    rng = np.random.default_rng(1)
    data, _ = simulate(rng, n_items=40, n_coders=4)
    model = resolve("dawid-skene")
    codes = encode(data)
    mode = climb(model, codes, state_from_shares(model, codes, random_shares(codes, rng, 0.5)))
    for _ in range(50):
        step = 1e-3 * rng.normal(size=mode.state.log_confusion.shape)
        rows = mode.state.log_confusion + step
        rows -= np.log(np.exp(rows).sum(axis=1, keepdims=True))
        other = type(mode.state)(mode.state.log_prevalence, rows)
        assert expect(codes, other)[3] + model.log_penalty(other) < mode.objective
