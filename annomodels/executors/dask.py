"""A Dask cluster: results stay there as futures, and are computed again if a machine is lost."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from annomodels.errors import EngineError
from annomodels.executors.team import Remote, Sums, add

if TYPE_CHECKING:
    from distributed import Client, Future

# bytes from which arguments are sent to the cluster once instead of with each call
SHARED_FROM = 1_000_000
# number of results that are added in one place; more are added in a tree on the cluster
FAN = 8
# calls that raised an error are repeated: a file may be unreadable for a moment
RETRIES = 2
# seconds without an answer after which to check whether there are machines
LOOK = 1.0
PATIENCE = 120.0
# seconds in which a result arrives, or its machine is gone
ARRIVAL = 30.0
# setting of Dask: size of a call from which it warns
LARGE = "distributed.admin.large-graph-warning-threshold"


class DaskTeam(Remote):
    """Threads of a Dask cluster."""

    rounds = 2  # a machine works for one round while the answers of the other are sent

    def __init__(self, client: Client) -> None:
        self.client = client
        super().__init__(self._threads())
        self.submitting = Lock()
        # A client that has just released results waits before it sends the next calls. So futures
        # of the last calls are released later.
        self.recent: deque[Future] = deque(maxlen=self.rounds * self.places)

    def _threads(self) -> int:
        """Return the number of threads of all live machines; wait for the first one."""
        began = time.monotonic()
        while True:
            # from the scheduler itself: the client's information may be out of date
            known = self.client.sync(self.client.scheduler.identity)["workers"]
            if known:
                return sum(int(about["nthreads"]) for about in known.values())
            if time.monotonic() - began > PATIENCE:
                raise EngineError(
                    f"The Dask cluster has had no worker for {PATIENCE:g} s. Start workers."
                )
            time.sleep(0.5)

    def submit(self, function: Callable[..., object], *arguments: object) -> Future:
        """Call a function on the cluster; its arguments stay with the scheduler."""
        import dask

        # Values of a call are part of the graph, so that it can be repeated. The settings of Dask
        # are those of the process, and several chains submit calls.
        with self.submitting, dask.config.set({LARGE: "1 PB"}):
            future = self.client.submit(
                function, *arguments, pure=False, priority=1, retries=RETRIES
            )
        self.recent.append(future)
        return future

    def close(self) -> None:
        """Let the cluster drop the results of the last calls."""
        self.recent.clear()

    def values(self, promises: Sequence[Future]) -> list[Any]:
        """Wait for results and fetch them."""
        requests: set[asyncio.Future[Any]] = set()
        patience = ARRIVAL
        with _explained():
            while True:
                self._wait(promises)
                done = self.client.sync(self._asked, promises, requests, patience)
                if done:
                    return list(done.pop().result())
                # lost with a machine on their way, and computed again; or only large
                patience *= 2

    async def _asked(
        self, promises: Sequence[Future], requests: set[asyncio.Future[Any]], patience: float
    ) -> set[asyncio.Future[Any]]:
        """Ask for results, once more if there are requests, and return those answered in time.

        A request is never canceled: if it has not begun, all later ones would wait for it in vain.
        """
        request = asyncio.ensure_future(self.client.gather(list(promises), asynchronous=True))
        request.add_done_callback(_heard)
        requests.add(request)
        done, _ = await asyncio.wait(
            requests, timeout=patience, return_when=asyncio.FIRST_COMPLETED
        )
        return done

    def total(self, promises: Sequence[Future]) -> Sums:
        """Add results, in a tree if there are many."""
        left = list(promises)
        while len(left) > FAN:
            left = [self.submit(add, *left[n : n + FAN]) for n in range(0, len(left), FAN)]
        return super().total(left)

    def share(self, values: object) -> object:
        """Send large values to the cluster once."""
        from dask.sizeof import sizeof

        return values if sizeof(values) < SHARED_FROM else self.submit(_itself, values)

    def _wait(self, futures: Sequence[Future]) -> None:
        from distributed import wait

        while True:
            try:
                with self.client.as_current():
                    wait(futures, timeout=LOOK)
                return
            except TimeoutError:
                self._threads()


def _itself[T](values: T) -> T:
    return values


def _heard(request: asyncio.Future[object]) -> None:
    """Take note of the error of a request that is no longer waited for, so that none is logged."""
    if not request.cancelled():
        request.exception()


@contextmanager
def _explained() -> Iterator[None]:
    """Turn errors for lost machines into one sentence."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except (CancelledError, KilledWorker, CommClosedError) as error:
        raise EngineError(
            "Parts of the data were lost repeatedly: check the cluster's workers."
        ) from error
