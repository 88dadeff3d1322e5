"""Label pairs in groups: coders against the others, pairs of coders, groups of items, items."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from annomodels.coefficients.catalogue import Request
from annomodels.coefficients.counts import sparse_sum
from annomodels.coefficients.formulas import evaluate_observed
from annomodels.coefficients.rows import Rows, meetings
from annomodels.coefficients.tables import Evaluated, Tables, over
from annomodels.errors import NotApplicable
from annomodels.types import Bools, Floats, Ints

MOST_CELLS = 20_000_000


class Entries(NamedTuple):
    """Weighted label pairs, and the weight of each label that they are made of."""

    item: Ints  # [entry]
    first: Ints  # label of the one side, [entry]
    second: Ints  # label of the other side, [entry]
    weight: Floats  # [entry]

    def take(self, kept: Bools) -> Entries:
        """Leave entries out."""
        return Entries(self.item[kept], self.first[kept], self.second[kept], self.weight[kept])


@dataclass(frozen=True, eq=False)
class Grouped:
    """Sums over the label pairs of each part, made when they are asked for."""

    # An entry is an item with a label of the one side and a label of the other. All sums over the
    # entries of a part are linear in the weights of the items, so all parts share the draws. The
    # coefficient of a part is that of two coders with the margins of the two sides.

    request: Request
    pooled: Floats  # weight of each label, which a distance may depend on [label]
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
        d = self.request.distance.pairs(self.entries.first, self.entries.second, self.pooled)
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
        """Weight of each label pair of a part [cell, item], its part and its two labels."""
        k, e = self.rows.n_labels, self.entries
        code, where = np.unique((self.part * k + e.first) * k + e.second, return_inverse=True)
        owner, pair = np.divmod(code, k * k)
        return self._sum(e.weight, where, len(code)), owner, *np.divmod(pair, k)

    @cached_property
    def n(self) -> sparse.csc_array:
        """Number of labels, sparse [part, item]."""
        assert self.labels is not None
        return sparse_sum(*self.labels, (self.n_parts, self.rows.n_items))

    @property
    def width(self) -> int:
        """Numbers held for each draw."""
        moving = 2 * len(self.cells[1]) if self.request.distance.moving else 0
        return 6 * self.n_parts * self.rows.n_labels + moving

    @property
    def work(self) -> int:
        """Entries of the matrices."""
        last = self.cells[0] if self.request.distance.moving else self.apart
        return int(self.left.nnz + self.right.nnz + self.n.nnz + last.nnz)

    def sides(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weight of each label on the two sides, [..., item] -> two of [..., part, label]."""
        shape = (*weights.shape[:-1], self.n_parts, self.rows.n_labels)
        left, right = ((side @ weights.T).T.reshape(shape) for side in (self.left, self.right))
        return left, right

    def evaluate(self, weights: Floats) -> Evaluated:
        """Coefficient of each part, weights [..., item] -> [..., part]."""
        left, right = self.sides(weights)
        pooled = left + right
        none = np.zeros(0, dtype=np.int64)
        tables = Tables(
            first=none,
            second=none,
            together=np.zeros((*left.shape[:-1], 0)),
            pooled=pooled,
            left=left[..., None, :],
            right=right[..., None, :],
            sign=np.ones(1),
            n=(self.n @ weights.T).T,
        )
        d_o = over(self._apart(weights, pooled), left.sum(-1))
        expectation = self.request.coefficient.expectation
        return evaluate_observed(expectation, tables, self.request.distance, d_o)

    def _apart(self, weights: Floats, pooled: Floats) -> Floats:
        """Weighted distance of the pairs of each part; each has its own where distances move."""
        if not self.request.distance.moving:
            return np.asarray((self.apart @ weights.T).T)
        matrix, owner, first, second = self.cells
        together = (matrix @ weights.T).T
        starts = np.searchsorted(owner, np.arange(self.n_parts + 1))
        out = np.empty(pooled.shape[:-1])
        for part in range(self.n_parts):
            some = slice(starts[part], starts[part + 1])
            d = self.request.distance.pairs(first[some], second[some], pooled[..., part, :])
            out[..., part] = (together[..., some] * d).sum(-1)
        return out

    def shares(self, weights: Floats) -> tuple[Floats, Floats]:
        """Share of each part in all disagreement, and in all pairs, [..., item] -> [..., part]."""
        sums = ((matrix @ weights.T).T for matrix in (self.apart, self.total))
        one, other = (over(x, x.sum(-1, keepdims=True)) for x in sums)
        return one, other


def coder_pairs(rows: Rows, request: Request) -> tuple[Grouped, Ints]:
    """Group label pairs by pair of coders who share an item; the two coders in one number."""
    met = meetings(rows, request.convention == "listwise")
    ones = np.ones(len(met.item))
    entries = Entries(met.item, met.first, met.second, ones)
    labels = 2 * ones, met.pair, met.item
    same = np.ones(rows.n_labels)  # a distance that moves does so in each pair
    return Grouped(request, same, rows, entries, met.pair, len(met.pairs), labels), met.pairs


def all_pairs(rows: Rows, request: Request) -> Grouped:
    """Group label pairs by pair of coders, if there is room for all of them at once."""
    pairs, _ = coder_pairs(rows, request)
    size, k = pairs.n_parts, rows.n_labels
    if size * k > MOST_CELLS:
        raise NotApplicable(
            f"{size:,} pairs of coders with {k:,} labels need {size * k:,} cells (at most "
            f"{MOST_CELLS:,}). Take another convention than pairwise, or fewer coders."
        )
    return pairs


class Pairwise:
    """Tables in which every pair of coders with a shared item counts the same."""

    def __init__(self, rows: Rows, request: Request) -> None:
        self.pairs = all_pairs(rows, request)
        self.cells, self.owner, *both = self.pairs.cells
        lower, higher = np.minimum(*both), np.maximum(*both)
        code, where = np.unique(lower * rows.n_labels + higher, return_inverse=True)
        self.first, self.second = np.divmod(code, rows.n_labels)
        places, shape = np.arange(len(where)), (len(code), len(where))
        self.fold = sparse_sum(np.ones(len(where)), where, places, shape)
        self.n = np.where(rows.per_item >= 2, rows.per_item, 0).astype(float)

    def width(self, by_coder: bool = True) -> int:
        """Numbers held for each weighting, to plan memory with."""
        return self.pairs.width + 2 * len(self.owner)

    def tables(self, weights: Floats, by_coder: bool = True) -> Tables:
        """Tables of weighted items."""
        left, right = self.pairs.sides(weights)
        scale = over(1.0, left.sum(-1), 0.0)
        cells = (self.cells @ weights.T).T * scale[..., self.owner]
        left, right = left * scale[..., None], right * scale[..., None]
        return Tables(
            first=self.first,
            second=self.second,
            together=(self.fold @ cells.T).T,
            pooled=(left + right).sum(-2),
            left=left,
            right=right,
            sign=np.ones(self.pairs.n_parts),
            n=np.asarray(weights @ self.n),
        )
