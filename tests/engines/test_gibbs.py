"""The Gibbs engine: same draws however the work is split, stops kindly, finds its order."""

from __future__ import annotations

import json
import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
from crowds import draws, p_truth, simulate

import annomodels as am
from annomodels.engines.kept import canonical_order
from annomodels.models.base import State


@pytest.fixture(scope="module")
def data():
    return simulate(np.random.default_rng(2))[0]


def _same(first, second):
    for name in ("prevalence", "confusion", "population", "concentration"):
        np.testing.assert_array_equal(draws(first, name), draws(second, name))
    np.testing.assert_allclose(p_truth(first), p_truth(second), atol=1e-12)


@pytest.mark.calibration
@pytest.mark.slow
def test_threads_and_partitions_do_not_change_the_draws(data):
    options = {"chains": 2, "draws": 120, "warmup": 50, "seed": 4, "extend": False}
    reference = am.fit(data, "hierarchical", threads=1, partitions=1, **options)
    for threads, partitions in ((2, 1), (1, 3), (4, 7)):
        _same(
            reference,
            am.fit(data, "hierarchical", threads=threads, partitions=partitions, **options),
        )


@pytest.mark.slow
def test_the_seed_decides(data):
    options = {"chains": 2, "draws": 60, "warmup": 50, "extend": False}
    _same(
        am.fit(data, "hierarchical", seed=9, **options),
        am.fit(data, "hierarchical", seed=9, **options),
    )
    other = am.fit(data, "hierarchical", seed=10, **options)
    assert (
        draws(other, "prevalence")
        != draws(am.fit(data, "hierarchical", seed=9, **options), "prevalence")
    ).any()


@pytest.mark.slow
def test_a_drawn_seed_is_kept_and_reproduces_the_run(data):
    options = {"chains": 2, "draws": 60, "warmup": 50, "extend": False}
    first = am.fit(data, "hierarchical", **options)
    _same(first, am.fit(data, "hierarchical", seed=first.seed, **options))


@pytest.mark.slow
def test_known_gold_is_clamped(data):
    known = {data.items[0]: 2, data.items[5]: 0}
    fit = am.fit(data.with_gold(known), "hierarchical", chains=2, draws=100, seed=1, extend=False)
    p = p_truth(fit)
    np.testing.assert_array_equal(p[0], [0, 0, 1])
    np.testing.assert_array_equal(p[5], [1, 0, 0])


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
def test_draws_beyond_the_memory_are_thinned(data):
    per_draw = data.n_coders * 9 * 8 * 2
    fit = am.fit(
        data, "hierarchical", chains=2, draws=1000, seed=1, memory=per_draw * 200, extend=False
    )
    assert fit.tree["posterior"].sizes["draw"] == 400
    assert fit.tree["posterior"]["confusion"].dtype == np.float32


@pytest.mark.slow
def test_chains_that_have_not_mixed_run_on():
    data, _ = simulate(np.random.default_rng(3), n_items=150, n_coders=60, per_item=3, accuracy=0.6)
    fit = am.fit(data, "hierarchical", draws=150, warmup=20, seed=1)
    alone = am.fit(data, "hierarchical", draws=150, warmup=20, seed=1, extend=False)
    assert int(fit.tree.attrs["thin"]) > 1
    assert int(alone.tree.attrs["thin"]) == 1
    assert float(fit.tree.attrs["ess_min"]) > float(alone.tree.attrs["ess_min"])


@pytest.mark.slow
def test_progress_is_told_and_ends_at_one(data):
    told = []
    am.fit(
        data,
        "hierarchical",
        chains=2,
        draws=60,
        warmup=50,
        seed=1,
        progress=lambda *a: told.append(a),
    )
    assert {stage for stage, _, _ in told} >= {"warm-up", "sampling"}
    assert told[-1][1] == 1.0
    assert all(0 <= share <= 1 for _, share, _ in told)


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


def test_modes_that_are_no_relabellings_are_reported():
    from annomodels.engines.collect import chain_modes
    from annomodels.engines.kept import total_gaps

    p = np.zeros((3, 10, 2))
    p[:2, :, 0], p[2, :, 1] = 1.0, 1.0
    gaps = total_gaps(p, np.ones(10)) / 10
    modes = chain_modes(gaps, np.array([[-5.0], [-5.0], [-9.0]]), np.ones((3, 1, 2)) / 2)
    assert [mode["lp"] for mode in modes] == [-5.0, -9.0]
    assert [round(mode["share"], 2) for mode in modes] == [0.67, 0.33]
