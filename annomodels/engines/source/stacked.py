"""Jobs of a stack where the items are: its mode, its mixture, and truths drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.engines.source.held import OpenBlock, writable
from annomodels.engines.source.itemsums import ItemMeans, room
from annomodels.engines.source.partition import Finish
from annomodels.models.mixtures.stack import layered
from annomodels.models.mixtures.votes import patterns
from annomodels.types import AnyArray, Floats, Ints

if TYPE_CHECKING:
    from annomodels.models.mixtures.stack import Dependence, Stack

# maximum size of P(truth) under draws of the layer at a time
CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class EffectDraws:
    """Draws of sharpness [draw], proportions of unknown items and tilt [draw, truth]."""

    sharpness: Floats
    unknown: Floats
    tilt: Floats

    def part(self, chosen: slice | Ints) -> tuple[Floats, Floats, Floats]:
        """Return the arrays of some draws."""
        return self.sharpness[chosen], self.unknown[chosen], self.tilt[chosen]


def _all_coders(block: OpenBlock) -> tuple[tuple[AnyArray, ...], int]:
    """Return the first arguments of a pass over all coders, and the number of rows."""
    if block.partition.alike is None:
        return block.open()[0], block.n_rows
    codes = block.partition.whole.open()
    return tuple(writable(values) for values in codes.arrays), codes.n_rows


# -- jobs ---------------------------------------------------------------------------------------


def weighed(
    block: OpenBlock, log_rows: Floats, log_prevalence: Floats, correlation: float
) -> tuple[Ints, Ints]:
    """Store log P(truth) of the items; return integer counts [cell, truth] and sizes [truth]."""
    from annomodels.kernels.mixtures.stacked import weighed_pass

    arrays, _ = block.open()
    k = block.n_labels
    if "log p" not in block.memory:
        block.memory["log p"] = room((block.n_items, k), block.scratch)
    counts = np.zeros((block.n_rows * k, k), dtype=np.int64)
    sizes = np.zeros(k, dtype=np.int64)
    weighed_pass(
        *arrays, log_rows, log_prevalence, correlation, block.memory["log p"], counts, sizes
    )
    return counts, sizes


def correlated(block: OpenBlock, right: Floats) -> tuple[Ints]:
    """Sum products of the errors of label pairs, see :func:`correlated_errors`."""
    from annomodels.kernels.mixtures.stacked import correlated_errors

    arrays, _ = block.open()
    sums = np.zeros(3, dtype=np.int64)
    correlated_errors(*arrays, right, block.memory["log p"], sums)
    return (sums,)


def _votes(block: OpenBlock) -> Ints:
    """Count the labels of the items, including those of copies, shape [item, label]."""
    ((starts, cell, _), _), k = _all_coders(block), block.n_labels
    item = np.repeat(np.arange(block.n_items), np.diff(starts))
    votes = np.bincount(item * k + (cell % k).astype(np.int64), minlength=block.n_items * k)
    return np.asarray(votes.reshape(-1, k))


def vote_patterns(block: OpenBlock) -> tuple[Ints, Ints]:
    """Return the distinct patterns of votes and their counts, see :func:`patterns`."""
    return patterns(_votes(block))


def mixed(block: OpenBlock, stack: Stack, dependence: Dependence) -> tuple[Floats, Ints]:
    """Mix mode and votes; return the log mixture and the truth of the known items."""
    log_q = room((block.n_items, block.n_labels), block.scratch)
    starts, _, gold = block.open()[0]
    votes = _votes(block).astype(float)
    log_q[:] = stack.log_mixture(block.memory["log p"], np.diff(starts), votes, dependence)
    block.memory["log mixture"] = log_q
    known = gold >= 0
    return log_q[known], gold[known].astype(np.int64)


def believed(
    block: OpenBlock, layer: EffectDraws, finish: Finish, whole: bool
) -> tuple[Any, Floats | None, Floats | None]:
    """Compute P(truth) of the items, or the result of `finish` on it."""
    # If `whole`, also returns log P(truth) at the mode and of the mixture, [item, truth].
    log_q, (arrays, _) = block.memory["log mixture"], block.open()
    gold = arrays[2]
    mean, entropy, mcse = averaged(log_q, layer)
    known = np.flatnonzero(gold >= 0)
    mean[known] = np.eye(block.n_labels)[gold[known]]
    mcse[known], entropy[known] = 0.0, 0.0
    block.memory["best"] = mean.argmax(axis=1).astype(np.min_scalar_type(block.n_labels))
    means: Any = ItemMeans(mean, mcse, entropy, np.zeros((1, 1)))
    if finish is not None:
        means = finish(block.partition.whole, means)
    return (means, block.memory["log p"], log_q) if whole else (means, None, None)


def averaged(log_q: Floats, layer: EffectDraws) -> tuple[Floats, Floats, Floats]:
    """Average P(truth) over the layer; return it, its entropy in nats and its standard error."""
    n, k = log_q.shape
    p, square, entropy = np.empty((n, k)), np.empty((n, k)), np.empty(n)
    step = max(1, CELLS // (len(layer.unknown) * k))
    for begin in range(0, n, step):
        some = slice(begin, begin + step)
        each = layered(log_q[some], *layer.part(slice(None)))
        p[some] = each.mean(axis=0)
        square[some] = each.var(axis=0)
        entropy[some] = -(each * np.log(np.maximum(each, 1e-300))).sum(axis=2).mean(axis=0)
    return p, entropy, np.sqrt(square / len(layer.unknown))


def truths_drawn(
    block: OpenBlock, sharpness: Floats, unknown: Floats, tilt: Floats, key: int, iteration: int
) -> tuple[AnyArray, ...]:
    """Draw the truth of all items under some draws of the layer, starting at an iteration."""
    # Returns counts [draw, cell, truth], sizes [draw, truth] and, per draw, the number of wrong
    # gold labels among items of unknown truth.
    from annomodels.kernels.mixtures.stacked import stacked_truths

    log_q, best = writable(block.memory["log mixture"]), block.memory["best"].astype(np.int64)
    arrays, n_rows = _all_coders(block)
    draws, k = tilt.shape
    counts = np.zeros((draws, n_rows * k, k), dtype=np.int64)
    sizes = np.zeros((draws, k), dtype=np.int64)
    wrong = np.zeros(draws, dtype=np.int64)
    for n in range(draws):
        wrong[n] = stacked_truths(
            *arrays, log_q, sharpness[n], writable(unknown[n]), writable(tilt[n]), best,
            np.uint64(key), iteration + n, block.first, counts[n], sizes[n],
        )  # fmt: skip
    return counts, sizes, wrong
