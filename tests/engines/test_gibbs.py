"""The Gibbs engine: same draws however the work is split, stops kindly, finds its order."""

import json
import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest

import annomodels as am
from annomodels.engines.kept import canonical_order
from annomodels.models.base import State
from tests.engines.crowds import assert_same, draws, p_truth, simulate


@pytest.mark.slow
def test_a_drawn_seed_is_kept_and_reproduces_the_run(data):
    options = {"chains": 2, "draws": 60, "warmup": 50, "extend": False}
    first = am.fit(data, "hierarchical", **options)
    assert_same(am.fit(data, "hierarchical", seed=first.seed, **options), first)
    other = am.fit(data, "hierarchical", seed=first.seed + 1, **options)
    assert (draws(other, "prevalence") != draws(first, "prevalence")).any()


@pytest.fixture
def ctrl_c():
    """Ctrl-C works even where the tests run in the background, with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_keeps_what_was_sampled(data):
    pressed = threading.Event()

    def press(stage, share, _):
        if stage == "sampling" and share > 0 and not pressed.is_set():
            pressed.set()
            os.kill(os.getpid(), signal.SIGINT)

    fit = am.fit(data, "hierarchical", draws=20_000, seed=1, progress=press)
    assert fit.tree.attrs["stopped"] == "interrupted"
    assert 10 < fit.tree["posterior"].sizes["draw"] < 20_000
    assert np.isfinite(draws(fit, "confusion")).all()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_the_warm_up_has_nothing_to_keep(data):
    def press(stage, *_):
        if stage == "warm-up":
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        am.fit(data, "hierarchical", warmup=5000, draws=1000, seed=1, progress=press)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_draws_are_summed_over_items_keeps_them(data):
    """On a cluster this stage takes a pass for each draw."""

    def press(stage, share, _):
        if stage == "items" and share == 0:
            os.kill(os.getpid(), signal.SIGINT)

    options = {"chains": 2, "draws": 60, "warmup": 20, "extend": False, "seed": 1}
    fit = am.fit(data, "hierarchical", progress=press, **options)
    assert fit.tree.attrs["stopped"] == "interrupted"
    assert_same(fit, am.fit(data, "hierarchical", **options))


def _state(order):
    rows = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])[order]
    prevalence = np.array([0.5, 0.3, 0.2])[order]
    return State(np.log(prevalence), np.log(rows.T[None].copy()))


def test_swapped_classes_are_put_in_order():
    volume = np.array([1.0])
    np.testing.assert_array_equal(canonical_order(_state([0, 1, 2]), volume), [0, 1, 2])
    for order in ([1, 0, 2], [2, 0, 1], [1, 2, 0]):
        state = _state(order)
        back = am.models.DawidSkene().ordered(state, canonical_order(state, volume))
        np.testing.assert_allclose(back.log_prevalence, _state([0, 1, 2]).log_prevalence)
        np.testing.assert_allclose(back.log_confusion, _state([0, 1, 2]).log_confusion)


@pytest.mark.slow
def test_chains_started_in_the_mirror_mode_come_back_in_order(monkeypatch, data):
    """Two classes, chains started with the votes turned round: silent without relabelling."""
    from annomodels.engines import gibbs

    data, truth = simulate(np.random.default_rng(5), n_labels=2, n_coders=6, per_item=5)
    model = am.models.DawidSkene(confusion=am.priors.Diagonal(2.0, 0.5))
    straight = am.fit(data, model, chains=2, draws=300, seed=1)
    found = gibbs.chain_starts

    def turned(model, *given, **options):
        begun = found(model, *given, **options)
        states = [model.ordered(state, np.array([1, 0])) for state in begun.states]
        return replace(begun, states=states)

    monkeypatch.setattr(gibbs, "chain_starts", turned)
    wrong = am.fit(data, model, chains=2, draws=300, seed=1, relabel=False)
    right = am.fit(data, model, chains=2, draws=300, seed=1)
    assert (p_truth(wrong).argmax(axis=1) == truth).mean() < 0.3
    assert (p_truth(right).argmax(axis=1) == truth).mean() > 0.8
    np.testing.assert_allclose(p_truth(right), p_truth(straight), atol=0.05)
    assert json.loads(right.tree.attrs["swapped_chains"]) == [0, 1]
