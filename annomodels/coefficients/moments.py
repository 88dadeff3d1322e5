r"""Squared differences of numbers, without a table of value x value or even of value x item.

The mean of :math:`(x - y)^2` depends on the distribution of the labels through its moments alone.
So every label may be put in the place of weights on three *nodes* - the smallest value, the largest
and their mean - that have the same sum, mean and mean square (Lagrange's polynomials, so some
weights are negative). Whatever is linear or bilinear in the distribution comes out the same, and a
hundred thousand distinct values cost no more than three.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.conventions import Convention
from annomodels.coefficients.counts import Counts, sparse_sum
from annomodels.coefficients.distances import Distance, Squared
from annomodels.coefficients.rows import Rows
from annomodels.coefficients.tables import Tables, label_pairs
from annomodels.coefficients.variances import ICC

__all__ = ["Moments", "few_nodes"]

Floats = NDArray[np.float64]

MANY_VALUES = 8
BILINEAR = ("pooled", "without_replacement", "between", *ICC)


def few_nodes(distance: Distance, expectation: str | None) -> Squared | None:
    """Distance between nodes, where they may stand for the labels; else None.

    Examples
    --------
    >>> few_nodes(Squared("interval", np.arange(101.0)), "pooled").values
    array([  0.,  50., 100.])
    """
    if not isinstance(distance, Squared) or expectation not in BILINEAR:
        return None
    low, high = distance.values.min(), distance.values.max()
    if len(distance.values) < MANY_VALUES or not low < high:
        return None
    return Squared(distance.name, np.array([low, (low + high) / 2, high]))


def _weights(x: Floats) -> Floats:
    """Weights of the nodes that stand for each value, shape [value, node]."""
    z = 2 * (x - x.min()) / np.ptp(x) - 1
    return np.stack([z * (z - 1) / 2, 1 - z * z, z * (z + 1) / 2], axis=1)


@dataclass(frozen=True, eq=False)
class Moments:
    """Statistics of each item as in :class:`~.counts.Counts`, with nodes for labels.

    Parameters
    ----------
    rows
        The labels.
    convention
        How much an item with r labels counts.
    values
        Value of each label, shape [label].
    """

    rows: Rows
    convention: Convention
    values: Floats

    @cached_property
    def _plain(self) -> Counts:
        return Counts(self.rows, self.convention)

    @cached_property
    def _each(self) -> Floats:
        """Weights of the nodes that stand for each annotation, shape [annotation, node]."""
        return _weights(self.values)[self.rows.label]

    def _per_item(self, each: Floats) -> Floats:
        return np.bincount(self.rows.item, weights=each, minlength=self.rows.n_items)

    @cached_property
    def _sums(self) -> Floats:
        """Sum of the weights of each node, shape [item, node]."""
        return np.stack([self._per_item(self._each[:, n]) for n in range(3)], axis=1)

    @cached_property
    def _together(self) -> Floats:
        """Weight of each pair of nodes, shape [item, pair]."""
        pair = self._plain.weight(self.convention.pair)
        found = []
        for a, b in zip(*label_pairs(3), strict=True):
            own = self._per_item(self._each[:, a] * self._each[:, b])
            ways = self._sums[:, a] * self._sums[:, b] - own
            found.append(pair * ways * (1 if a == b else 2))
        return np.stack(found, axis=1)

    @cached_property
    def _pooled(self) -> Floats:
        return self._sums * self._plain.weight(self.convention.pooled)[:, None]

    @cached_property
    def _coders(self) -> Any:
        """Weight of each node of each coder, sparse [coder * node, item]."""
        rows = self.rows
        weight = self._plain.weight(self.convention.coder)[rows.item]
        cell = rows.coder[:, None] * 3 + np.arange(3)
        item = np.repeat(rows.item, 3)
        values = (self._each * weight[:, None]).reshape(-1)
        return sparse_sum(values, cell.reshape(-1), item, (rows.n_coders * 3, rows.n_items))

    def width(self, by_coder: bool) -> int:
        """Numbers held for each weighting, to plan memory with."""
        return 4 * (9 + (3 * self.rows.n_coders if by_coder else 0))

    def tables(self, weights: Floats, by_coder: bool = True) -> Tables:
        """Tables of weighted items; see :meth:`.counts.Counts.tables`."""
        empty = np.zeros((*weights.shape[:-1], 0, 0))
        rows = self._plain.by_coder((self._coders @ weights.T).T) if by_coder else empty
        first, second = label_pairs(3)
        return Tables(
            first=first,
            second=second,
            together=weights @ self._together,
            pooled=weights @ self._pooled,
            left=rows,
            right=rows,
            sign=np.concatenate([[1.0], np.full(self.rows.n_coders, -1.0)]),
            n=np.asarray(weights @ self._plain.n),
        )
