"""Remote partitions: opened by the places of a team, and again where a place is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from annomodels.engines.source.held import OpenBlock
from annomodels.engines.source.partition import ItemSource, Partition
from annomodels.executors.team import Remote, Sums, add


class Elsewhere:
    """Partitions assigned to a remote team."""

    # Jobs see copies of the blocks. What a job stores is a new promise of the blocks, which the
    # team can keep again: nothing else is held at a place.

    def __init__(self, source: ItemSource, team: Remote) -> None:
        self.team = team
        runs = _shared_out([p.n_annotations for p in source.partitions], team.places)
        self.blocks = [team.submit(_opened, [source.partitions[n] for n in run]) for run in runs]

    def sum(self, job: Callable[..., Sums], arguments: tuple[object, ...]) -> Sums:
        """Run a job that returns a tuple of arrays on all partitions, and add the results."""
        return self.team.total(self._called(_added, job, arguments))

    def each[T](self, job: Callable[..., T], arguments: tuple[object, ...]) -> list[T]:
        """Run a job on all partitions, and list the results."""
        return self._listed(self._called(_each, job, arguments))

    def storing[T](self, job: Callable[..., T], arguments: tuple[object, ...]) -> list[T]:
        """Run a job on all partitions, which hold what it stores, and list the results."""
        both = self._called(_storing, job, arguments)
        self.blocks = [self.team.submit(itemgetter(0), pair) for pair in both]
        return self._listed([self.team.submit(itemgetter(1), pair) for pair in both])

    def _called(
        self, call: Callable[..., object], job: Callable[..., object], arguments: tuple[object, ...]
    ) -> list[Any]:
        shared = self.team.share(arguments)
        return [self.team.submit(call, job, blocks, shared) for blocks in self.blocks]

    def _listed(self, promises: Sequence[Any]) -> list[Any]:
        return [result for found in self.team.values(promises) for result in found]


def _shared_out(sizes: Sequence[int], places: int) -> list[list[int]]:
    """Assign each place consecutive partitions with about as many labels."""
    labels = np.asarray(sizes, dtype=float)
    middle = np.cumsum(labels) - labels / 2.0
    place = np.minimum((middle / max(labels.sum(), 1.0) * places).astype(int), places - 1)
    runs = [np.flatnonzero(place == n).tolist() for n in range(places)]
    return [run for run in runs if run]


# -- where the partitions lie --------------------------------------------------------------------


def _opened(partitions: Sequence[Partition]) -> list[OpenBlock]:
    return [OpenBlock(partition, alone=len(partitions) == 1) for partition in partitions]


def _each[T](
    job: Callable[..., T], blocks: Sequence[OpenBlock], arguments: tuple[object, ...]
) -> list[T]:
    return [job(block.copied(), *arguments) for block in blocks]


def _added(
    job: Callable[..., Sums], blocks: Sequence[OpenBlock], arguments: tuple[object, ...]
) -> Sums:
    total: Sums | None = None
    for block in blocks:
        result = job(block.copied(), *arguments)
        total = result if total is None else add(total, result)
    assert total is not None
    return total


def _storing[T](
    job: Callable[..., T], blocks: Sequence[OpenBlock], arguments: tuple[object, ...]
) -> tuple[list[OpenBlock], list[T]]:
    changed = [block.copied() for block in blocks]
    return changed, [job(block, *arguments) for block in changed]
