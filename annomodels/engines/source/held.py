"""Memory of a process between calls: its partitions, and sums over their items."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from annomodels.engines.source.itemsums import ItemSums, Stage
from annomodels.engines.source.partition import Partition
from annomodels.executors.team import Lost, Sums, add
from annomodels.models.encoded import Encoded
from annomodels.types import AnyArray

HELD: dict[tuple[str, int], Block] = {}
# when a run was last heard of; what nobody asks for in hours is of a run that was killed
HEARD: dict[str, float] = {}
IDLE = 6 * 3600.0


class Block:
    """Opened partition."""

    # A ``streamed`` partition is opened again for every pass, and holds nothing in between, unless
    # it is the only one of its place; one that names a folder for ``scratch`` has its sums in files
    # there.

    def __init__(self, partition: Partition, alone: bool = False) -> None:
        self.partition = partition
        self.scratch: str = getattr(partition, "scratch", "")
        codes = partition.open()
        self.n_rows, self.n_labels = codes.n_rows, codes.n_labels
        self.first, self.n_items = partition.first, codes.n_patterns
        streamed: bool = getattr(partition, "streamed", False)
        self.held = _opened(codes) if alone or not streamed else None
        self.sums: dict[int, ItemSums] = {}
        # what jobs leave here for later ones
        self.memory: dict[str, Any] = {}

    def open(self) -> tuple[tuple[AnyArray, ...], AnyArray]:
        """Return what a pass begins with, and the weights of the items; may read a file."""
        return _opened(self.partition.open()) if self.held is None else self.held

    def sums_of(self, chain: int, stage: Stage) -> ItemSums:
        """Return the sums of a chain, new ones where a new stage begins."""
        sums = self.sums.get(chain)
        if sums is None or sums.stage != stage:
            sums = ItemSums(self.n_items, self.n_labels, stage, self.scratch)
            self.sums[chain] = sums
        return sums


def _opened(codes: Encoded) -> tuple[tuple[AnyArray, ...], AnyArray]:
    return tuple(writable(values) for values in codes.arrays), writable(codes.weight)


def writable(values: AnyArray) -> AnyArray:
    """Return a writable array, as data in memory are: one type, so one compiled loop."""
    return np.require(values, requirements=["C", "W"])


def carry_out(
    token: str,
    numbers: Sequence[int],
    job: Callable[..., Any],
    arguments: tuple[object, ...],
    own: Sequence[tuple[object, ...]] | None,
    adding: bool,
    partitions: Sequence[Partition] | None,
) -> Any:
    """Do a job on partitions that are kept here."""
    HEARD[token] = time.monotonic()
    total: Any = None
    listed: list[Any] = []
    for place, number in enumerate(numbers):
        partition = None if partitions is None else partitions[place]
        block = _block(token, number, partition, alone=len(numbers) == 1)
        result = job(block, *arguments, *(own[place] if own is not None else ()))
        if adding:
            total = result if total is None else add(total, result)
        else:
            listed.append(result)
    return total if adding else listed


def take_from(
    token: str,
    pile: deque[tuple[int, Partition]],
    job: Callable[..., Sums],
    arguments: tuple[object, ...],
) -> tuple[Sums | None, dict[int, Sums]]:
    """Do a job on partitions of a pile until it is empty; others may take from it as well."""
    HEARD[token] = time.monotonic()
    total: Sums | None = None
    rest: dict[int, Sums] = {}
    while True:
        try:
            number, partition = pile.popleft()
        except IndexError:
            return total, rest
        found: Sums = job(_block(token, number, partition), *arguments)
        whole = tuple(values for values in found if values.dtype.kind == "i")
        rest[number] = tuple(values for values in found if values.dtype.kind != "i")
        if total is None:
            total = whole
        else:
            for into, values in zip(total, whole, strict=True):
                into += values


def _block(token: str, number: int, partition: Partition | None, alone: bool = False) -> Block:
    """Partition that is held here, or is held from now on."""
    block = HELD.get((token, number))
    if block is None:
        if partition is None:
            raise Lost(f"partition {number} is not here")
        _drop_idle()
        block = HELD[token, number] = Block(partition, alone)
    return block


def forget(token: str) -> None:
    """Drop what is kept for a run."""
    for key in [key for key in list(HELD) if key[0] == token]:
        HELD.pop(key, None)
    HEARD.pop(token, None)


def _drop_idle() -> None:
    now = time.monotonic()
    for token in [token for token, heard in list(HEARD.items()) if now - heard > IDLE]:
        forget(token)
