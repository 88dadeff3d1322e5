"""On a Dask cluster the draws are the same, also when machines die."""

import contextlib
import logging
import os
import signal

import numpy as np
import pytest

import annomodels as am
from annomodels.errors import EngineError
from annomodels.models.catalog import is_stack
from tests.engines.crowds import assert_same, p_truth

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed")

OPTIONS = {"chains": 2, "draws": 60, "warmup": 20, "seed": 4, "extend": False}


@pytest.fixture(scope="module")
def client():
    with _cluster(2) as client:
        yield client


@pytest.fixture
def own_client():
    """Give a cluster of its own to a test that kills machines of it."""
    with _cluster() as client:
        yield client


@contextlib.contextmanager
def _cluster(machines=3):
    for name in ("distributed.nanny", "distributed.scheduler", "distributed.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    cluster = distributed.LocalCluster(
        n_workers=machines, threads_per_worker=1, processes=True, dashboard_address=":0"
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
    assert is_stack(fit.model)
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
    calls = [crew.submit(divmod, n, 3) for n in range(3 * FAN)]
    total = crew.total(calls)
    assert total == (sum(n // 3 for n in range(3 * FAN)), sum(n % 3 for n in range(3 * FAN)))


@pytest.mark.calibration
def test_results_that_take_long_to_arrive_are_waited_for(client, monkeypatch):
    from annomodels.executors import dask

    monkeypatch.setattr(dask, "ARRIVAL", 1e-6)  # no result arrives within this time
    crew = dask.DaskTeam(client)
    for n in range(50):
        assert crew.values([crew.submit(divmod, n, 3)]) == [divmod(n, 3)]
    assert client.gather(client.submit(divmod, 7, 3)) == (2, 1), "others' requests go on"


@pytest.mark.calibration
def test_large_parameters_are_shared(client, monkeypatch):
    from annomodels.executors import dask

    crew = dask.DaskTeam(client)
    monkeypatch.setattr(dask, "SHARED_FROM", 10)
    shared = crew.share(np.arange(100))
    assert isinstance(shared, distributed.Future)
    assert crew.values([crew.submit(np.sum, shared), crew.submit(np.max, shared)]) == [4950, 99]


@pytest.mark.calibration
@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
@pytest.mark.parametrize("due", [("warm-up", "sampling"), ("starting", "items")], ids=str)
def test_killing_one_of_three_machines_twice_changes_nothing(data, own_client, due):
    """In the middle of both stages, or in the first and in the last step."""
    client = own_client
    _wait_for(client, 3)
    reference = am.fit(data, "hierarchical", **OPTIONS)
    killed: list[int] = []

    def kill():
        pids = set(client.run(os.getpid, on_error="ignore").values()) - set(killed)
        killed.append(min(pids))
        os.kill(killed[-1], signal.SIGKILL)

    def progress(stage, share, message):
        late = share > 0.3 or stage in ("starting", "items")
        if due[len(killed) :][:1] == (stage,) and late:
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

    def progress(stage, share, message):
        if stage == "coders" and not killed:
            killed.append(min(client.run(os.getpid, on_error="ignore").values()))
            os.kill(killed[0], signal.SIGKILL)

    fit = am.fit(data, "stack", executor=client, partitions=4, progress=progress, **options)
    assert len(killed) == 1
    assert_same(fit, reference)


@pytest.mark.calibration
@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
def test_a_call_whose_machine_dies_in_the_middle_of_it_is_made_again(own_client, tmp_path):
    from annomodels.executors.dask import DaskTeam

    _wait_for(own_client, 3)
    crew = DaskTeam(own_client)
    assert crew.places == 3
    begun = tmp_path / "begun"
    assert crew.values([crew.submit(_dies_once, begun, 5), crew.submit(abs, -1)]) == [5, 1]


@pytest.mark.calibration
@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
def test_a_call_that_kills_every_machine_ends_the_run_with_one_sentence(own_client):
    from annomodels.executors.dask import DaskTeam

    crew = DaskTeam(own_client)
    with pytest.raises(EngineError, match="check the cluster's workers"):
        crew.values([crew.submit(_dies)])


@pytest.mark.calibration
def test_a_cluster_without_a_machine_is_said_so(monkeypatch):
    from annomodels.executors import dask

    monkeypatch.setattr(dask, "PATIENCE", 0.1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as empty,
        pytest.raises(EngineError, match=r"has had no worker for 0\.1 s\. Start workers\."),
    ):
        dask.DaskTeam(empty)


@pytest.mark.calibration
def test_machines_that_are_all_gone_are_said_so(monkeypatch):
    from annomodels.executors import dask

    monkeypatch.setattr(dask, "PATIENCE", 1.0)
    with (
        distributed.LocalCluster(1, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        crew = dask.DaskTeam(client)
        cluster.scale(0)
        with pytest.raises(EngineError, match=r"has had no worker for 1 s\. Start workers\."):
            crew.values([crew.submit(abs, -1)])


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


def _dies_once(begun, value):
    """Kill the machine of the first call; the next one finds a file and returns."""
    if not begun.exists():
        begun.touch()
        _dies()
    return value


def _dies():
    os.kill(os.getpid(), signal.SIGKILL)
