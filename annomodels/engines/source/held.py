"""An opened partition, and the item data that it stores between calls."""

from __future__ import annotations

from copy import copy

import numpy as np

from annomodels.engines.source.itemsums import ItemSums, Stage
from annomodels.engines.source.partition import Partition
from annomodels.models.encoded import Encoded
from annomodels.types import AnyArray


class OpenBlock:
    """Opened partition."""

    def __init__(self, partition: Partition, alone: bool = False) -> None:
        self.partition = partition
        self.scratch = partition.scratch
        codes = partition.open()
        self.n_rows, self.n_labels = codes.n_rows, codes.n_labels
        self.first, self.n_items = partition.first, codes.n_patterns
        self.held = _opened(codes) if alone or not partition.streamed else None
        self.sums: dict[int, ItemSums] = {}
        # data that jobs store for later jobs
        self.memory: dict[str, AnyArray] = {}

    def copied(self) -> OpenBlock:
        """Return a block that shares the labels only, so that a job does not change this one."""
        other = copy(self)
        if self.held is not None:  # labels that came from another machine are read-only
            arrays, weight = self.held
            other.held = tuple(map(writable, arrays)), writable(weight)
        other.sums, other.scratch = {}, ""
        other.memory = {name: np.array(values) for name, values in self.memory.items()}
        return other

    def __sizeof__(self) -> int:
        # by which Dask decides whether to move it
        arrays = [] if self.held is None else [*self.held[0], self.held[1]]
        return sum(values.nbytes for values in [*arrays, *self.memory.values()])

    def open(self) -> tuple[tuple[AnyArray, ...], AnyArray]:
        """Return the first arguments of a pass, and the item weights; may read a file."""
        return _opened(self.partition.open()) if self.held is None else self.held

    def sums_of(self, chain: int, stage: Stage) -> ItemSums:
        """Return the sums of a chain; a new stage gets new sums."""
        sums = self.sums.get(chain)
        if sums is None or sums.stage != stage:
            sums = ItemSums(self.n_items, self.n_labels, stage, self.scratch)
            self.sums[chain] = sums
        return sums


def _opened(codes: Encoded) -> tuple[tuple[AnyArray, ...], AnyArray]:
    return tuple(writable(values) for values in codes.arrays), writable(codes.weight)


def writable(values: AnyArray) -> AnyArray:
    """Return a writable array, like data in memory: one type, so one compiled loop."""
    return np.require(values, requirements=["C", "W"])
