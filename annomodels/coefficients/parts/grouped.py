r"""Label pairs grouped by part: one weighted list gives every statistic of all parts.

An entry of the list is an item with a label of the one side and a label of the other. A part is a
coder (against all others), a pair of coders, a group of items or an item. All sums over the entries
of a part are linear in the weights of the items, so all parts share the draws. The coefficient of a
part is that of two coders with the margins of the two sides; with two coders in all it is the usual
coefficient.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from annomodels.coefficients.counts import sparse_sum
from annomodels.coefficients.formulas import evaluate_observed
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.reasons import used_items
from annomodels.coefficients.rows import Rows, ranges
from annomodels.coefficients.tables import Evaluated, Tables, over
from annomodels.types import Floats, Ints


class Entries(NamedTuple):
    """Weighted label pairs, and the weight of each label that they are made of."""

    item: Ints  # [entry]
    first: Ints  # label of the one side, [entry]
    second: Ints  # label of the other side, [entry]
    weight: Floats  # [entry]


def label_counts(rows: Rows) -> tuple[Ints, Ints, Ints, Ints]:
    """Count each item's labels: item, label and count of each cell; where an item begins."""
    cell, times = np.unique(rows.item * rows.n_labels + rows.label, return_counts=True)
    item, label = np.divmod(cell, rows.n_labels)
    starts = np.searchsorted(item, np.arange(rows.n_items + 1))
    return item, label, times, starts


def beside(rows: Rows) -> tuple[Ints, Ints, Ints]:
    """Pair annotations with each distinct label of the others on the item, and count these."""
    _, label, times, starts = label_counts(rows)
    cell, a = ranges(starts[rows.item], np.diff(starts)[rows.item])
    others = times[cell] - (label[cell] == rows.label[a])
    some = others > 0
    return a[some], label[cell][some], others[some]


