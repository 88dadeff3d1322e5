"""Statistics that are linear in the weights of the items, as sparse matrices.

Any number of weightings of the items - the data, bootstrap draws - is one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from annomodels.coefficients.distances import Distance, Squared
from annomodels.coefficients.formulas import ICC
from annomodels.coefficients.rows import Convention, Rows, label_counts, within_items
from annomodels.coefficients.tables import Tables, over
from annomodels.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Counts:
    """Statistics of each item under a convention; what is not asked for is not made."""

    rows: Rows
    convention: Convention

    @property
    def n_coders(self) -> int:
        """Number of coders."""
        return self.rows.n_coders

    @property
    def n_labels(self) -> int:
        """Size of the label set."""
        return self.rows.n_labels

    def weight(self, of: Callable[[Floats], Floats]) -> Floats:
        """Weight of each item by its number of labels; with listwise 0 where one is missing."""
        r = self.rows.per_item.astype(float)
        if self.convention.name == "listwise":
            return np.where(r == self.rows.n_coders, of(r), 0.0)
        return of(r)

    @cached_property
    def n(self) -> Floats:
        """Number of pairable labels, shape [item]."""
        return self.weight(lambda r: np.where(r >= 2, r, 0.0))

    @cached_property
    def _listed(self) -> tuple[Ints, Ints, sparse.csc_array]:
        """Pairs of labels that occur in an item, and the weight of each [pair, item]."""
        item, label, times, _ = label_counts(self.rows)
        a, b = within_items(item, self.rows.n_items)
        pair = self.weight(self.convention.pair)[item[a]]
        ways = np.where(a == b, times[a] * (times[a] - 1), 2 * times[a] * times[b]) * pair
        some = ways > 0
        a, b, ways = a[some], b[some], ways[some]
        codes, where = np.unique(label[a] * self.n_labels + label[b], return_inverse=True)
        shape = (len(codes), self.rows.n_items)
        first, second = np.divmod(codes, self.n_labels)
        return first, second, sparse_sum(ways, where, item[a], shape)

    @property
    def first(self) -> Ints:
        """Label codes of the pairs that may occur in an item, the lower ones, shape [pair]."""
        return self._listed[0]

    @property
    def second(self) -> Ints:
        """Label codes of the pairs that may occur in an item, the higher ones, shape [pair]."""
        return self._listed[1]

    @property
    def together(self) -> sparse.csc_array:
        """Weight of each pair, sparse [pair, item]."""
        return self._listed[2]

    @cached_property
    def pooled(self) -> sparse.csc_array:
        """Weight of each label, sparse [label, item]."""
        return self._by_item(self.convention.pooled, self.rows.label, self.rows.n_labels)

    @cached_property
    def coders(self) -> sparse.csc_array:
        """Weight of each label of each coder, sparse [coder * label, item]."""
        cells = self.rows.coder * self.n_labels + self.rows.label
        return self._by_item(self.convention.coder, cells, self.n_coders * self.n_labels)

    def _by_item(self, of: Callable[[Floats], Floats], cell: Ints, size: int) -> sparse.csc_array:
        item = self.rows.item
        return sparse_sum(self.weight(of)[item], cell, item, (size, self.rows.n_items))

    def width(self, by_coder: bool) -> int:
        """Numbers held for each weighting, to plan memory with."""
        cells = self.rows.n_coders * self.n_labels if by_coder else 0
        return 4 * (cells + len(self.first) + self.n_labels)

    def tables(self, weights: Floats, by_coder: bool = True) -> Tables:
        """Tables of weighted items."""
        rows = np.zeros((*weights.shape[:-1], 0, 0))
        if by_coder:
            rows = self._rows((self.coders @ weights.T).T)
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

    def _rows(self, cells: Floats) -> Floats:
        """Put all coders before each of them, [..., coder * label] -> [..., 1 + coder, label]."""
        own = cells.reshape(*cells.shape[:-1], self.n_coders, self.n_labels)
        if self.convention.equal_coders:
            own = over(own, own.sum(-1, keepdims=True), 0.0)
        return np.concatenate([own.sum(-2, keepdims=True), own], axis=-2)


def sparse_sum(values: Floats, row: Ints, column: Ints, shape: tuple[int, int]) -> sparse.csc_array:
    """Sparse matrix, equal places added up; item after item, as products with weights want it."""
    return sparse.csc_array((values, (row, column)), shape=shape)


MANY_VALUES = 8
BILINEAR = ("pooled", "without_replacement", "between", *ICC)


@dataclass(frozen=True, eq=False)
class Moments(Counts):
    """Statistics of each item with nodes for labels."""

    # The mean of squared differences depends on the labels through their moments alone, so three
    # nodes - the least value, the largest, their mean - with the same sum, mean and mean square
    # (Lagrange's polynomials, some weights negative) do for a hundred thousand distinct values.

    values: Floats  # of each label [label]
    n_labels: int = 3

    @cached_property
    def _each(self) -> Floats:
        """Weights of the nodes that stand for each annotation, shape [annotation, node]."""
        z = 2 * (self.values - self.values.min()) / np.ptp(self.values) - 1
        return np.stack([z * (z - 1) / 2, 1 - z * z, z * (z + 1) / 2], axis=1)[self.rows.label]

    def _sums(self, each: Floats) -> Floats:
        return np.bincount(self.rows.item, weights=each, minlength=self.rows.n_items)

    @cached_property
    def _listed(self) -> tuple[Ints, Ints, Floats]:
        """Pairs of nodes, and the weight of each [pair, item]."""
        pair, found = self.weight(self.convention.pair), []
        first, second = np.triu_indices(3)
        for a, b in zip(first, second, strict=True):
            one, other = self._each[:, a], self._each[:, b]
            ways = self._sums(one) * self._sums(other) - self._sums(one * other)
            found.append(pair * ways * (1 if a == b else 2))
        return first, second, np.stack(found)

    @cached_property
    def pooled(self) -> Floats:
        """Weight of each node, shape [node, item]."""
        weight = self.weight(self.convention.pooled)
        return np.stack([self._sums(each) * weight for each in self._each.T])

    @cached_property
    def coders(self) -> sparse.csc_array:
        """Weight of each node of each coder, sparse [coder * node, item]."""
        rows = self.rows
        weight = self.weight(self.convention.coder)[rows.item]
        cell = rows.coder[:, None] * 3 + np.arange(3)
        item = np.repeat(rows.item, 3)
        values = (self._each * weight[:, None]).reshape(-1)
        return sparse_sum(values, cell.reshape(-1), item, (rows.n_coders * 3, rows.n_items))


def count_for(
    rows: Rows, convention: Convention, distance: Distance, expectation: str | None
) -> tuple[Counts, Distance]:
    """Count labels, or nodes where these may stand for them, with the distance between them."""
    if isinstance(distance, Squared) and expectation in BILINEAR:
        low, high = distance.values.min(), distance.values.max()
        if len(distance.values) >= MANY_VALUES and low < high:
            nodes = Squared(distance.name, np.array([low, (low + high) / 2, high]))
            return Moments(rows, convention, distance.values), nodes
    return Counts(rows, convention), distance
