"""Wherever the passes are carried out, the answer is the same."""

import functools
import itertools
import operator
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import annomodels as am
from annomodels.engines import run
from annomodels.engines.acceleration import climb_rounds
from annomodels.engines.em import class_probabilities, climb
from annomodels.engines.source.partition import cut
from annomodels.engines.source.spread import Spread
from annomodels.engines.starts import expectation_of, gaps_of, state_from_shares, vote_shares
from annomodels.errors import NotApplicable
from annomodels.executors.team import Threads
from annomodels.models import resolve
from annomodels.models.encoded import encode
from tests.engines.crowds import Elsewhere, Forgetful, assert_same, draws, p_truth, simulate

pytestmark = pytest.mark.slow

# not a multiple of the length of a batch, so that some draws are left over
OPTIONS = {"chains": 2, "draws": 130, "warmup": 30, "seed": 4, "extend": False}
FAMILY = ["pooled", "one-coin", "class-conditional", "mace", "dawid-skene", "hierarchical"]


@pytest.fixture(scope="module")
def reference(data):
    return am.fit(data, "hierarchical", **OPTIONS)


@pytest.fixture(scope="module")
def reference_of_four(data):
    return am.fit(data, "hierarchical", **{**OPTIONS, "chains": 4})


@pytest.mark.parametrize(
    "executor", [None, "threads", Elsewhere()], ids=["here", "threads", "else"]
)
@pytest.mark.parametrize("partitions", [None, 5])
def test_here_and_elsewhere(data, reference, executor, partitions):
    fit = am.fit(
        data, "hierarchical", executor=executor, threads=3, partitions=partitions, **OPTIONS
    )
    assert_same(fit, reference)


def test_a_thread_that_is_held_up_leaves_partitions_to_the_others(data):
    codes = encode(data, collapse=False)
    taken: dict[int, int] = {}
    lock = threading.Lock()
    held_up = threading.Event()

    def job(block):
        with lock:
            me = taken.setdefault(threading.get_ident(), 0)
            first = len(taken) == 1 and me == 0
            taken[threading.get_ident()] += 1
            done = sum(taken.values())
        if done == 6:
            held_up.set()
        if first:
            assert held_up.wait(20.0)
        return np.array([block.n_items]), np.array([0.1 * block.first])

    crew = Threads(2)
    with Spread(cut(codes, 6), crew) as spread:
        whole, rest = spread.sum(job)
        firsts = [0.1 * part.first for part in spread.source.partitions]
    crew.close()
    assert sorted(taken.values()) == [1, 5]
    assert whole == [data.n_items]
    assert rest == [functools.reduce(operator.add, firsts)]  # to the last bit: in their order


def test_an_error_in_a_partition_of_a_pile_is_raised(data):
    def job(block):
        if block.first > 0:
            raise ValueError("broken")
        return (np.array([1]),)

    crew = Threads(2)
    parts = cut(encode(data, collapse=False), 6)
    with pytest.raises(ValueError, match="broken"), Spread(parts, crew) as spread:
        spread.sum(job)
    crew.close()


@pytest.mark.few("hierarchical")
@pytest.mark.parametrize("model", FAMILY)
def test_every_model_of_the_family(data, model):
    options = {**OPTIONS, "draws": 40}
    wanted = am.fit(data, model, **options)
    assert_same(am.fit(data, model, executor="threads", threads=3, **options), wanted)


def test_known_gold_is_clamped(data):
    known = data.with_truth({data.items[0]: 2, data.items[-1]: 0})
    options = {**OPTIONS, "draws": 40}
    fit = am.fit(known, "hierarchical", executor="threads", partitions=4, **options)
    assert_same(fit, am.fit(known, "hierarchical", **options))
    np.testing.assert_array_equal(p_truth(fit)[-1], [1, 0, 0])


@pytest.mark.calibration
def test_stages_that_go_on_are_the_same():
    """Sums of a stage that became warm-up are not in the result."""
    data, _ = simulate(np.random.default_rng(3), n_items=150, n_coders=60, per_item=3, accuracy=0.6)
    options = {"draws": 100, "warmup": 20, "seed": 1}
    wanted = am.fit(data, "hierarchical", **options)
    assert int(wanted.tree.attrs["thin"]) > 1
    assert_same(am.fit(data, "hierarchical", executor="threads", threads=2, **options), wanted)


