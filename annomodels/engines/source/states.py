"""Items in states, drawn where they lie: counts, and what draws say of items and of labels."""

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
    from annomodels.kernels.passes import States

# probability of a known truth that is not believed to be smaller in any draw
LEAST = 1e-6


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
class LeftOut:
    """Predictive tables for a held-out label from all others; see ``kernels`` `hold_out`."""

    share: Floats  # as in :class:`Passing`
    truth: Floats
    # P(label | state, coder) from the counts of all labels, and of all but one such label, shape
    # [cell, state]
    given: Floats
    without: Floats


@dataclass(frozen=True, eq=False)
class Keeping:
    """Address of the draw that an iteration keeps."""

    stage: Hashable  # which stage of which run, and which of its draws
    draw: int
    length: int  # number of draws in a batch
    chains: Sequence[int]  # which chains these are
    every: int  # labels of every so many items are left out and predicted; 0 for those of none
    whole: bool  # whether entropies are kept
    states: bool  # whether P(state) is kept


class StateSums(ItemSums):
    """Sums over the kept draws of one chain of a state model."""

    def __init__(self, block: Block, states: int, values: int, keeping: Keeping) -> None:
        n, scratch = block.n_items, block.scratch
        super().__init__(n, block.n_labels, keeping.stage, keeping.length, scratch)
        if not keeping.whole:
            self.open_entropy, self.entropy = np.zeros((2, 0))
        self.p_state = room((n if keeping.states else 0, states), scratch)
        self.value_sum = room((values, n), scratch)
        self.value_square = room((values, n), scratch)
        gold = block.open()[0][2]
        # P(truth) of items with known labels, weighed by 1 / P(that truth)
        self.open_sum = room((int((gold >= 0).sum()), block.n_labels), scratch)
        self.drawn: Ints = np.zeros(0, dtype=np.int64)
        # sums of 1 / P(label | all other labels), and of which draws
        self.label_sum = np.zeros(0)
        self.labeled: list[int] = []

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
    found, drawn = np.zeros(chains), np.zeros(block.n_items, dtype=np.int64)
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
            counts[n], extra[n], sizes[n], golds[n], drawn, held is not None, sums,
        )  # fmt: skip
        if held is not None and keeping is not None:
            _open(arrays, share, table, states, held)
            if keeping.every:
                held.drawn = drawn[_chosen(block, keeping.every)].copy()
            held.note(keeping.draw)
    return counts, extra, sizes, golds, found


def many_drawn(
    block: Block,
    truth: Floats,
    values: Floats,
    only: Ints,
    parameters: tuple[object, ...],
    key: np.uint64,
    first: int,
    n: int,
    keeping: Keeping | None,
) -> tuple[Floats, Floats]:
    """Draw states and parameters of one chain in turn; all steps are kept or none."""
    # Gives prevalence [draw, truth] and log likelihoods [draw].
    from annomodels.kernels.mixtures.kind_iterations import iterate_kinds

    arrays, _ = block.open()
    gold, k = arrays[2], truth.shape[1]
    nothing = np.empty((0, 0))
    nowhere = np.empty((0, k)), np.empty(0), nothing, nothing, nothing
    sums: tuple[AnyArray, ...] = nowhere
    open_sum = nowhere[0]
    held, draws = None, n if keeping is not None else 0
    if keeping is not None:
        held = _sums_of(block, keeping, 0, len(truth), len(values))
        if not held.wants(keeping.draw):
            raise EngineError("A draw was taken twice.")
        sums, open_sum = held.places, held.open_sum
    chosen = np.flatnonzero(gold >= 0) if len(open_sum) else np.zeros(0, dtype=np.int64)
    known = (*_taken(arrays[0], arrays[1], chosen), gold[chosen])
    prevalence, log_likelihood = np.empty((draws, k)), np.empty(draws)
    iterate_kinds(
        *arrays, known, truth, writable(values), writable(only), SMALLEST, LEAST, *parameters,
        key, first, first + n, keeping is not None, sums, open_sum, prevalence, log_likelihood,
    )  # fmt: skip
    if held is not None and keeping is not None:
        for draw in range(keeping.draw, keeping.draw + n):
            held.note(draw)
    return prevalence, log_likelihood


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


