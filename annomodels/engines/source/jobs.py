"""Jobs on a partition where it is: draw, compute expectations, sum class probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.engines.given import given_by, weigh
from annomodels.engines.kept import total_gaps
from annomodels.engines.source.held import OpenBlock, writable
from annomodels.engines.source.itemsums import ItemSums, Stage, item_means
from annomodels.engines.source.partition import Finish
from annomodels.models.base import Model, State
from annomodels.types import AnyArray, Floats, Ints

if TYPE_CHECKING:
    from annomodels.kernels.passes import Given

# the probabilities for a pass, and the layout of states or None; or, if parameters are sent, log
# prevalence [truth] and log confusion [row, label, truth]
Parameters = tuple[Any, ...]
MANY_CELLS = 100_000


@dataclass(frozen=True, eq=False)
class Keeping:
    """Position of the draw that an iteration stores."""

    stage: Stage
    draw: int  # number of the draw in the stage
    orders: Sequence[Ints]  # new position of each class, for each chain
    chains: Sequence[int]  # numbers of the chains


def parameters_of(state: State, here: bool) -> Parameters:
    """Return the parameters of a state in the form for a local pass, or for sending."""
    from annomodels.kernels.passes import chances

    logs = state.log_prevalence, state.log_confusion
    return (*chances(*logs), None) if here else logs


def sampled(
    block: OpenBlock,
    parameters: Sequence[Parameters],
    keys: Sequence[int],
    iteration: int,
    keeping: Keeping | None,
) -> tuple[AnyArray, ...]:
    """Draw the state of every item and the row of every label for each chain."""
    # Returns counts [chain, cell, row], those of additional rows [chain, cell, row], sizes [chain,
    # state], those of items with known truth [chain, state, truth], and log likelihoods [chain].
    from annomodels.kernels.passes import sampled_pass, sums_of

    arrays, _ = block.open()
    k, chains = block.n_labels, len(keys)
    given = [_given(known) for known in parameters]
    _, table, _, states = given[0]
    (n_cells, n_states), more = table.shape, 0 if states is None else states.rows.shape[1] - k
    # a partition usually has fewer labels than 32 bits can count, which take half the cache
    small = len(arrays[1]) <= np.iinfo(np.int32).max
    counts = np.zeros((chains, n_cells, k), dtype=np.int32 if small else np.int64)
    extra = np.zeros((chains, n_cells, more), dtype=np.int64)
    sizes = np.zeros((chains, n_states), dtype=np.int64)
    golds = np.zeros((chains, n_states, 0 if states is None else k), dtype=np.int64)
    found = np.zeros(chains)
    nowhere = sums_of(np.empty((0, k)), np.empty(0))
    for n, known in enumerate(given):
        held = None if keeping is None else block.sums_of(keeping.chains[n], keeping.stage)
        sums = nowhere if held is None or keeping is None else held.sums(keeping.orders[n])
        found[n] = sampled_pass(
            arrays, *known, np.uint64(keys[n]), iteration, block.first, counts[n], extra[n],
            sizes[n], golds[n], held is not None, sums,
        )  # fmt: skip
        if held is not None and keeping is not None:
            held.note(keeping.draw)
    # with many cells, sums over partitions fit into as many bits
    wide = counts if counts.size >= MANY_CELLS else counts.astype(np.int64, copy=False)
    return wide, extra, sizes, golds, found


def expected(block: OpenBlock, parameters: Parameters) -> tuple[AnyArray, ...]:
    """Return expected counts [row, label, truth], class sizes [truth] and log likelihood []."""
    counts, sizes, _, found = _soft(block, parameters, items=False)
    return counts, sizes, np.array(found)


def weighed(block: OpenBlock, parameters: Parameters, finish: Finish) -> Any:
    """Return P(truth) [item, truth] under one state, or the result of `finish` on it."""
    p_truth = _soft(block, parameters)[2]
    return p_truth if finish is None else finish(block.partition, p_truth)


def distances(block: OpenBlock, states: Sequence[Parameters]) -> tuple[Floats]:
    """Return total variation distances of states, summed over items, shape [state, state]."""
    known = [_soft(block, state)[2] for state in states]
    return (total_gaps(known, block.open()[1]),)


def items(
    block: OpenBlock,
    model: Model,
    stage: Stage,
    draws: Sequence[dict[str, AnyArray]],
    finish: Finish,
) -> tuple[Any, Floats]:
    """Return the means of the draws of all chains, or the result of `finish` on them."""
    sums = [block.sums_of(c, stage) for c in range(len(draws))]
    for part, values in zip(sums, draws, strict=True):
        _complete(block, model, part, values)
    means = item_means(sums, len(draws[0]["prevalence"]))
    return (means if finish is None else finish(block.partition, means)), means.gaps


def _complete(block: OpenBlock, model: Model, sums: ItemSums, draws: dict[str, AnyArray]) -> None:
    """Add the draws that the sums lack: all of them if the iterations ran elsewhere."""
    n = len(draws["prevalence"])
    if not sums.missing(n):
        return
    sums.drop()
    arrays = block.open()
    for batch in sums.missing(n):
        for draw in range(batch * sums.length, min((batch + 1) * sums.length, n)):
            values = {name: each[draw] for name, each in draws.items()}
            weigh(*arrays, given_by(model, values), sums)
            sums.note(draw)


def _soft(
    block: OpenBlock, parameters: Parameters, items: bool = True
) -> tuple[Floats, Floats, Floats, float]:
    from annomodels.kernels.passes import soft

    arrays, weight = block.open()
    return soft(arrays, weight, block.n_rows, _given(parameters)[:3], items)


def _given(parameters: Parameters) -> Given:
    """Return the arguments of a pass, from the form for a local pass or for sending."""
    from annomodels.kernels.passes import chances

    if len(parameters) == 4:
        return parameters
    return (*chances(*(writable(values) for values in parameters)), None)
