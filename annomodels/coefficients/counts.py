"""Statistics that are linear in the weights of the items, as sparse matrices.

Any number of weightings of the items - the data themselves, bootstrap draws - is one matrix
product. Nothing here has the size coder x item x label.

Squared differences of numbers need no table of value x value, or even of value x item. The mean of
:math:`(x - y)^2` depends on the distribution of the labels through its moments alone. So every
label may be put in the place of weights on three *nodes* - the smallest value, the largest and
their mean - that have the same sum, mean and mean square (Lagrange's polynomials, so some weights
are negative). Whatever is linear or bilinear in the distribution comes out the same, and a hundred
thousand distinct values cost no more than three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from annomodels.coefficients.distances import Distance, Squared
from annomodels.coefficients.formulas import ICC
from annomodels.coefficients.rows import Convention, Rows, meetings, within_items
from annomodels.coefficients.tables import Tables, label_pairs, over, two_coders
from annomodels.errors import NotApplicable
from annomodels.types import Floats, Ints

FULL = 4
FEW_LABELS = 8
BLOCK = 50_000
SMALL = 100_000


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
    def votes(self) -> Floats | None:
        """Labels of each kind, shape [item, label]; None where hardly an entry were not 0."""
        rows, k = self.rows, self.rows.n_labels
        if rows.n_items * k > FULL * len(rows.item) + SMALL:
            return None
        found = np.bincount(rows.item * k + rows.label, minlength=rows.n_items * k)
        return found.reshape(rows.n_items, k).astype(float)

    @cached_property
    def _listed(self) -> tuple[Ints, Ints, sparse.csc_array | None]:
        """Pairs of labels and, where `votes` are None, their weights."""
        pair = self.weight(self.convention.pair)
        k = self.rows.n_labels
        if self.votes is not None:
            first, second = label_pairs(k)
            if k > FEW_LABELS:
                some = self._together(pair, self.votes)[first, second] > 0
                first, second = first[some], second[some]
            return first, second, None
        cell, times = np.unique(self.rows.item * k + self.rows.label, return_counts=True)
        item, label = np.divmod(cell, k)
        a, b = within_items(item, self.rows.n_items)
        ways = np.where(a == b, times[a] * (times[a] - 1), 2 * times[a] * times[b]) * pair[item[a]]
        some = ways > 0
        a, b, ways = a[some], b[some], ways[some]
        codes, where = np.unique(label[a] * k + label[b], return_inverse=True)
        shape = (len(codes), self.rows.n_items)
        first, second = np.divmod(codes, k)
        return first, second, sparse_sum(ways, where, item[a], shape)

    @property
    def first(self) -> Ints:
        """Label codes of the pairs that may occur in an item, the lower ones, shape [pair]."""
        return self._listed[0]

    @property
    def second(self) -> Ints:
        """Label codes of the pairs that may occur in an item, the higher ones, shape [pair]."""
        return self._listed[1]

    @cached_property
    def together(self) -> sparse.csc_array:
        """Weight of each pair, sparse [pair, item]."""
        first, second, known = self._listed
        if known is not None or self.votes is None:
            return known
        pair = self.weight(self.convention.pair)
        alike = (first == second).astype(float)
        ends, places, values = [np.zeros(1, dtype=np.int64)], [], []
        for start in range(0, self.rows.n_items, BLOCK):
            some = self.votes[start : start + BLOCK]
            ways = some[:, first] * (some[:, second] - alike) * (2 - alike)
            ways *= pair[start : start + BLOCK, None]
            item, place = np.nonzero(ways)
            ends.append(ends[-1][-1] + np.cumsum(np.bincount(item, minlength=len(some))))
            places.append(place)
            values.append(ways[item, place])
        shape = len(first), self.rows.n_items
        parts = (np.concatenate(x) for x in (values, places, ends))
        return sparse.csc_array(tuple(parts), shape=shape)

    @cached_property
    def pooled(self) -> sparse.csc_array:
        """Weight of each label, sparse [label, item]."""
        return self._by_item(self.convention.pooled, self.rows.label, self.rows.n_labels)

    @cached_property
    def coders(self) -> sparse.csc_array:
        """Weight of each label of each coder, sparse [coder * label, item]."""
        size = self.rows.n_coders * self.rows.n_labels
        return self._by_item(self.convention.coder, self._cells(), size)

    def _by_item(self, of: Callable[[Floats], Floats], cell: Ints, size: int) -> sparse.csc_array:
        """Weights of the labels in their cells; the labels are sorted by item already."""
        rows = self.rows
        ends = np.concatenate([rows.starts, [len(rows.item)]])
        values = np.repeat(self.weight(of), rows.per_item)
        return sparse.csc_array((values, cell, ends), shape=(size, rows.n_items))

    def width(self, by_coder: bool) -> int:
        """Numbers held for each weighting, to plan memory with."""
        cells = self.rows.n_coders * self.n_labels if by_coder else 0
        return 4 * (cells + len(self.first) + self.n_labels)

    def tables(self, weights: Floats, by_coder: bool = True) -> Tables:
        """Tables of weighted items."""
        if weights.ndim == 1 and self.votes is not None:
            together, pooled = self._once(weights, self.votes)
        else:
            together = (self.together @ weights.T).T
            pooled = (self.pooled @ weights.T).T
        rows = self._rows(weights) if by_coder else np.zeros((*weights.shape[:-1], 0, 0))
        return Tables(
            first=self.first,
            second=self.second,
            together=together,
            pooled=pooled,
            left=rows,
            right=rows,
            sign=np.concatenate([[1.0], np.full(self.n_coders, -1.0)]),
            n=np.asarray(weights @ self.n),
        )

    def _cells(self) -> Ints:
        """Coder and label of each annotation in one number."""
        return self.rows.coder * self.rows.n_labels + self.rows.label

    def _together(self, weights: Floats, votes: Floats) -> Floats:
        """Weight of each pair of labels, shape [label, label], the two orders together."""
        table = np.asarray((votes.T * weights) @ votes)
        table[np.diag_indices(len(table))] -= weights @ votes
        return np.asarray(table * (2.0 - np.eye(len(table))))

    def _once(self, weights: Floats, votes: Floats) -> tuple[Floats, Floats]:
        """Label pairs and labels under one weighting, without a matrix for all items."""
        pair = weights * self.weight(self.convention.pair)
        pooled = weights * self.weight(self.convention.pooled)
        return self._together(pair, votes)[self.first, self.second], pooled @ votes

    def _rows(self, weights: Floats) -> Floats:
        """All coders together, then each of them, shape [..., 1 + coder, label]."""
        if weights.ndim > 1:
            return self.by_coder((self.coders @ weights.T).T)
        given = (weights * self.weight(self.convention.coder))[self.rows.item]
        size = self.rows.n_coders * self.rows.n_labels
        return self.by_coder(np.bincount(self._cells(), weights=given, minlength=size))

    def by_coder(self, cells: Floats) -> Floats:
        """Put all coders before each of them, [..., coder * label] -> [..., 1 + coder, label]."""
        own = cells.reshape(*cells.shape[:-1], self.n_coders, -1)
        if self.convention.equal_coders:
            own = over(own, own.sum(-1, keepdims=True), 0.0)
        return np.concatenate([own.sum(-2, keepdims=True), own], axis=-2)


def sparse_sum(values: Floats, row: Ints, column: Ints, shape: tuple[int, int]) -> sparse.csc_array:
    """Sparse matrix, equal places added up; item after item, as products with weights want it."""
    return sparse.csc_array((values, (row, column)), shape=shape)


MANY_VALUES = 8
MOST_CELLS = 20_000_000
BILINEAR = ("pooled", "without_replacement", "between", *ICC)


def few_nodes(distance: Distance, expectation: str | None) -> Squared | None:
    """Distance between nodes, where they may stand for the labels; else None."""
    if not isinstance(distance, Squared) or expectation not in BILINEAR:
        return None
    low, high = distance.values.min(), distance.values.max()
    if len(distance.values) < MANY_VALUES or not low < high:
        return None
    return Squared(distance.name, np.array([low, (low + high) / 2, high]))


def _node_weights(x: Floats) -> Floats:
    """Weights of the nodes that stand for each value, shape [value, node]."""
    z = 2 * (x - x.min()) / np.ptp(x) - 1
    return np.stack([z * (z - 1) / 2, 1 - z * z, z * (z + 1) / 2], axis=1)


@dataclass(frozen=True, eq=False)
class Moments(Counts):
    """Statistics of each item with nodes for labels."""

    values: Floats  # of each label [label]
    votes: Floats | None = None
    n_labels: int = 3

    @cached_property
    def _each(self) -> Floats:
        """Weights of the nodes that stand for each annotation, shape [annotation, node]."""
        return _node_weights(self.values)[self.rows.label]

    def _sums(self, each: Floats) -> Floats:
        return np.bincount(self.rows.item, weights=each, minlength=self.rows.n_items)

    @cached_property
    def together(self) -> Floats:
        """Weight of each pair of nodes, shape [pair, item]."""
        pair, found = self.weight(self.convention.pair), []
        for a, b in zip(self.first, self.second, strict=True):
            one, other = self._each[:, a], self._each[:, b]
            ways = self._sums(one) * self._sums(other) - self._sums(one * other)
            found.append(pair * ways * (1 if a == b else 2))
        return np.stack(found)

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

    @property
    def _listed(self) -> tuple[Ints, Ints, None]:
        return *label_pairs(3), None

    def _rows(self, weights: Floats) -> Floats:
        return self.by_coder((self.coders @ weights.T).T)


def count_for(
    rows: Rows, convention: Convention, distance: Distance, expectation: str | None
) -> tuple[Counts, Distance]:
    """Count labels, or nodes where these may stand for them, with the distance between them."""
    nodes = few_nodes(distance, expectation)
    if nodes is None or not isinstance(distance, Squared):
        return Counts(rows, convention), distance
    return Moments(rows, convention, distance.values), nodes


@dataclass(frozen=True, eq=False)
class CoderPairs:
    """Label pairs of each pair of coders that share an item."""

    one: Ints  # the two coders, [coder pair]
    other: Ints
    # times that the one says k and the other l [coder pair * K * K, item]
    joint: sparse.csc_array
    n: Floats  # number of pairable labels, [item]
    n_labels: int

    def width(self, by_coder: bool = True) -> int:
        """Numbers held for each weighting, to plan memory with."""
        return 4 * int(self.joint.shape[0])

    def each(self, weights: Floats) -> Tables:
        """Tables of each pair of coders, with the dimensions [..., coder pair]."""
        k = self.n_labels
        joint = (self.joint @ weights.T).T.reshape(*weights.shape[:-1], len(self.one), k, k)
        return two_coders(joint)

    def tables(self, weights: Floats, by_coder: bool = True) -> Tables:
        """Tables in which every pair of coders with a shared item counts the same."""
        each = self.each(weights)
        scale = over(1.0, each.n / 2, 0.0)[..., None]
        return Tables(
            first=each.first,
            second=each.second,
            together=(each.together * scale).sum(-2),
            pooled=(each.pooled * scale).sum(-2),
            left=each.left[..., 0, :] * scale,
            right=each.right[..., 0, :] * scale,
            sign=np.ones(len(self.one)),
            n=np.asarray(weights @ self.n),
        )


def count_pairs(rows: Rows, complete_only: bool = False) -> CoderPairs:
    """Count label pairs of each pair of coders on the items that both labeled."""
    k, r = rows.n_labels, rows.per_item
    met = meetings(rows, complete_only)
    cells = len(met.pairs) * k * k
    if cells > MOST_CELLS:
        raise NotApplicable(
            f"{len(met.pairs):,} pairs of coders with {k:,} labels need {cells:,} cells "
            f"(at most {MOST_CELLS:,}). Take another convention than pairwise, or fewer coders."
        )
    one, other = np.divmod(met.pairs, rows.n_coders)
    row = (met.pair * k + met.first) * k + met.second
    joint = sparse_sum(np.ones(len(row)), row, met.item, (cells, rows.n_items))
    used = (r == rows.n_coders) if complete_only else (r >= 2)
    return CoderPairs(one, other, joint, np.where(used, r, 0).astype(float), k)
