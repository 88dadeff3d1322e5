"""Distances between labels, and their sums over tables of label pairs.

No class here ever holds a table of value x value unless the user gave one: squared differences
come from moments, all other numeric distances are computed block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from annomodels.types import Floats, Ints

BLOCK = 256


class Distance(Protocol):
    """A symmetric distance between labels with distance 0 from a label to itself."""

    # `pooled` are the weights of the labels [..., label]; only the ordinal distance depends on
    # them.

    @property
    def name(self) -> str:
        """Name that the user gave."""

    def pairs(self, first: Ints, second: Ints, pooled: Floats) -> Floats:
        """Distance of listed pairs of labels, shape [..., pair] or [pair]."""

    def form(self, left: Floats, right: Floats, pooled: Floats) -> Floats:
        """Sum over k and l of left_k right_l d_kl, shape [...]."""

    def reach(self, right: Floats, pooled: Floats) -> Floats:
        """Sum over l of right_l d_kl, shape [..., label k]; `pooled` has the shape [label]."""

    def largest(self, pooled: Floats) -> Floats:
        """Largest distance between two labels of the label set, shape [...] or []."""


@dataclass(frozen=True)
class Nominal:
    """Distance 1 between different labels."""

    name: str = "nominal"

    def pairs(self, first: Ints, second: Ints, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        return np.asarray(first != second, dtype=float)

    def form(self, left: Floats, right: Floats, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        return np.asarray(left.sum(-1) * right.sum(-1) - (left * right).sum(-1))

    def reach(self, right: Floats, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        return np.asarray(right.sum(-1, keepdims=True) - right)

    def largest(self, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        return np.asarray(float(pooled.shape[-1] > 1))


def unit(distance: Distance, pooled: Floats) -> Floats:
    """Distance that counts as no agreement at all: 1 for weights of agreement, else the largest."""
    known = distance.unit if isinstance(distance, Computed) else None
    return distance.largest(pooled) if known is None else np.asarray(known)


class Squares:
    """Squared difference of the places of labels on a line; moments do for all sums."""

    def places(self, pooled: Floats) -> Floats:
        """Place of each label, shape [label] or [..., label]."""
        raise NotImplementedError

    def _centred(self, pooled: Floats) -> Floats:
        """Places less their mean, which keeps the digits of sums of squares."""
        x = self.places(pooled)
        weight = np.maximum(pooled.sum(-1, keepdims=True), np.finfo(float).tiny)
        return np.asarray(x - (pooled * x).sum(-1, keepdims=True) / weight)

    def pairs(self, first: Ints, second: Ints, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        x = self.places(pooled)
        return np.asarray((x[..., first] - x[..., second]) ** 2)

    def form(self, left: Floats, right: Floats, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        x = self._centred(pooled)
        square = x * x
        return np.asarray(
            (left * square).sum(-1) * right.sum(-1)
            + left.sum(-1) * (right * square).sum(-1)
            - 2 * (left * x).sum(-1) * (right * x).sum(-1)
        )

    def reach(self, right: Floats, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        x = self._centred(pooled)
        moments = (right.sum(-1), (right * x).sum(-1), (right * x * x).sum(-1))
        mass, first, second = (np.asarray(m)[..., None] for m in moments)
        return np.asarray(mass * x * x - 2 * first * x + second)

    def largest(self, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        return np.asarray(np.ptp(self.places(pooled), axis=-1) ** 2)


@dataclass(frozen=True, eq=False)
class Squared(Squares):
    """Squared difference of the labels' values."""

    name: str  # what the user called it
    values: Floats  # value of each label [label]

    def places(self, pooled: Floats) -> Floats:
        """Value of each label."""
        return self.values


@dataclass(frozen=True)
class Ordinal(Squares):
    """Krippendorff's ordinal distance: the squared share of labels between two labels."""

    # The squared difference of mid-ranks, as shares of all pairable labels; Krippendorff counts
    # labels instead of shares, which changes only the unit.

    name: str = "ordinal"

    def places(self, pooled: Floats) -> Floats:
        """Mid-rank of each label, as a share."""
        total = np.maximum(pooled.sum(-1, keepdims=True), np.finfo(float).tiny)
        return np.asarray((np.cumsum(pooled, axis=-1) - pooled / 2) / total - 0.5)


@dataclass(frozen=True, eq=False)
class Computed:
    """A distance given by a function of label codes, for instance a look-up in a table."""

    name: str  # what the user called it
    # takes two arrays of label codes that broadcast, gives their distances
    between: Callable[[Ints, Ints], Floats]
    n_labels: int  # size of the label set
    # distance that is no agreement at all, where this is not the largest distance
    unit: float | None = None
    note: str = ""  # what a reader should know about it

    def pairs(self, first: Ints, second: Ints, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        return self.between(first, second)

    def form(self, left: Floats, right: Floats, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        out = np.zeros(np.broadcast_shapes(left.shape[:-1], right.shape[:-1]))
        for start, reached in self._blocks(left):
            out += (reached * right[..., start : start + BLOCK]).sum(-1)
        return out

    def reach(self, right: Floats, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        return np.concatenate([reached for _, reached in self._blocks(right)], axis=-1)

    def _blocks(self, weights: Floats) -> Iterator[tuple[int, Floats]]:
        """Yield sums of distances to some labels at a time, with the first of them."""
        codes = np.arange(self.n_labels)
        flat = np.ascontiguousarray(weights).reshape(-1, self.n_labels)
        for start in range(0, self.n_labels, BLOCK):
            block = codes[start : start + BLOCK]
            reached = flat @ self.between(codes[:, None], block[None, :])
            yield start, reached.reshape(*weights.shape[:-1], len(block))

    def largest(self, pooled: Floats) -> Floats:
        """See :class:`Distance`."""
        codes = np.arange(self.n_labels)
        starts = range(0, self.n_labels, BLOCK)
        blocks = [self.between(codes[:, None], codes[None, s : s + BLOCK]).max() for s in starts]
        return np.asarray(max(blocks))
