"""A Dask cluster: each of its threads is a place, and work lost with a machine is repeated."""

from __future__ import annotations

import pickle
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

from annomodels.errors import EngineError
from annomodels.executors.team import Call, Lost, Remote, Sums, add

if TYPE_CHECKING:
    from distributed import Client, Future

# bytes from which arguments are broadcast to the machines instead of sent with each call
SHARED_FROM = 1_000_000
# number of results that are added in one place; more are added in a tree on the cluster
FAN = 8
# seconds without an answer after which to check which machines are alive
LOOK = 1.0
PATIENCE = 120.0
# seconds between checks for machines that replace lost ones
SETTLE = 10.0


class DaskTeam(Remote):
    """Threads of a Dask cluster."""

    # Calls are bound to machines, because each stores its part of the data. Another machine
    # replaces a lost one, and gets its part.

    rounds = 2  # a machine works for one round while the answers of the other are sent

    def __init__(self, client: Client) -> None:
        self.client = client
        self.homes = [home for home, threads in self._there().items() for _ in range(threads)]
        super().__init__(len(self.homes))
        self.crowded, self.looked = False, time.monotonic()
        # A client that has just released results waits before it sends the next calls. So futures
        # of the last rounds are released later.
        self.recent: deque[list[Future]] = deque(maxlen=self.rounds)

    def _there(self) -> dict[str, int]:
        """Return the live machines with their thread counts; wait for the first one."""
        began = time.monotonic()
        while True:
            # from the scheduler itself: the client's information may be out of date
            known = self.client.sync(self.client.scheduler.identity)["workers"]
            if known:
                return {home: int(known[home]["nthreads"]) for home in sorted(known)}
            if time.monotonic() - began > PATIENCE:
                raise EngineError(
                    f"The Dask cluster has had no worker for {PATIENCE:g} s. Start workers."
                )
            time.sleep(0.5)

    def outcomes[T](self, calls: Sequence[Call[T]]) -> list[T | Lost]:
        """Run calls on the cluster."""
        futures, homes = self._submit(calls)
        return self._gather(futures, homes, self._wait(futures, homes))

    def total(
        self, calls: Sequence[Call[Sums]]
    ) -> tuple[Sequence[Sums | Lost | None], Sums | None]:
        """Run calls and add their results, in a tree if there are many."""
        if len(calls) <= FAN:
            return super().total(calls)
        futures, homes = self._submit(calls)
        lost = self._wait(futures, homes)
        if any(lost):
            return self._gather(futures, homes, lost), None
        try:
            while len(futures) > 1:
                groups = [futures[n : n + FAN] for n in range(0, len(futures), FAN)]
                futures = [self.client.submit(add, *group, pure=False) for group in groups]
            return [None] * len(calls), futures[0].result()
        except _losses() as error:
            return [Lost(str(error))] * len(calls), None

    def share(self, values: object) -> object:
        """Send large values to each machine once."""
        if len(pickle.dumps(values, protocol=5)) < SHARED_FROM:
            return values
        try:
            return self.client.scatter([values], broadcast=True, hash=False)[0]
        except _losses(KeyError):
            # a machine was lost during the broadcast: send the values with each call
            return values

    def deliver(self, place: int, values: object) -> object:
        """Send values to one place, and return the argument for calls."""
        try:
            home = [self.homes[place]]
            return self.client.scatter([values], workers=home, hash=False)[0]
        except _losses(KeyError, ValueError):
            return values

    def replace(self, place: int) -> None:
        """Move a place whose machine is gone to the one with the fewest places per thread."""
        there = self._there()
        if self.homes[place] in there:
            return
        taken = Counter(self.homes)
        self.homes[place] = min(there, key=lambda home: (taken[home] / there[home], home))
        self.crowded = True

    def settle(self) -> list[int]:
        """Move places on crowded machines to new machines, and return them."""
        if not self.crowded or time.monotonic() - self.looked < SETTLE:
            return []
        there, taken = self._there(), Counter(self.homes)
        moved: list[int] = []
        for place, home in enumerate(self.homes):
            free = next((other for other in there if taken[other] < there[other]), None)
            if free is not None and taken[home] > there.get(home, 0):
                self.homes[place] = free
                taken.update({home: -1, free: 1})
                moved.append(place)
        self.crowded = any(taken[home] > there.get(home, 0) for home in taken)
        self.looked = time.monotonic()
        return moved

    def everywhere(self, function: Callable[..., object], *arguments: object) -> None:
        """Run a call on each machine, ignoring errors."""
        self.recent.clear()
        self.client.run(function, *arguments, on_error="ignore")

    def _submit(self, calls: Sequence[Call[object]]) -> tuple[list[Future], list[str]]:
        """Send calls; return their futures and machines."""
        # another thread may move a place while calls are running
        homes = [self.homes[place] for place, _, _ in calls]
        futures = [
            self.client.submit(function, *arguments, workers=[home], pure=False, priority=1)
            for (_, function, arguments), home in zip(calls, homes, strict=True)
        ]
        self.recent.append(futures)
        return futures, homes

    def _wait(self, futures: list[Future], homes: list[str]) -> list[Lost | None]:
        """Wait for calls; return a `Lost` for each that will not finish."""
        from distributed import wait

        lost: list[Lost | None] = [None] * len(futures)
        while True:
            open_ = [f for f, gone in zip(futures, lost, strict=True) if gone is None]
            try:
                with self.client.as_current():
                    wait(open_, timeout=LOOK)
                return lost
            except _losses():
                there = self._there()
            for n, home in enumerate(homes):
                gone = not futures[n].done() and home not in there
                if lost[n] is None and (gone or futures[n].cancelled()):
                    lost[n] = Lost(f"{home} is gone")
                    futures[n].cancel()

    def _gather(
        self, futures: list[Future], homes: list[str], lost: list[Lost | None]
    ) -> list[Any]:
        good = [
            n for n, gone in enumerate(lost) if gone is None and futures[n].status == "finished"
        ]
        out: list[Any] = list(lost)
        try:
            found = self._fetch([futures[n] for n in good], {homes[n] for n in good})
        except _losses() as error:
            found = [Lost(str(error))] * len(good)
        for n, value in zip(good, found, strict=True):
            out[n] = value
        for n, gone in enumerate(lost):
            if gone is None and n not in good:
                try:
                    out[n] = futures[n].result(timeout=LOOK)
                except _losses(Lost) as error:
                    out[n] = Lost(str(error))
        return out

    def _fetch(self, futures: list[Future], homes: set[str]) -> list[Any]:
        """Fetch results, with a timeout: results lost with a machine would never come."""
        patience = 10 * LOOK
        while True:
            fetching = self.client.gather(futures, asynchronous=True)
            try:
                return list(self.client.sync(_awaited, fetching, callback_timeout=patience))
            except TimeoutError:
                if patience > 20 * LOOK or not homes <= set(self._there()):
                    raise
                patience *= 2


async def _awaited(fetching: Awaitable[object]) -> object:
    return await fetching


def _losses(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """Return the errors for a lost machine or lost data."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    return CancelledError, KilledWorker, CommClosedError, TimeoutError, *more
