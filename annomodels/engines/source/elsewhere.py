"""Remote partitions: sent once, stored there, and sent again if lost."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from annomodels.engines.source.held import Block
from annomodels.engines.source.partition import Partition, Source
from annomodels.errors import EngineError
from annomodels.executors.team import Call, Lost, Remote, Sums, add

ATTEMPTS = 20
# partitions with sums over their items, by run and number, which a process stores between calls
HELD: dict[tuple[str, int], Block] = {}
# time of the last call per run; a run without calls for hours was killed
HEARD: dict[str, float] = {}
IDLE = 6 * 3600.0


class Elsewhere:
    """Partitions assigned to a remote team."""

    def __init__(self, source: Source, team: Remote) -> None:
        self.partitions, self.team = source.partitions, team
        self.token = secrets.token_hex(8)
        self.places = _shared_out([p.n_annotations for p in source.partitions], team.places)
        self.sent: set[int] = set()
        # several threads may have rounds in progress
        self.lock = threading.Lock()

    def close(self) -> None:
        """Remove the partitions from all places."""
        self.team.everywhere(forget, self.token)

    @property
    def complete(self) -> bool:
        """Return True if all places have been sent their partitions."""
        return len(self.sent) == len(self.places)

    def sum(self, job: Callable[..., Sums], arguments: tuple[object, ...]) -> Sums:
        """Run a job that returns a tuple of arrays on all partitions, and add the results."""
        found, total = self._rounds(job, arguments, adding=True)
        return add(*found) if total is None else total

    def each[T](self, job: Callable[..., T], arguments: tuple[object, ...]) -> list[T]:
        """Run a job on all partitions, and list the results."""
        found, _ = self._rounds(job, arguments, adding=False)
        return [result for part in found for result in part]

    def _rounds(
        self, job: Callable[..., object], arguments: tuple[object, ...], adding: bool
    ) -> tuple[list[Any], Any]:
        """Call all places, repeating lost calls; return their results, or the sum."""
        with self.lock:
            self.sent.difference_update(self.team.settle())
        found: list[Any] = [None] * len(self.places)
        waiting = list(range(len(self.places)))
        shared = self.team.share(arguments)
        for attempt in range(ATTEMPTS):
            calls = [self._call(place, job, shared, adding) for place in waiting]
            whole = adding and len(waiting) == len(self.places)
            outcomes, total = self.team.total(calls) if whole else (None, None)
            if total is not None:
                self.sent.update(waiting)
                return found, total
            outcomes = self.team.outcomes(calls) if outcomes is None else outcomes
            lost: list[int] = []
            for place, outcome in zip(waiting, outcomes, strict=True):
                if isinstance(outcome, Lost):
                    lost.append(place)
                    with self.lock:
                        self.sent.discard(place)
                        self.team.replace(place)
                else:
                    self.sent.add(place)
                    found[place] = outcome
            if not lost:
                return found, None
            waiting = lost
            if attempt:
                shared = arguments  # the shared arguments may be lost, too
        raise EngineError("Parts of the data were lost repeatedly: check the cluster's workers.")

    def _call(
        self, place: int, job: Callable[..., object], shared: object, adding: bool
    ) -> Call[Any]:
        numbers = self.places[place]
        parts: Any = None
        if place not in self.sent:
            parts = self.team.deliver(place, [self.partitions[n] for n in numbers])
        return place, carry_out, (self.token, numbers, job, shared, adding, parts)


def _shared_out(sizes: Sequence[int], places: int) -> list[list[int]]:
    """Assign each place consecutive partitions with about as many labels."""
    labels = np.asarray(sizes, dtype=float)
    middle = np.cumsum(labels) - labels / 2.0
    place = np.minimum((middle / max(labels.sum(), 1.0) * places).astype(int), places - 1)
    runs = [np.flatnonzero(place == n).tolist() for n in range(places)]
    return [run for run in runs if run]


# -- where the partitions lie --------------------------------------------------------------------


def carry_out(
    token: str,
    numbers: Sequence[int],
    job: Callable[..., Any],
    arguments: tuple[object, ...],
    adding: bool,
    partitions: Sequence[Partition] | None,
) -> Any:
    """Run a job on partitions that are stored here; first store those that were sent."""
    HEARD[token] = time.monotonic()
    if partitions is not None:
        _drop_idle()
        for number, partition in zip(numbers, partitions, strict=True):
            if (token, number) not in HELD:
                HELD[token, number] = Block(partition, alone=len(numbers) == 1)
    total: Any = None
    listed: list[Any] = []
    for number in numbers:
        block = HELD.get((token, number))
        if block is None:
            raise Lost(f"partition {number} is not here")
        result = job(block, *arguments)
        if adding:
            total = result if total is None else add(total, result)
        else:
            listed.append(result)
    return total if adding else listed


def forget(token: str) -> None:
    """Remove the stored partitions of a run."""
    for key in [key for key in list(HELD) if key[0] == token]:
        HELD.pop(key, None)
    HEARD.pop(token, None)


def _drop_idle() -> None:
    now = time.monotonic()
    for token in [token for token, heard in list(HEARD.items()) if now - heard > IDLE]:
        forget(token)