@pytest.mark.parametrize("rounds", [1, 2])
def test_what_is_lost_is_made_again(data, reference, rounds):
    """Also where chains go in groups, which call from threads of their own."""
    crew = Forgetful(places=2)
    crew.rounds = rounds
    assert_same(am.fit(data, "hierarchical", executor=crew, partitions=3, **OPTIONS), reference)


def test_groups_of_chains_that_are_cut_short_have_the_same_draws(data, monkeypatch):
    readings = itertools.count(0.0, 0.001)
    monkeypatch.setattr(time, "perf_counter", lambda: next(readings))  # looked at in every step
    crew = Elsewhere()
    crew.rounds = 3
    options = {**OPTIONS, "chains": 5}
    cut_short = am.fit(
        data, "hierarchical", executor=crew, **{**options, "draws": 100_000}, time_limit=1.0
    )
    assert cut_short.tree.attrs["stopped"] == "time limit"
    n = cut_short.tree["posterior"].sizes["draw"]
    assert 10 < n < 100_000
    wanted = am.fit(data, "hierarchical", **{**options, "draws": n})
    for name in wanted.tree["posterior"].data_vars:
        np.testing.assert_array_equal(draws(cut_short, name), draws(wanted, name))


@pytest.mark.few("1-8-4", "3-2-2", "5-2-1")
@pytest.mark.parametrize(
    ("partitions", "places", "groups"), [(1, 3, 3), (1, 8, 4), (3, 2, 2), (2, 2, 1), (5, 2, 1)]
)
def test_threads_without_a_part_have_chains_of_their_own(
    data, reference_of_four, monkeypatch, partitions, places, groups
):
    found = []
    into = run._groups
    monkeypatch.setattr(run, "_groups", lambda *args: found.append(into(*args)) or found[-1])
    crew = Threads(places)
    options = {**OPTIONS, "chains": 4}
    try:
        fit = am.fit(data, "hierarchical", executor=crew, partitions=partitions, **options)
    finally:
        crew.close()
    assert [len(made) for made in found] == [groups]
    assert sorted(chain for group in found[0] for chain in group) == [0, 1, 2, 3]
    assert_same(fit, reference_of_four)


def test_an_error_in_one_group_of_chains_ends_the_run(data):
    class Broken(Elsewhere):
        rounds = 2
        calls = 0

        def values(self, promises):
            self.calls += 1
            if self.calls == 20:
                raise ValueError("broken")
            return super().values(promises)

    with pytest.raises(ValueError, match="broken"):
        am.fit(data, "hierarchical", executor=Broken(), **OPTIONS)


@pytest.mark.parametrize("model", FAMILY)
def test_em_goes_the_same_path(data, model):
    model = resolve(model)
    codes = encode(data, shared=model.shared)
    start = state_from_shares(model, codes, vote_shares(codes))
    wanted = climb(model, codes, start)
    crew = Threads(3)
    with Spread(cut(codes, 5), crew) as spread:
        found = climb_rounds(model, expectation_of(spread), start)
        np.testing.assert_allclose(found.trace, wanted.trace, rtol=1e-9)
        p = np.concatenate(class_probabilities(spread, found.state))
        np.testing.assert_allclose(p, wanted.p_truth, atol=1e-9)
        gaps = gaps_of(spread, [start, found.state])
        assert gaps[0, 0] == 0 < gaps[0, 1] == gaps[1, 0] < 1
    crew.close()


def test_em_with_an_executor_is_em(data):
    wanted = am.fit(data, "dawid-skene", engine="em", seed=1, starts=3)
    fit = am.fit(data, "dawid-skene", engine="em", seed=1, starts=3, executor="threads")
    np.testing.assert_allclose(p_truth(fit), p_truth(wanted), atol=1e-9)
    assert int(fit.tree.attrs["best_start"]) == int(wanted.tree.attrs["best_start"])


def test_what_is_no_executor_is_refused(data):
    with pytest.raises(NotApplicable, match="'thread' is unknown"):
        am.fit(data, "hierarchical", executor="thread")
    with ThreadPoolExecutor(1) as pool, pytest.raises(NotApplicable, match="Dask client"):
        am.fit(data, "hierarchical", executor=pool)
    with pytest.raises(NotApplicable, match="not nuts"):
        am.fit(data, "pooled", engine="nuts", executor="threads")
    with pytest.raises(NotApplicable, match="models whose items have one true class"):
        am.fit(data, "guess-level", engine="gibbs", executor="threads")
