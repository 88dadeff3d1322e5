"""EM climbs, and says in which modes it ended."""

import json
from dataclasses import replace

import numpy as np
import pytest

import annomodels as am
from annomodels.engines import em
from annomodels.engines.acceleration import Climb, ascend
from annomodels.engines.em import climb, expect
from annomodels.engines.starts import random_shares, state_from_shares, vote_shares
from annomodels.models import resolve
from annomodels.models.encoded import encode
from tests.engines.crowds import p_truth, simulate


@pytest.mark.slow
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


FAMILY = ["pooled", "one-coin", "class-conditional", "mace", "dawid-skene", "hierarchical"]


@pytest.fixture(scope="module")
def slow():
    """Labels that hardly tell coders apart, on which EM creeps."""
    return simulate(np.random.default_rng(3), n_items=400, n_coders=60, per_item=3, accuracy=0.6)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILY)
def test_leaps_save_passes_and_end_in_the_same_mode(slow, name):
    model = resolve(name)
    codes = encode(slow, shared=model.shared)
    start = state_from_shares(model, codes, vote_shares(codes))

    def expectation(state):
        counts, sizes, _, log_likelihood = expect(codes, state)
        return counts, sizes, log_likelihood

    plain = ascend(model, expectation, start, Climb(accelerate=False))
    leaping = ascend(model, expectation, start)
    assert leaping.passes < 0.7 * plain.passes
    assert np.diff(leaping.trace).min() >= -1e-9 * abs(leaping.objective)
    # now until rounding is all that changes
    endless = Climb(float("-inf"))
    plain = ascend(model, expectation, start, replace(endless, accelerate=False, max_passes=1500))
    leaping = ascend(model, expectation, start, replace(endless, max_passes=700))
    assert leaping.objective == pytest.approx(plain.objective, abs=1e-8)
    there, wanted = expect(codes, leaping.state)[2], expect(codes, plain.state)[2]
    np.testing.assert_allclose(there, wanted, atol=1e-8)


def test_leaps_are_made_by_default(slow):
    model = resolve("pooled")
    codes = encode(slow, shared=True)
    start = state_from_shares(model, codes, vote_shares(codes))
    plain, leaping = climb(model, codes, start, Climb(accelerate=False)), climb(model, codes, start)
    assert leaping.passes < 0.5 * plain.passes
    assert leaping.objective >= plain.objective


def test_shares_of_zero_stay_zero(slow):
    """Maximum likelihood, where what was never said is impossible."""
    model = am.models.DawidSkene(am.priors.Dirichlet(0.0), am.priors.Diagonal(0.0, 0.5))
    codes = encode(slow)
    start = state_from_shares(model, codes, vote_shares(codes))
    plain, leaping = climb(model, codes, start, Climb(accelerate=False)), climb(model, codes, start)
    assert np.isneginf(start.log_confusion).any()
    assert leaping.passes < plain.passes
    assert np.isfinite(leaping.objective)
    assert leaping.objective > plain.objective - 1e-6 * abs(plain.objective)


@pytest.mark.parametrize("name", FAMILY)
def test_free_parameters_are_the_parameters(slow, name):
    model = resolve(name)
    codes = encode(slow, shared=model.shared)
    state = state_from_shares(model, codes, vote_shares(codes))
    back = model.from_free(model.free(state), state)
    np.testing.assert_allclose(back.log_prevalence, state.log_prevalence, atol=1e-12)
    np.testing.assert_allclose(back.log_confusion, state.log_confusion, atol=1e-9)


def test_parts_of_a_pass_give_the_same_on_any_number_of_threads(monkeypatch):
    data, _ = simulate(np.random.default_rng(5), n_items=400)
    model, codes = am.models.DawidSkene(), encode(data)
    start = state_from_shares(model, codes, vote_shares(codes))
    whole = climb(model, codes, start)
    monkeypatch.setattr(em, "PART", 150)
    assert em._parts(codes) == em.MOST_PARTS
    one, three = (climb(model, codes, start, threads=n) for n in (1, 3))
    assert one.objective == three.objective
    np.testing.assert_array_equal(one.p_truth, three.p_truth)
    np.testing.assert_allclose(one.p_truth, whole.p_truth, atol=1e-9)
    assert one.objective == pytest.approx(whole.objective, abs=1e-8)
