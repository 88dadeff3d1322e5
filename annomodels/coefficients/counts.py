"""Statistics that are linear in the weights of the items, as sparse matrices.

Any number of weightings of the items - the data themselves, bootstrap draws - is one matrix
product. Nothing here has the size coder x item x label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from annomodels.coefficients.conventions import Convention
from annomodels.coefficients.rows import Rows
from annomodels.coefficients.tables import Tables

__all__ = ["Counts", "count", "sparse_sum", "within_items"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Counts:
    """Statistics of each item under a convention.

    Parameters
    ----------
    first, second
        Label codes of the pairs that occur within an item, shape [pair].
    together
        Weight of each pair, sparse [pair, item].
    pooled
        Weight of each label, sparse [label, item].
    coders
        Weight of each label of each coder, sparse [coder * label, item].
    n
        Number of pairable labels, shape [item].
    n_coders
        Number of coders.
    equal_coders
        See :class:`~.conventions.Convention`.
    """

    first: Ints
    second: Ints
    together: Any
    pooled: Any
    coders: Any
    n: Floats
    n_coders: int
    equal_coders: bool

    def width(self, by_coder: bool) -> int:
        """Numbers held for each weighting, to plan memory with."""
        cells = int(self.coders.shape[0]) if by_coder else 0
        return 4 * (cells + len(self.first) + int(self.pooled.shape[0]))

    def tables(self, weights: Floats, by_coder: bool = True) -> Tables:
        """Tables of weighted items.

        Parameters
        ----------
        weights
            Weight of each item, shape [item] or [draw, item].
        by_coder
            Whether the distributions of the single coders are needed; without them `left` and
            `right` are empty.
        """
        rows = self._rows(weights) if by_coder else np.zeros((*weights.shape[:-1], 0, 0))
        return Tables(
            first=self.first,
            second=self.second,
            together=(self.together @ weights.T).T,
            pooled=(self.pooled @ weights.T).T,
            left=rows,
            right=rows,
            sign=np.concatenate([[1.0], np.full(self.n_coders, -1.0)]),
            n=np.asarray(weights @ self.n),
        )

    def _rows(self, weights: Floats) -> Floats:
        """All coders together, then each of them, shape [..., 1 + coder, label]."""
        own = (self.coders @ weights.T).T
        own = own.reshape(*weights.shape[:-1], self.n_coders, -1)
        if self.equal_coders:
            given = own.sum(-1, keepdims=True)
            own = np.divide(own, given, out=np.zeros_like(own), where=given > 0)
        return np.concatenate([own.sum(-2, keepdims=True), own], axis=-2)


def within_items(owner: Ints, size: int) -> tuple[Ints, Ints]:
    """All pairs of positions (a <= b) with the same owner; `owner` is sorted, owners < `size`."""
    per_owner = np.bincount(owner, minlength=size)
    ends = np.cumsum(per_owner)
    position = np.arange(len(owner))
    partners = ends[owner] - position
    a = np.repeat(position, partners)
    offset = np.arange(len(a)) - np.repeat(np.cumsum(partners) - partners, partners)
    return a, a + offset


def count(rows: Rows, convention: Convention) -> Counts:
    """Count label pairs and labels of each item."""
    n, k = rows.n_items, rows.n_labels
    r = rows.per_item.astype(float)
    used = np.ones(n)
    if convention.name == "listwise":
        used = (r == rows.n_coders).astype(float)
    pair, pooled, coder = (
        used * weight(r) for weight in (convention.pair, convention.pooled, convention.coder)
    )
    cell, times = np.unique(rows.item * k + rows.label, return_counts=True)
    item, label = np.divmod(cell, k)
    a, b = within_items(item, n)
    ways = np.where(a == b, times[a] * (times[a] - 1), 2 * times[a] * times[b]) * pair[item[a]]
    some = ways > 0
    a, b, ways = a[some], b[some], ways[some]
    codes, where = np.unique(label[a] * k + label[b], return_inverse=True)
    first, second = np.divmod(codes, k)
    return Counts(
        first=first,
        second=second,
        together=sparse_sum(ways, where, item[a], (len(codes), n)),
        pooled=sparse_sum(pooled[item] * times, label, item, (k, n)),
        coders=sparse_sum(
            coder[rows.item], rows.coder * k + rows.label, rows.item, (rows.n_coders * k, n)
        ),
        n=used * np.where(r >= 2, r, 0.0),
        n_coders=rows.n_coders,
        equal_coders=convention.equal_coders,
    )


def sparse_sum(values: Floats, row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
    """Sparse matrix, equal places added up."""
    return sparse.csr_array((values, (row, column)), shape=shape)
