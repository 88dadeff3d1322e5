"""Partitions spread over a team: sent once, kept there, sent again where they were lost."""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from annomodels.data.schema import RawResult
from annomodels.engines.settings import Settings
from annomodels.engines.source.held import Block, carry_out, forget, take_from
from annomodels.engines.source.partition import Source
from annomodels.errors import EngineError
from annomodels.executors.team import Call, Lost, Serial, Sums, Team, Threads, add

ATTEMPTS = 20
# partitions whose results are added here one after the other, whatever the number of threads
IN_ORDER = 8


class Forgotten(EngineError):
    """What was kept of some items went with the machine that held it: the run is made again."""


LOST = "What was kept of some items was lost with the machine that held it."


class Spread:
    """A source whose partitions lie with a team."""

    def __init__(self, source: Source, team: Team) -> None:
        self.source, self.team = source, team
        self.token = secrets.token_hex(8)
        self.places = _shared_out([p.n_annotations for p in source.partitions], team.places)
        self.sent: set[int] = set()
        # one part of this process: nothing is carried anywhere, which a small pass would notice
        plain = type(team).outcomes in (Serial.outcomes, Threads.outcomes)
        self.alone = plain and len(source.partitions) == 1
        self.block: Block | None = None
        # rounds of several threads may be on the way at a time
        self.lock = threading.Lock()

    def __enter__(self) -> Spread:
        return self

    def __exit__(self, *_: object) -> None:
        self.team.everywhere(forget, self.token)

    @property
    def complete(self) -> bool:
        """Return True if all places have been sent their partitions."""
        return self.alone or len(self.sent) == len(self.places)

    def sum(self, job: Callable[..., Sums], *arguments: object, counted: bool = False) -> Sums:
        """Do a job that gives a tuple of arrays on all partitions, and add the results."""
        if counted and self.team.here and 1 < self.team.places < len(self.source.partitions):
            return self._from_a_pile(job, arguments)
        if self.team.here and len(self.source.partitions) <= IN_ORDER:
            return add(*self.each(job, *arguments))
        found, total = self._rounds(job, arguments, None, adding=True)
        return add(*found) if total is None else total

    def each[T](
        self,
        job: Callable[..., T],
        *arguments: object,
        own: Sequence[tuple[object, ...]] | None = None,
    ) -> list[T]:
        """Do a job on all partitions, and list the results; `own` are arguments of each."""
        if self.alone and own is None:
            if self.block is None:
                self.block = Block(self.source.partitions[0], alone=True)
            return [job(self.block, *arguments)]
        found, _ = self._rounds(job, arguments, own, adding=False)
        return [result for part in found for result in part]

    def _from_a_pile(self, job: Callable[..., Sums], arguments: tuple[object, ...]) -> Sums:
        pile = deque(enumerate(self.source.partitions))
        call = (self.token, pile, job, arguments)
        outcomes = self.team.outcomes([(n, take_from, call) for n in range(self.team.places)])
        found = [part for part in outcomes if not isinstance(part, Lost)]  # no thread is lost
        self.sent.update(range(len(self.places)))
        rest = {number: values for _, of in found for number, values in of.items()}
        whole = add(*(total for total, _ in found if total is not None))
        return *whole, *add(*(rest[number] for number in sorted(rest)))

    def _rounds(
        self,
        job: Callable[..., object],
        arguments: tuple[object, ...],
        own: Sequence[tuple[object, ...]] | None,
        adding: bool,
    ) -> tuple[list[Any], Any]:
        """Call all places, those again that were lost; give their results, or the sum."""
        with self.lock:
            self.sent.difference_update(self.team.settle())
        found: list[Any] = [None] * len(self.places)
        waiting = list(range(len(self.places)))
        shared = self.team.share(arguments)
        for attempt in range(ATTEMPTS):
            calls = [self._call(place, job, shared, own, adding) for place in waiting]
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
                shared = arguments  # what was shared may be lost too
        raise EngineError("Parts of the data were lost again and again; the cluster does not last.")

    def _call(
        self,
        place: int,
        job: Callable[..., object],
        shared: object,
        own: Sequence[tuple[object, ...]] | None,
        adding: bool,
    ) -> Call[Any]:
        numbers = self.places[place]
        parts: Any = None
        if place not in self.sent:
            parts = [self.source.partitions[n] for n in numbers]
            parts = self.team.deliver(place, parts)
        mine = None if own is None else [own[n] for n in numbers]
        return place, carry_out, (self.token, numbers, job, shared, mine, adding, parts)


def _shared_out(sizes: Sequence[int], places: int) -> list[list[int]]:
    """Assign each place a run of partitions with about as many labels."""
    labels = np.asarray(sizes, dtype=float)
    middle = np.cumsum(labels) - labels / 2.0
    place = np.minimum((middle / max(labels.sum(), 1.0) * places).astype(int), places - 1)
    runs = [np.flatnonzero(place == n).tolist() for n in range(places)]
    return [run for run in runs if run]


def repeated(
    run: Callable[[Spread], RawResult], source: Source, crew: Team, settings: Settings
) -> RawResult:
    """Do a run that keeps what it needs with a team, again where some of that was lost."""
    try:
        for attempt in range(ATTEMPTS):
            try:
                with Spread(source, crew) as spread:
                    return run(spread)
            except Forgotten:
                if attempt == ATTEMPTS - 1:
                    raise
                settings.tell("items", 0.0, "a machine was lost; once more")
        raise AssertionError
    finally:
        if crew is not settings.executor:
            crew.close()