@dataclass(frozen=True, eq=False)
class Grouped:
    """Sums over the label pairs of each part, made when they are asked for."""

    setup: Setup
    rows: Rows
    entries: Entries
    part: Ints  # of each entry
    n_parts: int
    labels: tuple[Floats, Ints, Ints] | None = None  # numbers of labels, with their part and item

    def _sum(self, values: Floats, row: Ints, height: int) -> sparse.csc_array:
        return sparse_sum(values, row, self.entries.item, (height, self.rows.n_items))

    @cached_property
    def total(self) -> sparse.csc_array:
        """Weight of the pairs, sparse [part, item]."""
        return self._sum(self.entries.weight, self.part, self.n_parts)

    @cached_property
    def apart(self) -> sparse.csc_array:
        """Weighted distance of the pairs under the classical label shares, sparse [part, item]."""
        pooled = np.ones(self.rows.n_labels)
        if self.setup.moving:
            pooled = np.asarray(self.setup.counts().pooled @ self.setup.sample.point)
        d = self.setup.request.distance.pairs(self.entries.first, self.entries.second, pooled)
        return self._sum(self.entries.weight * d, self.part, self.n_parts)

    @cached_property
    def left(self) -> sparse.csc_array:
        """Weight of each label on the one side, sparse [part * label, item]."""
        return self._side(self.entries.first)

    @cached_property
    def right(self) -> sparse.csc_array:
        """Weight of each label on the other side, sparse [part * label, item]."""
        return self._side(self.entries.second)

    def _side(self, label: Ints) -> sparse.csc_array:
        k = self.rows.n_labels
        return self._sum(self.entries.weight, self.part * k + label, self.n_parts * k)

    @cached_property
    def cells(self) -> tuple[sparse.csc_array, Ints, Ints, Ints]:
        """Weight of each label pair of a part [cell, item], its labels, and where a part begins."""
        k, e = self.rows.n_labels, self.entries
        code, where = np.unique((self.part * k + e.first) * k + e.second, return_inverse=True)
        owner, pair = np.divmod(code, k * k)
        starts = np.searchsorted(owner, np.arange(self.n_parts + 1))
        return self._sum(e.weight, where, len(code)), *np.divmod(pair, k), starts

    @cached_property
    def n(self) -> sparse.csc_array:
        """Number of labels, sparse [part, item]."""
        assert self.labels is not None
        return sparse_sum(*self.labels, (self.n_parts, self.rows.n_items))

    @property
    def width(self) -> int:
        """Numbers held for each draw."""
        moving = 2 * len(self.cells[1]) if self.setup.moving else 0
        return 6 * self.n_parts * self.rows.n_labels + moving

    @property
    def work(self) -> int:
        """Entries of the matrices."""
        last = self.cells[0] if self.setup.moving else self.apart
        return int(self.left.nnz + self.right.nnz + self.n.nnz + last.nnz)

    def evaluate(self, weights: Floats) -> Evaluated:
        """Coefficient of each part, weights [..., item] -> [..., part]."""
        shape = (*weights.shape[:-1], self.n_parts, self.rows.n_labels)
        left = (self.left @ weights.T).T.reshape(shape)
        right = (self.right @ weights.T).T.reshape(shape)
        pooled = left + right
        none = np.zeros(0, dtype=np.int64)
        tables = Tables(
            first=none,
            second=none,
            together=np.zeros((*shape[:-1], 0)),
            pooled=pooled,
            left=left[..., None, :],
            right=right[..., None, :],
            sign=np.ones(1),
            n=(self.n @ weights.T).T,
        )
        d_o = over(self._apart(weights, pooled), left.sum(-1))
        request = self.setup.request
        return evaluate_observed(request.coefficient.expectation, tables, request.distance, d_o)

    def _apart(self, weights: Floats, pooled: Floats) -> Floats:
        """Weighted distance of the pairs of each part; each has its own where distances move."""
        if not self.setup.moving:
            return np.asarray((self.apart @ weights.T).T)
        matrix, first, second, starts = self.cells
        together = (matrix @ weights.T).T
        out = np.empty(pooled.shape[:-1])
        for part in range(self.n_parts):
            some = slice(starts[part], starts[part + 1])
            d = self.setup.request.distance.pairs(first[some], second[some], pooled[..., part, :])
            out[..., part] = (together[..., some] * d).sum(-1)
        return out

    def shares(self, weights: Floats) -> tuple[Floats, Floats]:
        """Share of each part in all disagreement, and in all pairs, [..., item] -> [..., part]."""
        sums = ((matrix @ weights.T).T for matrix in (self.apart, self.total))
        one, other = (over(x, x.sum(-1, keepdims=True)) for x in sums)
        return one, other


def _against_rest(setup: Setup, rows: Rows) -> tuple[Ints, Entries]:
    """Pair each label with the others of its item, weighted as the convention weighs the item."""
    a, second, others = beside(rows)
    item = rows.item[a]
    return a, Entries(item, rows.label[a], second, others * _weight(setup, rows)[item])


def _weight(setup: Setup, rows: Rows) -> Floats:
    """Weight of a pair of labels of each item; 0 for items that do not count."""
    r = rows.per_item.astype(float)
    return np.asarray(setup.convention.pair(r) * used_items(rows, setup.request.convention))


def coder_parts(setup: Setup) -> Grouped:
    """Each coder against the others."""
    rows = setup.sample.rows
    a, entries = _against_rest(setup, rows)
    paired = np.flatnonzero(_weight(setup, rows)[rows.item] > 0)
    item, coder = rows.item[paired], rows.coder[paired]
    labels = rows.per_item[item].astype(float), coder, item
    return Grouped(setup, rows, entries, rows.coder[a], rows.n_coders, labels)


def item_parts(setup: Setup) -> Grouped:
    """Each item of the data, equal ones counted one by one."""
    _, entries = _against_rest(setup, setup.rows)
    return Grouped(setup, setup.rows, entries, entries.item, setup.rows.n_items)


def group_parts(setup: Setup) -> Grouped:
    """Each group of items; needs groups."""
    rows, group = setup.sample.rows, setup.data.group
    assert group is not None
    _, entries = _against_rest(setup, rows)
    real = entries.item < setup.data.n_items  # the others are chance items
    entries = Entries(
        entries.item[real], entries.first[real], entries.second[real], entries.weight[real]
    )
    return Grouped(
        setup, rows, entries, group[entries.item].astype(np.int64), len(setup.data.groups)
    )
