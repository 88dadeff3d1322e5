"""Joint tables of label pairs, the input of coefficients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from annomodels.types import Floats, Ints


def over(part: ArrayLike, whole: ArrayLike, otherwise: float = math.nan) -> Floats:
    """Divide part by whole if the whole is not 0, shape [...]."""
    shape = np.broadcast_shapes(np.shape(part), np.shape(whole))
    like = part if np.shape(part) == shape else whole
    # keep the order of the axes, and so the last digit of sums over the result
    out = np.full_like(like, otherwise, dtype=float, shape=shape)
    return np.asarray(np.divide(part, whole, out=out, where=np.asarray(whole) > 0))


class Evaluated(NamedTuple):
    value: Floats  # 1 - observed / expected, NaN where it is undefined [...]
    observed: Floats  # observed disagreement D_o [...]
    expected: Floats  # expected disagreement D_e, NaN for a coefficient without one [...]

    def mean(self, axis: int) -> Evaluated:
        """Return the mean over the defined values of an axis; NaN if none is defined."""
        defined = ~np.isnan(self.value)
        n = defined.sum(axis)
        return Evaluated(*(over(np.where(defined, x, 0.0).sum(axis), n) for x in self))


@dataclass(frozen=True, eq=False)
class PairTables:
    """Weights of label pairs and labels, with any leading batch dimensions."""

    # Data give counts, a bootstrap draw weighted counts, and a fitted model probabilities.

    first: Ints  # label codes of the pairs that are listed, first <= second [pair]
    second: Ints
    # weight of each pair of labels that two coders gave to the same item, in either order
    # [..., pair]
    together: Floats
    pooled: Floats  # weight of each label over all coders [..., label]
    # weights of the labels of the two coders of a pair [..., row, label]. The agreement
    # expected between two different coders is a sum over these rows
    left: Floats
    right: Floats
    # weight of each row [row]. A sum over all pairs of coders is one row for all coders with
    # themselves (+1) minus a row for each coder with themselves (-1)
    sign: Floats
    n: Floats  # number of labels behind the tables, infinite for probabilities [...]

    @property
    def n_labels(self) -> int:
        return int(self.pooled.shape[-1])

    @property
    def n_coders(self) -> int:
        """Number of coders, from the rows of `left`."""
        rows = len(self.sign)
        if (self.sign < 0).any():
            return rows - 1
        return round((1.0 + math.sqrt(1.0 + 8.0 * rows)) / 2.0)


def fold(joint: Floats) -> Floats:
    """Return the weights of pairs with first <= second from tables, [..., K, K] -> [..., pair]."""
    first, second = np.triu_indices(joint.shape[-1])
    both = joint + np.swapaxes(joint, -1, -2)
    return np.asarray(np.where(first == second, 0.5, 1.0) * both[..., first, second])


def from_joint(
    joint: ArrayLike | Sequence[ArrayLike],
    weights: ArrayLike | None = None,
    n: ArrayLike = np.inf,
) -> PairTables:
    if isinstance(joint, (list, tuple)) and np.ndim(joint[0]) >= 2:
        pairs = [np.asarray(table, dtype=float) for table in joint]
    else:
        pairs = [np.asarray(joint, dtype=float)]
    share = np.ones(len(pairs)) if weights is None else np.asarray(weights, dtype=float)
    share = share / share.sum()
    tables = np.stack([t / t.sum((-1, -2), keepdims=True) for t in pairs], axis=-3)
    mean = (tables * share[:, None, None]).sum(-3)
    first, second = np.triu_indices(mean.shape[-1])
    return PairTables(
        first=first,
        second=second,
        together=fold(mean),
        pooled=(mean.sum(-1) + mean.sum(-2)) / 2,
        left=tables.sum(-1),
        right=tables.sum(-2),
        sign=share,
        n=np.broadcast_to(np.asarray(n, dtype=float), mean.shape[:-2]),
    )
