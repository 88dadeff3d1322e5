"""Sums over the stored draws of a chain for the items of a partition, where the items are."""

# Draws are in batches, whose means give Monte Carlo errors. An incomplete batch can be dropped, so
# that the sums of an interrupted run can be completed from the stored parameters.

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from annomodels.engines.kept import total_gaps
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    from annomodels.kernels.passes import DrawSums


# maximum size of P(state) for all items
MOST_STATES = 50_000_000


@dataclass(frozen=True, eq=False)
class ItemMeans:
    """Means over all chains for the items of a partition."""

    p_truth: Floats  # class probabilities and their Monte Carlo errors, shape [item, truth]
    p_truth_mcse: Floats
    # mean entropy of the class probabilities given the parameters, shape [item], in nats
    conditional_entropy: Floats
    # sum over the items of the total variation distances of chains, shape [chain, chain]
    gaps: Floats
    # means of the state values of an item, and of their squares, shape [2, value, item]
    values: Floats = field(default_factory=lambda: np.zeros((2, 0, 0)))
    # shape [item, state]; no state if P(state) was not summed
    p_state: Floats = field(default_factory=lambda: np.zeros((0, 0)))


def with_room(n_states: int, n_items: int) -> int:
    """Return the number of states whose probabilities are summed: 0 if there are too many."""
    return n_states if n_items * n_states <= MOST_STATES else 0


@dataclass(frozen=True)
class Stage:
    """Stage of a run, and the sizes of its sums."""

    number: int
    length: int  # number of draws in a batch
    states: int = 0  # number of states whose probabilities are summed, 0 if none
    values: int = 0  # number of state values


class ItemSums:
    """Sums over the stored draws of one chain."""

    def __init__(self, n_items: int, n_classes: int, stage: Stage, scratch: str = "") -> None:
        self.stage, self.length = stage, stage.length
        shape = n_items, n_classes
        self.batch, self.p_sum, self.p_square = (room(shape, scratch) for _ in range(3))
        self.open_entropy, self.entropy = (room((n_items,), scratch) for _ in range(2))
        self.p_state = room((n_items if stage.states else 0, stage.states), scratch)
        values = stage.values, n_items
        self.value_sum, self.value_square = (room(values, scratch) for _ in range(2))
        # sums over all draws, from which no batch can be removed
        self.of_states = self.p_state, self.value_sum, self.value_square
        self.open: list[int] = []
        self.closed: set[int] = set()

    def sums(self, order: Ints | None = None) -> DrawSums:
        """Return the arrays that a pass adds a draw to, class k at position `order[k]`."""
        from annomodels.kernels.passes import DrawSums

        places = np.arange(self.batch.shape[1]) if order is None else np.asarray(order)
        return DrawSums(self.batch, self.open_entropy, *self.of_states, places)

    @property
    def places(self) -> tuple[Floats, ...]:
        """Arrays of a loop over draws: open batch, all batches, their squares, entropies."""
        return self.batch, self.p_sum, self.p_square, self.entropy

    def hold(self, n: int) -> None:
        """Record that a loop has added `n` draws, and closed the complete batches."""
        full = n // self.length
        self.closed, self.open = set(range(full)), list(range(full * self.length, n))

    def clear(self) -> None:
        """Remove all draws."""
        self.open, self.closed = [], set()
        once = self.batch, self.open_entropy, self.p_sum, self.p_square, self.entropy
        for values in (*once, *self.of_states):
            values[:] = 0.0

    def drop(self) -> None:
        """Remove the open batch, or all draws if it cannot be removed from the sums."""
        if self.open and any(values.size for values in self.of_states):
            self.clear()
        self._reopen()

    def _reopen(self) -> None:
        self.open = []
        self.batch[:] = 0.0
        self.open_entropy[:] = 0.0

    def note(self, draw: int) -> None:
        """Record that a draw was added to the open batch, and close a complete batch."""
        self.open.append(draw)
        if len(self.open) == self.length:
            self.close()

    def close(self) -> None:
        """Add the open batch to the batch means."""
        from annomodels.kernels.products import close_batch

        # a single loop, without the temporary arrays of numpy
        close_batch(self.batch, len(self.open), self.p_sum, self.p_square)
        self.entropy += self.open_entropy
        self.closed.add(self.open[0] // self.length)
        self._reopen()

    def missing(self, n: int) -> list[int]:
        """Return the batches of the first `n` draws that are not in the sums."""
        full, rest = divmod(n, self.length)
        if any(number >= full for number in self.closed):
            # the run stopped after a draw was added here, before its parameters were stored
            self.clear()
        out = sorted(set(range(full)) - self.closed)
        if rest and sorted(self.open) != list(range(full * self.length, n)):
            out.append(full)
        return out


def room(shape: tuple[int, ...], scratch: str) -> Floats:
    """Return zeros, in memory or in a mapped file that vanishes when it is no longer used."""
    if not scratch or 0 in shape:  # an empty file cannot be mapped
        return np.zeros(shape)
    os.makedirs(scratch, exist_ok=True)
    with tempfile.TemporaryFile(dir=scratch) as file:
        return np.asarray(np.memmap(file, dtype=np.float64, mode="w+", shape=shape))


def item_means(sums: Sequence[ItemSums], n: int, weight: Floats | float = 1.0) -> ItemMeans:
    """Combine the sums of chains of `n` draws; `weight` of an item applies to the gaps only."""
    # draws after the last full batch count for the entropy only, unless there is no full batch
    batches = n // sums[0].length
    if batches:
        by_chain = np.stack([part.p_sum / batches for part in sums])
        square = np.mean([part.p_square / batches for part in sums], axis=0)
    else:
        by_chain = np.stack([part.batch / n for part in sums])
        square = np.mean(by_chain**2, axis=0)
    mean = by_chain.mean(axis=0)
    total = max(batches, 1) * len(sums)
    spread = np.maximum(square - mean**2, 0.0)
    mcse = np.sqrt(spread / (total - 1)) if total > 1 else np.full_like(mean, np.nan)
    entropy = np.mean([(part.entropy + part.open_entropy) / n for part in sums], axis=0)
    values = np.sum([[part.value_sum, part.value_square] for part in sums], axis=0)
    p_state = np.sum([part.p_state for part in sums], axis=0)
    draws = n * len(sums)
    return ItemMeans(
        mean, mcse, entropy, total_gaps(by_chain, weight), values / draws, p_state / draws
    )
