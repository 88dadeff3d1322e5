"""On a Dask cluster the draws are the same, also when machines die."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading

import numpy as np
import pytest
from crowds import assert_same, p_truth

import annomodels as am

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed")

OPTIONS = {"chains": 2, "draws": 60, "warmup": 20, "seed": 4, "extend": False}


@pytest.fixture(scope="module")
def client():
    with _cluster() as client:
        yield client


@pytest.fixture
def own_client():
    """Give a cluster of its own to a test that kills machines of it."""
    with _cluster() as client:
        yield client


@contextlib.contextmanager
def _cluster():
    for name in ("distributed.nanny", "distributed.scheduler", "distributed.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def test_the_draws_are_those_of_one_process(data, client):
    reference = am.fit(data, "hierarchical", **OPTIONS)
    assert_same(am.fit(data, "hierarchical", executor=client, partitions=5, **OPTIONS), reference)


@pytest.mark.calibration
def test_parameters_that_are_brought_to_all_machines_first(data, client, monkeypatch):
    from annomodels.executors import dask

    monkeypatch.setattr(dask, "SHARED_FROM", 1000)
    monkeypatch.setattr(dask, "FAN", 2)
    options = {**OPTIONS, "draws": 10, "warmup": 5}
    assert_same(
        am.fit(data, "hierarchical", executor=client, **options),
        am.fit(data, "hierarchical", **options),
    )


@pytest.mark.calibration
def test_a_stack_is_that_of_one_process(data, client):
    options = {"chains": 2, "draws": 24, "warmup": 10, "seed": 4}
    reference = am.fit(data, "stack", **options)
    fit = am.fit(data, executor=client, partitions=4, **options)
    assert fit.model.stacks
    assert_same(fit, reference)
    np.testing.assert_array_equal(p_truth(fit), p_truth(reference))


def test_em_is_that_of_one_process(data, client):
    options = {"engine": "em", "starts": 2, "seed": 1}
    wanted = am.fit(data, "dawid-skene", **options)
    fit = am.fit(data, "dawid-skene", executor=client, **options)
    np.testing.assert_allclose(p_truth(fit), p_truth(wanted), atol=1e-9)


@pytest.mark.calibration
def test_many_results_are_added_in_a_tree(client):
    from annomodels.executors.dask import FAN, DaskTeam

    crew = DaskTeam(client)
    calls = [(n % crew.places, divmod, (n, 3)) for n in range(3 * FAN)]
    _, total = crew.total(calls)
    assert total == (sum(n // 3 for n in range(3 * FAN)), sum(n % 3 for n in range(3 * FAN)))


@pytest.mark.calibration
def test_large_parameters_are_shared(client, monkeypatch):
    from annomodels.executors import dask

    crew = dask.DaskTeam(client)
    monkeypatch.setattr(dask, "SHARED_FROM", 10)
    shared = crew.share(np.arange(100))
    assert isinstance(shared, distributed.Future)
    assert crew.outcomes([(0, np.sum, (shared,)), (1, np.max, (shared,))]) == [4950, 99]


@pytest.mark.calibration
@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
@pytest.mark.parametrize("settle", [1e9, 0.1], ids=["crowded", "settling"])
def test_killing_one_of_three_machines_twice_changes_nothing(data, own_client, monkeypatch, settle):
    """Once in the warm-up, once while draws are kept; new machines come, and get work or not."""
    from annomodels.executors import dask

    client = own_client
    monkeypatch.setattr(dask, "SETTLE", settle)
    _wait_for(client, 3)
    reference = am.fit(data, "hierarchical", **OPTIONS)
    killed: list[int] = []

    def kill():
        pids = set(client.run(os.getpid, on_error="ignore").values()) - set(killed)
        killed.append(min(pids))
        os.kill(killed[-1], signal.SIGKILL)

    def progress(stage, share, message):
        due = {"warm-up": 0, "sampling": 1}.get(stage)
        if due == len(killed) and share > 0.3:
            kill()

    fit = am.fit(data, "hierarchical", executor=client, partitions=4, progress=progress, **OPTIONS)
    assert len(killed) == 2
    assert_same(fit, reference)


@pytest.mark.calibration
@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
def test_a_stack_whose_sums_died_with_a_machine_is_made_again(data, own_client):
    client = own_client
    _wait_for(client, 3)
    options = {"chains": 2, "draws": 60, "warmup": 20, "seed": 4}
    reference = am.fit(data, "stack", **options)
    killed: list[int] = []
    told: list[str] = []

    def progress(stage, share, message):
        told.append(message)
        if stage == "coders" and not killed:
            killed.append(min(client.run(os.getpid, on_error="ignore").values()))
            os.kill(killed[0], signal.SIGKILL)

    fit = am.fit(data, "stack", executor=client, partitions=4, progress=progress, **options)
    assert len(killed) == 1
    assert "a machine was lost; trying again" in told
    assert_same(fit, reference)


@pytest.mark.calibration
@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
def test_a_machine_that_dies_in_the_middle_of_a_call_is_replaced(client, monkeypatch, tmp_path):
    """By one that is there, which has two places then, and by a new one when that has come.

    The cluster is that of the other tests: it is whole again at the end.
    """
    from annomodels.executors import dask
    from annomodels.executors.dask import DaskTeam
    from annomodels.executors.team import Lost

    _wait_for(client, 3)
    crew = DaskTeam(client)
    with _once(tmp_path / "begun", _kill_home, client, crew.homes[0]):
        found = crew.outcomes([(0, _hang, (tmp_path / "begun",)), (1, abs, (-1,))])
    assert isinstance(found[0], Lost)
    assert found[1] == 1
    before, there = set(crew.homes), crew._there
    lost = crew.homes[0]
    # the new machine may have come already
    with monkeypatch.context() as patch:
        patch.setattr(crew, "_there", lambda: {h: n for h, n in there().items() if h in before})
        crew.replace(0)
    assert crew.homes[0] != lost
    assert crew.outcomes([(0, abs, (-2,))]) == [2]
    assert len(set(crew.homes)) == 2
    _wait_for(client, 3)
    monkeypatch.setattr(dask, "SETTLE", 0.0)
    assert len(crew.settle()) == 1
    assert len(set(crew.homes)) == 3
    assert crew.settle() == []


@pytest.mark.calibration
@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
def test_a_call_is_lost_with_the_machine_it_went_to_wherever_its_place_is_now(own_client, tmp_path):
    """Another group of chains may have noticed first, and have moved the place."""
    from annomodels.executors.dask import DaskTeam
    from annomodels.executors.team import Lost

    _wait_for(own_client, 3)
    crew = DaskTeam(own_client)
    home = crew.homes[0]

    def kill_and_move():
        _kill_home(own_client, home)
        crew.homes[0] = crew.homes[1]

    with _once(tmp_path / "begun", kill_and_move):
        (found,) = crew.outcomes([(0, _hang, (tmp_path / "begun",))])
    assert isinstance(found, Lost)
    assert home in str(found)


def _wait_for(client, number):
    """Wait until so many machines are there.

    A LocalCluster may miss that one was killed, and then starts a new one only if asked for more.
    """
    import time

    for n in range(6000):
        if len(client.sync(client.scheduler.identity)["workers"]) >= number:
            return
        if n == 80:
            client.cluster.scale(number + 1)
        time.sleep(0.1)
    raise AssertionError("no new machine came")


def _hang(begun):
    """Say so in a file that the call has begun, and do not end."""
    import time

    begun.touch()
    while True:
        time.sleep(60)


@contextlib.contextmanager
def _once(begun, call, *args):
    """Call something, in a thread, as soon as a file is there."""
    import time

    def wait():
        while not begun.exists():
            time.sleep(0.01)
        call(*args)

    thread = threading.Thread(target=wait)
    thread.start()
    yield
    thread.join()


def _kill_home(client, home):
    with contextlib.suppress(Exception):
        os.kill(client.run(os.getpid, workers=[home])[home], signal.SIGKILL)
