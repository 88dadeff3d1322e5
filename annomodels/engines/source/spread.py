"""Partitions distributed over a team: over threads of this process, or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from annomodels.engines.source.elsewhere import Elsewhere
from annomodels.engines.source.held import OpenBlock
from annomodels.engines.source.partition import ItemSource
from annomodels.executors.team import Remote, Sums, Team, Threads


class Spread:
    """A source whose partitions are assigned to a team."""

    def __init__(self, source: ItemSource, team: Team) -> None:
        self.source, self.team = source, team
        self.elsewhere = Elsewhere(source, team) if isinstance(team, Remote) else None
        self.here = self.elsewhere is None
        # one local part: nothing is dispatched, which would slow down small passes
        self.alone = self.here and len(source.partitions) == 1
        self.blocks: dict[int, OpenBlock] = {}

    def __enter__(self) -> Spread:
        return self

    def __exit__(self, *_: object) -> None:
        self.elsewhere = None  # the team forgets what nobody can ask for

    def sum(self, job: Callable[..., Sums], *arguments: object) -> Sums:
        """Run a job that returns new arrays on all partitions, and add the results."""
        if self.elsewhere is not None:
            return self.elsewhere.sum(job, arguments)
        found = self._done(job, arguments)
        total = next(found)
        for result in found:  # in order, for any number of threads
            for into, values in zip(total, result, strict=True):
                into += values
        return total

    def each[T](self, job: Callable[..., T], *arguments: object) -> list[T]:
        """Run a job on all partitions, and list the results."""
        if self.elsewhere is not None:
            return self.elsewhere.each(job, arguments)
        return list(self._done(job, arguments))

    def storing[T](self, job: Callable[..., T], *arguments: object) -> list[T]:
        """Run a job on all partitions, which hold what it stores, and list the results."""
        if self.elsewhere is not None:
            return self.elsewhere.storing(job, arguments)
        return self.each(job, *arguments)

    def _done[T](self, job: Callable[..., T], arguments: tuple[object, ...]) -> Iterator[T]:
        """Run a job on the partitions; each thread takes the next one that is left."""
        numbers = range(len(self.source.partitions))
        return cast("Threads", self.team).map(lambda n: job(self.block(n), *arguments), numbers)

    def block(self, number: int) -> OpenBlock:
        """Return an opened local partition."""
        if number not in self.blocks:
            partitions = self.source.partitions
            alone = len(partitions) <= self.team.places
            # if two threads come here at the same time, the first block counts
            self.blocks.setdefault(number, OpenBlock(partitions[number], alone))
        return self.blocks[number]