def without_sums(block: Block) -> None:
    """Let go of all sums."""
    block.memory.pop("states", None)


def _open(
    arrays: tuple[AnyArray, ...], share: Floats, table: Floats, states: States, held: StateSums
) -> None:
    """Add P(truth) of items with known labels, as if these were not known."""
    # the parameters have seen it; weights 1 / P(known truth) compensate for that
    if not len(held.open_sum):
        return
    from annomodels.kernels.passes import open_known

    starts, cell, gold = arrays
    known = np.flatnonzero(gold >= 0)
    taken = *_taken(starts, cell, known), gold[known]
    open_known(taken, share, table, states, LEAST, held.open_sum)


def _taken(starts: Ints, cell: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Take the labels of some items: where they begin, and their cells."""
    lengths = np.diff(starts)[chosen]
    begin = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    take = np.repeat(starts[chosen] - begin[:-1], lengths) + np.arange(begin[-1])
    return begin, cell[take]


def _chosen(block: Block, every: int) -> slice:
    """Items of a block whose labels are left out: every so many of the whole."""
    return slice(-block.first % every, None, every)


def _held_out(block: Block, every: int) -> tuple[Ints, ...]:
    """Labels of the items of a block whose labels are left out; held here."""
    if every == 1 and block.held is not None:
        return block.held[0]
    known = block.memory.get("held_out")
    if known is None or known[0] != every:
        starts, cell, gold = block.open()[0]
        items = np.arange(block.n_items)[_chosen(block, every)]
        known = every, (*_taken(starts, cell, items), gold[items])
        block.memory["held_out"] = known
    return tuple(known[1])


def held_out(block: Block, tables: Sequence[LeftOut], keeping: Keeping) -> None:
    """Add 1 / P(label | all other labels), the rows of the coders integrated out, to the sums."""
    from annomodels.kernels.mixtures.held_out import hold_out

    arrays = _held_out(block, keeping.every)
    for chain, known in zip(keeping.chains, tables, strict=True):
        sums = sums_held(block, chain, keeping.stage)
        if sums is None:
            continue  # its draws were lost, as will be seen when they are collected
        if keeping.draw in sums.labeled or len(sums.drawn) != len(arrays[2]):
            continue
        if not len(sums.label_sum):
            sums.label_sum = np.zeros(len(arrays[1]))
        hold_out(
            *arrays, sums.drawn, writable(known.share), writable(known.truth), SMALLEST,
            writable(known.given), writable(known.without), sums.label_sum,
        )  # fmt: skip
        sums.labeled.append(keeping.draw)


def put_into_states(
    block: Block, only: Ints, of_truth: Ints, n_classes: int, drawn: Ints
) -> tuple[AnyArray, ...]:
    """Count labels and items with each item in a given state `drawn` [item]."""
    # Gives counts [cell, perceived], sizes [state] and, of items with known labels, [state, truth].
    starts, cell, gold = block.open()[0]
    state, known = drawn.astype(np.int64), np.flatnonzero(gold >= 0)
    state[known] = of_truth[gold[known]]
    row = only[np.repeat(state, np.diff(starts))]
    n_cells, n_states = block.n_rows * block.n_labels, len(only)
    flat = np.bincount(cell.astype(np.int64) * n_classes + row, minlength=n_cells * n_classes)
    told = state[known] * block.n_labels + gold[known]
    golds = np.bincount(told, minlength=n_states * block.n_labels)
    sizes = np.bincount(state, minlength=n_states)
    return flat.reshape(n_cells, n_classes), sizes, golds.reshape(n_states, block.n_labels)
