"""Jobs on a partition where it lies: draw, expect, sum class probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annomodels.engines.kept import total_gaps
from annomodels.engines.source.held import Block, writable
from annomodels.engines.source.itemsums import ItemMeans, item_means
from annomodels.engines.source.partition import Finish
from annomodels.models.base import State
from annomodels.types import AnyArray, Floats, Ints

# log prevalence [truth], log confusion [row, label, truth]; then, maybe, both without logarithm
# logarithms of a state's parameters where they travel, else the chances that a pass takes
Parameters = tuple[Any, ...]
MANY_CELLS = 100_000


@dataclass(frozen=True, eq=False)
class Keeping:
    """Address of the draw that an iteration keeps."""

    stage: int  # which stage of the run, and which of its draws
    draw: int
    length: int  # number of draws in a batch
    orders: Sequence[Ints]  # new place of each class, for each chain
    chains: Sequence[int]  # which chains these are


@dataclass(frozen=True, eq=False)
class Batch:
    """Kept parameters of successive draws of one chain."""

    chain: int  # which chain, and the number of the first draw
    first: int
    prevalence: Floats  # shape [draw, truth]
    # shape [draw, row, truth, label], or [draw, truth, label] for one matrix for all
    confusion: Floats


def parameters_of(state: State, here: bool) -> Parameters:
    """Return the parameters of a state as they are sent."""
    from annomodels.kernels.passes import chances

    logs = state.log_prevalence, state.log_confusion
    return chances(*logs) if here else logs


def sampled(
    block: Block,
    parameters: Sequence[Parameters],
    keys: Sequence[int],
    iteration: int,
    keeping: Keeping | None,
) -> tuple[AnyArray, ...]:
    """Draw the truth of all items for each chain."""
    # Gives counts [chain, row, label, truth], sizes [chain, truth] and log likelihoods [chain].
    from annomodels.kernels.passes import classes_drawn, sums_of

    arrays, _ = block.open()
    k, chains = block.n_labels, len(keys)
    # a partition has fewer labels than 32 bits can count, and they need half the cache
    small = len(arrays[1]) <= np.iinfo(np.int32).max
    counts = np.zeros((chains, block.n_rows, k, k), dtype=np.int32 if small else np.int64)
    sizes = np.zeros((chains, k), dtype=np.int64)
    found = np.zeros(chains)
    for n, known in enumerate(parameters):
        held, sums = None, None
        if keeping is not None:
            held = block.sums_of(keeping.chains[n], keeping.stage, keeping.length)
            # a call that is made again finds its draw there
            held = held if held.wants(keeping.draw) else None
        if held is not None and keeping is not None:
            sums = sums_of(held.batch, held.open_entropy, np.asarray(keeping.orders[n]))
        found[n] = classes_drawn(
            arrays, _chances(known), np.uint64(keys[n]), iteration, counts[n], sizes[n], sums,
            block.first,
        )  # fmt: skip
        if held is not None and keeping is not None:
            held.note(keeping.draw)
    # sums over partitions fit into as many bits where each coder has cells of their own
    wide = counts if counts.size >= MANY_CELLS else counts.astype(np.int64, copy=False)
    return wide, sizes, found


def expected(block: Block, parameters: Parameters) -> tuple[AnyArray, ...]:
    """Return expected counts [row, label, truth], sizes [truth] and the log likelihood, []."""
    counts, sizes, _, found = _soft(block, parameters, items=False)
    return counts, sizes, np.array(found)


def weighed(block: Block, parameters: Parameters, finish: Finish) -> Any:
    """Class probabilities [item, truth] under one state, or what `finish` makes of them."""
    p_truth = _soft(block, parameters)[2]
    return p_truth if finish is None else finish(block.partition, p_truth)


def distances(block: Block, states: Sequence[Parameters]) -> tuple[Floats]:
    """Sum over the items of the total variation distances of states, shape [state, state]."""
    known = [_soft(block, state)[2] for state in states]
    return (total_gaps(known, block.open()[1]),)


def missing(block: Block, chains: int, stage: int, length: int, n: int) -> list[list[int]]:
    """Return, for each chain, the batches of `n` draws that the sums lack."""
    return [block.sums_of(c, stage, length).missing(n) for c in range(chains)]


def recounted(block: Block, stage: int, length: int, batches: Sequence[Batch]) -> None:
    """Take up batches of draws again from their parameters, those that are not there."""
    from annomodels.kernels.passes import chances, classes_weighed, sums_of

    for batch in batches:
        held = block.sums_of(batch.chain, stage, length)
        if batch.first // length in held.closed:
            continue
        held.drop()
        arrays, weight = block.open()
        for n in range(len(batch.prevalence)):
            parameters = kernel_parameters(batch.prevalence[n], batch.confusion[n])
            sums = sums_of(held.batch, held.open_entropy)
            classes_weighed(arrays, weight, chances(*parameters), sums)
            held.note(batch.first + n)


def kernel_parameters(prevalence: AnyArray, confusion: AnyArray) -> tuple[Floats, Floats]:
    """Log prevalence and log confusion [row, label, truth] of a kept draw."""
    tiny = np.finfo(float).tiny  # what single precision took for nothing is not impossible
    rows = np.maximum(np.asarray(confusion, dtype=float), tiny)
    rows = rows[None] if rows.ndim == 2 else rows
    log_rows = np.ascontiguousarray(np.log(rows).transpose(0, 2, 1))
    return np.log(np.maximum(np.asarray(prevalence, dtype=float), tiny)), log_rows


def items(
    block: Block,
    chains: int,
    stage: int,
    length: int,
    n: int,
    finish: Finish,
) -> tuple[Any, Floats] | None:
    """Return the means of `n` draws of all chains or the result of `finish`; None if incomplete."""
    if any(missing(block, chains, stage, length, n)):
        return None
    means: ItemMeans = item_means([block.sums_of(c, stage, length) for c in range(chains)], n)
    return (means if finish is None else finish(block.partition, means)), means.gaps


def _soft(
    block: Block, parameters: Parameters, items: bool = True
) -> tuple[Floats, Floats, Floats, float]:
    from annomodels.kernels.passes import soft

    arrays, weight = block.open()
    return soft(arrays, weight, block.n_rows, _chances(parameters), items)


def _chances(parameters: Parameters) -> Any:
    from annomodels.kernels.passes import chances

    if len(parameters) > 2:
        return parameters
    return chances(*(writable(values) for values in parameters))
