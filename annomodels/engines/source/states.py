"""Items in states, drawn where they lie: counts, and what draws say of items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from annomodels.engines.source.held import Block, writable
from annomodels.engines.source.itemsums import ItemSums, room
from annomodels.errors import EngineError
from annomodels.models.states import SMALLEST
from annomodels.types import AnyArray, Floats, Ints

if TYPE_CHECKING:
    pass


class Forgotten(EngineError):
    """Sums over items went with the machine that held them: the run is made again."""


LOST = "What draws said of some items was lost with the machine that held it."


@dataclass(frozen=True, eq=False)
class Passing:
    """Parameters of a state model as a pass over items needs them."""

    share: Floats  # probability of each state, shape [state]
    rows: Floats  # P(label | row, coder), shape [cell, row]
    mix: Floats  # how much of each row a state holds, shape [state, row]
    only: Ints  # the single row that a state holds, or -1, shape [state]
    truth: Floats  # P(truth | state), shape [state, truth]
    values: Floats  # what states stand for, shape [value, state]
    n_own: int  # number of rows that are those of the coders' model
    # P(label | state, coder), shape [cell, state], where it is made once for all parts that are
    # here; where parameters travel it is made where they arrive
    filled: Floats | None = None

    def table(self) -> Floats:
        """P(label | state, coder), shape [cell, state]."""
        if self.filled is not None:
            return self.filled
        from annomodels.kernels.passes import fill_table

        table = np.empty((len(self.rows), len(self.share)))
        fill_table(writable(self.rows), writable(self.mix.T), SMALLEST, table)
        return table


@dataclass(frozen=True, eq=False)
class Keeping:
    """Address of the draw that an iteration keeps."""

    stage: Hashable  # which stage of which run, and which of its draws
    draw: int
    length: int  # number of draws in a batch
    chains: Sequence[int]  # which chains these are
    states: bool  # whether P(state) is kept


class StateSums(ItemSums):
    """Sums over the kept draws of one chain of a state model."""

    def __init__(self, block: Block, states: int, values: int, keeping: Keeping) -> None:
        n, scratch = block.n_items, block.scratch
        super().__init__(n, block.n_labels, keeping.stage, keeping.length, scratch)
        self.p_state = room((n if keeping.states else 0, states), scratch)
        self.value_sum = room((values, n), scratch)
        self.value_square = room((values, n), scratch)

    @property
    def places(self) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, AnyArray]:
        """Arrays that a pass adds to: truth, entropy, states, values and their squares."""
        return self.batch, self.open_entropy, self.p_state, self.value_sum, self.value_square

    @property
    def n(self) -> int:
        """Number of draws in the sums."""
        return len(self.closed) * self.length + len(self.open)


def states_drawn(
    block: Block,
    parameters: Sequence[Passing],
    keys: Sequence[int],
    iteration: int,
    keeping: Keeping | None,
) -> tuple[AnyArray, ...]:
    """Draw the state of every item and the row of every label for each chain."""
    # Gives counts [chain, cell, perceived], those of further rows [chain, cell, row], sizes [chain,
    # state], of items with known labels [chain, state, truth], and log likelihoods [chain].
    from annomodels.kernels.passes import States, Sums, sampled_pass

    arrays, _ = block.open()
    chains, one = len(keys), parameters[0]
    (n_cells, n_rows), (n_states, k) = one.rows.shape, one.truth.shape
    if block.first and (one.only < 0).any():
        raise EngineError("Labels whose row is drawn need all items in one part.")
    counts = np.zeros((chains, n_cells, one.n_own), dtype=np.int64)
    extra = np.zeros((chains, n_cells, max(1, n_rows - one.n_own)), dtype=np.int64)
    sizes = np.zeros((chains, n_states), dtype=np.int64)
    golds = np.zeros((chains, n_states, k), dtype=np.int64)
    found = np.zeros(chains)
    nothing = np.empty((0, 0))
    nowhere = (np.empty((0, k)), np.empty(0), nothing, nothing, nothing)
    for n, known in enumerate(parameters):
        table, held = known.table(), None
        if keeping is not None:
            held = _sums_of(block, keeping, n, n_states, len(known.values))
            held = held if held.wants(keeping.draw) else None  # of a call that is made again
        sums = Sums(*nowhere, np.arange(k))
        if held is not None:
            sums = Sums(*held.places, np.arange(k))
        share = writable(known.share)
        states = States(
            writable(known.truth), writable(known.only), writable(known.mix),
            writable(known.rows), writable(known.values), SMALLEST,
        )  # fmt: skip
        found[n] = sampled_pass(
            arrays, share, table, None, states, np.uint64(keys[n]), iteration, block.first,
            counts[n], extra[n], sizes[n], golds[n], held is not None, sums,
        )  # fmt: skip
        if held is not None and keeping is not None:
            held.note(keeping.draw)
    return counts, extra, sizes, golds, found


def _sums_of(block: Block, keeping: Keeping, n: int, states: int, values: int) -> StateSums:
    chain = keeping.chains[n]
    sums = sums_held(block, chain, keeping.stage)
    if sums is None:
        sums = StateSums(block, states, values, keeping)
        held: dict[int, list[StateSums]] = block.memory.setdefault("states", {})
        # a stage that is cut short leaves the one before it as what counts
        held[chain] = [*held.get(chain, [])[-1:], sums]
    return sums


def sums_held(block: Block, chain: int, stage: Hashable) -> StateSums | None:
    """Return the sums of a stage of a chain, where they are here."""
    held: list[StateSums] = block.memory.get("states", {}).get(chain, [])
    return next((sums for sums in held if sums.stage == stage), None)
