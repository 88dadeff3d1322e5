"""Jobs of a stack where items lie: members are kept and combined, and truths drawn."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.copying import kept_of_copies
from annomodels.engines.source.held import Block, writable
from annomodels.engines.source.itemsums import ItemMeans, room
from annomodels.engines.source.partition import Finish, Partition, Source
from annomodels.engines.source.statemeans import state_means
from annomodels.engines.source.states import LOST, Forgotten, without_sums
from annomodels.models.encoded import Encoded
from annomodels.models.mixtures.stack import layered, vote_shares
from annomodels.types import AnyArray, Floats, Ints

if TYPE_CHECKING:
    from annomodels.data.schema import ItemFields
    from annomodels.models.mixtures.stack import Stack

# numbers of P(truth) under draws of the layer that are there at a time
CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Layer:
    """Draws of sharpness [draw, 2], share of unknown items [draw] and tilt [draw, truth]."""

    sharpness: Floats
    unknown: Floats
    tilt: Floats

    def part(self, chosen: slice | Ints) -> tuple[Floats, Floats, Floats]:
        """Return some of the draws."""
        return self.sharpness[chosen], self.unknown[chosen], self.tilt[chosen]


# -- coders that are not told apart, and copies of each other ------------------------------------


@dataclass(frozen=True, eq=False)
class AlikePartition:
    """A partition in which some coders are one, and of copies the first one of an item counts."""

    whole: Partition  # the partition with all coders
    place: Ints  # place of each coder among those that are told apart, shape [coder]
    copies: Sequence[Ints]  # coders of each group of copies, the one that counts first

    @property
    def first(self) -> int:
        """Number of its first item in the whole."""
        return self.whole.first

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.whole.n_items

    @property
    def n_annotations(self) -> int:
        """Number of labels."""
        return self.whole.n_annotations

    @property
    def streamed(self) -> bool:
        """Return True if it is opened anew for every pass."""
        return getattr(self.whole, "streamed", False)

    @property
    def scratch(self) -> str:
        """Folder for sums over its items."""
        return getattr(self.whole, "scratch", "")

    def open(self) -> Encoded:
        """Return the codes of its items, each label by the coder that represents its own."""
        codes = self.whole.open()
        if self.copies:
            item = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
            left = kept_of_copies(item, codes.row, self.copies, len(self.place))
            n = np.bincount(item[left], minlength=codes.n_patterns)
            starts = np.concatenate([[0], np.cumsum(n)]).astype(codes.starts.dtype)
            codes = replace(codes, starts=starts, row=codes.row[left], label=codes.label[left])
        return replace(codes, row=self.place[codes.row], n_rows=int(self.place.max()) + 1)


@dataclass(frozen=True, eq=False)
class AlikeSource:
    """A whole in which some coders are one, and copies count once; see :class:`Source`."""

    whole: Source  # the whole with all coders
    partitions: Sequence[Partition]
    volume: Floats  # share of the labels of those that are told apart, shape [row]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.whole.n_items

    @property
    def n_labels(self) -> int:
        """Number of labels that can be given."""
        return self.whole.n_labels

    @property
    def n_rows(self) -> int:
        """Number of coders that are told apart."""
        return len(self.volume)

    @property
    def n_annotations(self) -> int:
        """Number of labels that were given."""
        return self.whole.n_annotations

    @property
    def has_gold(self) -> bool:
        """Return True if the truth of any item is known."""
        return self.whole.has_gold

    @property
    def fingerprint(self) -> str:
        """A text that changes when the data change."""
        return self.whole.fingerprint

    @property
    def finish(self) -> Finish:
        """Function that finishes the results of a partition, or None."""
        return self.whole.finish

    def gathered(self, parts: Sequence[Any]) -> ItemFields:
        """Fields of a result that concern items."""
        return self.whole.gathered(parts)

    def believed(self, fields: ItemFields) -> Iterator[Floats]:
        """Return P(truth) of the items of each partition."""
        return self.whole.believed(fields)


def alike(source: Source, place: Ints, copies: Sequence[Ints] = ()) -> Source:
    """Merge coders of the same place [coder], and keep the first label of copies per item."""
    if np.array_equal(place, np.arange(len(place))) and not copies:
        return source
    parts = tuple(AlikePartition(part, place, copies) for part in source.partitions)
    return AlikeSource(source, parts, np.bincount(place, source.volume))


def _partition(block: Block) -> Partition:
    """Return the partition of a block with all coders."""
    return getattr(block.partition, "whole", block.partition)


def _all_coders(block: Block) -> tuple[tuple[AnyArray, ...], int]:
    """Return what a pass over all coders begins with, and their number."""
    whole = _partition(block)
    if whole is block.partition:
        return block.open()[0], block.n_rows
    codes = whole.open()
    return tuple(writable(values) for values in codes.arrays), codes.n_rows


# -- jobs ---------------------------------------------------------------------------------------


def remembered(
    block: Block, chains: int, stage: Hashable, n: int, member: int
) -> tuple[Floats, Floats]:
    """Keep what a member says of the items; gives densities of the labels left out, and gaps."""
    found = state_means(block, chains, stage, n)
    held = room((2, *found.p_truth.shape), block.scratch)
    held[0], held[1] = found.p_open, found.p_truth_mcse
    block.memory[f"member {member}"] = held
    without_sums(block)
    return found.label_density, found.gaps


def mixed(block: Block, stack: Stack, weights: Floats) -> tuple[Floats, Ints]:
    """Put the members together; gives log mixtures and truth of the items with known labels."""
    arrays, _ = block.open()
    log_q = room((block.n_items, 2, block.n_labels), block.scratch)
    log_q[:] = stack.log_mixture(_sayings(block, arrays, stack), weights)
    block.memory["log mixture"] = log_q
    known = arrays[2] >= 0
    return log_q[known], arrays[2][known].astype(np.int64)


def _sayings(block: Block, arrays: tuple[AnyArray, ...], stack: Stack) -> Floats:
    """Return the shares of the votes, and P(truth) of the members, [1 + member, item, truth]."""
    (starts, cell, _), k = arrays, block.n_labels
    item = np.repeat(np.arange(block.n_items), np.diff(starts))
    votes = np.bincount(item * k + (cell % k).astype(np.int64), minlength=block.n_items * k)
    held = [_of(block, f"member {n}")[0] for n in range(len(stack.members))]
    return np.stack([vote_shares(votes.reshape(-1, k)), *held])


def _of(block: Block, name: str) -> AnyArray:
    if name not in block.memory:
        raise Forgotten(LOST)
    return np.asarray(block.memory[name])


def believed(
    block: Block, stack: Stack, weights: Floats, layer: Layer, finish: Finish, whole: bool
) -> tuple[Any, Floats | None, Floats | None]:
    """Compute P(truth) of the items, or the result of `finish` on it."""
    # If `whole`, gives too what votes and members estimate [1 + member, item, truth], and the logs
    # of the mixtures [item, 2, truth].
    log_q, (arrays, _) = _of(block, "log mixture"), block.open()
    gold = arrays[2]
    mean, entropy, mcse = averaged(log_q, layer)
    variance = np.zeros_like(mean)
    members = [_of(block, f"member {n}") for n in range(len(stack.members))]
    # relative Monte Carlo error of the mixtures, to first order from those of the members
    for view, sharpness in enumerate(layer.sharpness.mean(axis=0)):
        for n, (p, error) in enumerate(members):
            power = 1.0 if view else stack.powers[n]
            raised = np.maximum(p, 1e-3) ** power
            share = weights[view, 1 + n] * raised / raised.sum(axis=1, keepdims=True)
            share = np.minimum(share / np.exp(log_q[:, view]), 1.0)
            variance += (sharpness * share * power * error) ** 2
    mcse += np.sqrt(variance) * mean
    known = np.flatnonzero(gold >= 0)
    mean[known] = np.eye(block.n_labels)[gold[known]]
    mcse[known], entropy[known] = 0.0, 0.0
    block.memory["best"] = mean.argmax(axis=1).astype(np.min_scalar_type(block.n_labels))
    means: Any = ItemMeans(mean, mcse, entropy, np.zeros((1, 1)))
    if finish is not None:
        means = finish(_partition(block), means)
    if not whole:
        return means, None, None
    return means, _sayings(block, arrays, stack), log_q


def averaged(log_q: Floats, layer: Layer) -> tuple[Floats, Floats, Floats]:
    """P(truth) averaged over the layer, its entropy in nats, and the error of the average."""
    n, _, k = log_q.shape
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
    block: Block, sharpness: Floats, unknown: Floats, tilt: Floats, key: int, iteration: int
) -> tuple[AnyArray, ...]:
    """Draw the truth of all items under some draws of the layer, from an iteration on."""
    # Gives counts [draw, cell, truth], sizes [draw, truth] and, of each draw, the number of wrong
    # gold labels among items of unknown truth.
    from annomodels.kernels.mixtures.stacked import stacked_truths

    log_q, best = writable(_of(block, "log mixture")), _of(block, "best").astype(np.int64)
    arrays, n_rows = _all_coders(block)
    draws, k = tilt.shape
    counts = np.zeros((draws, n_rows * k, k), dtype=np.int64)
    sizes = np.zeros((draws, k), dtype=np.int64)
    wrong = np.zeros(draws, dtype=np.int64)
    for n in range(draws):
        wrong[n] = stacked_truths(
            *arrays, log_q, writable(sharpness[n]), unknown[n], writable(tilt[n]), best,
            np.uint64(key), iteration + n, block.first, counts[n], sizes[n],
        )  # fmt: skip
    return counts, sizes, wrong
