"""What a process keeps between calls: the partitions it was given, and sums over their items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.engines.itemsums import ItemSums
from annomodels.engines.partition import Partition
from annomodels.executors.team import Lost, add

__all__ = ["Block", "carry_out", "forget"]

HELD: dict[tuple[str, int], Block] = {}


class Block:
    """A partition that has been opened.

    Parameters
    ----------
    partition
        The partition.
    """

    def __init__(self, partition: Partition) -> None:
        codes = partition.open()
        self.partition = partition
        self.n_rows, self.n_labels = codes.n_rows, codes.n_labels
        self.first, self.n_items = partition.first, codes.n_patterns
        self.arrays = tuple(_open(values) for values in codes.arrays)
        self.weight = _open(codes.weight)
        self.sums: dict[int, ItemSums] = {}

    def sums_of(self, chain: int, stage: int, length: int) -> ItemSums:
        """Give the sums of a chain, new ones where a new stage begins."""
        held = self.sums.get(chain)
        if held is None or held.stage != stage:
            held = ItemSums(self.n_items, self.n_labels, stage, length)
            self.sums[chain] = held
        return held


def _open(values: NDArray[Any]) -> NDArray[Any]:
    """Array that can be written to, as data in memory can: one kind, so one compiled loop."""
    return np.require(values, requirements=["C", "W"])


def carry_out(
    token: str,
    numbers: Sequence[int],
    job: Callable[..., Any],
    arguments: tuple[Any, ...],
    own: Sequence[tuple[Any, ...]] | None,
    adding: bool,
    partitions: Sequence[Partition] | None,
) -> Any:
    """Do a job on partitions that are kept here.

    Parameters
    ----------
    token
        Which run they belong to.
    numbers
        Which partitions.
    job
        Called with a block and the arguments.
    arguments, own
        Arguments for all partitions, and further ones for each.
    adding
        Whether the results, tuples of arrays, are added; else they are listed.
    partitions
        The partitions, where they may not be here yet.

    Raises
    ------
    Lost
        When a partition is not here.
    """
    total: Any = None
    listed: list[Any] = []
    for place, number in enumerate(numbers):
        block = HELD.get((token, number))
        if block is None:
            if partitions is None:
                raise Lost(f"partition {number} is not here")
            block = HELD[token, number] = Block(partitions[place])
        result = job(block, *arguments, *(own[place] if own is not None else ()))
        if adding:
            total = result if total is None else add(total, result)
        else:
            listed.append(result)
    return total if adding else listed


def forget(token: str) -> None:
    """Drop what is kept for a run."""
    for key in [key for key in HELD if key[0] == token]:
        HELD.pop(key, None)
