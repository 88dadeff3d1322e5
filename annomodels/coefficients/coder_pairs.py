"""Statistics of each pair of coders on the items that both labelled.

As whole tables of label pairs, or for the mean of kappas from the cells that occur and no others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from annomodels.coefficients.counts import sparse_sum
from annomodels.coefficients.distances import Distance
from annomodels.coefficients.formulas import ratio
from annomodels.coefficients.rows import Rows, meetings
from annomodels.coefficients.tables import Evaluated, Tables, fold, label_pairs, over
from annomodels.errors import NotApplicable
from annomodels.types import Floats, Ints

MOST_CELLS = 20_000_000


@dataclass(frozen=True, eq=False)
class CoderPairs:
    """Label pairs of each pair of coders that share an item.

    Parameters
    ----------
    one, other
        Codes of the two coders, shape [coder pair].
    joint
        How often the one says k and the other l on an item, sparse [coder pair * K * K, item].
    n
        Number of pairable labels, shape [item].
    n_labels
        Size K of the label set.
    """

    one: Ints
    other: Ints
    joint: Any
    n: Floats
    n_labels: int

    def width(self) -> int:
        """Numbers held for each weighting, to plan memory with."""
        return 4 * int(self.joint.shape[0])

    def each(self, weights: Floats) -> Tables:
        """Tables of each pair of coders, with the dimensions [..., coder pair]."""
        k = self.n_labels
        joint = (self.joint @ weights.T).T.reshape(*weights.shape[:-1], len(self.one), k, k)
        left, right = joint.sum(-1), joint.sum(-2)
        first, second = label_pairs(k)
        return Tables(
            first=first,
            second=second,
            together=fold(joint),
            pooled=left + right,
            left=left[..., None, :],
            right=right[..., None, :],
            sign=np.ones(1),
            n=2 * joint.sum((-1, -2)),
        )

    def tables(self, weights: Floats) -> Tables:
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
    """Count label pairs of each pair of coders.

    Raises
    ------
    NotApplicable
        When there are more than 20 million pairs of labels, or cells of tables.
    """
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


MOST_PRODUCTS = 50_000_000


class PairKappas:
    """Light's kappa, with any distance that does not depend on the frequencies of the labels.

    Two coders of a crowd share few items, so their table of label pairs is nearly empty. Kept are
    the labels that each of them gave on shared items, and the products of these.

    Raises
    ------
    NotApplicable
        When there are more than 50 million products of labels, or 20 million pairs of labels.
    """

    def __init__(self, rows: Rows, distance: Distance, complete_only: bool = False) -> None:
        k, ones = rows.n_labels, np.ones(rows.n_labels)
        met = meetings(rows, complete_only)
        n_pairs = len(met.pairs)
        shape = n_pairs, rows.n_items
        one = np.ones(len(met.item))
        self.largest = distance.largest(ones)
        self.total = sparse_sum(one, met.pair, met.item, shape)
        d = distance.pairs(met.first, met.second, ones)
        self.apart = sparse_sum(np.asarray(d, dtype=float), met.pair, met.item, shape)
        left, at_left = np.unique(met.pair * k + met.first, return_inverse=True)
        right, at_right = np.unique(met.pair * k + met.second, return_inverse=True)
        self.left = sparse_sum(one, at_left, met.item, (len(left), rows.n_items))
        self.right = sparse_sum(one, at_right, met.item, (len(right), rows.n_items))
        self.n_margins = len(left) + len(right)
        each = np.bincount(right // k, minlength=n_pairs)
        size = each[left // k]
        if size.sum() > MOST_PRODUCTS:
            raise NotApplicable(
                f"Light's kappa of {n_pairs:,} pairs of coders has {size.sum():,} products of "
                f"labels (at most {MOST_PRODUCTS:,}). Use multi_kappa, or fewer coders."
            )
        a = np.repeat(np.arange(len(left)), size)
        first = (np.cumsum(each) - each)[left // k] - (np.cumsum(size) - size)
        b = np.repeat(first, size) + np.arange(len(a))
        d = np.asarray(distance.pairs(left[a] % k, right[b] % k, ones), dtype=float)
        self.a, self.b = a[d > 0], b[d > 0]
        places = np.arange(len(self.a))
        self.products = sparse_sum(d[d > 0], left[self.a] // k, places, (n_pairs, len(places)))

    @property
    def width(self) -> int:
        """Numbers held for each weighting, to plan memory with."""
        return 3 * len(self.a) + self.n_margins

    def evaluate(self, weights: Floats) -> Evaluated:
        """Mean over the pairs of coders for whom it is defined; weights [item] or [draw, item]."""
        return self.each(weights).mean(0)

    def each(self, weights: Floats) -> Evaluated:
        """Kappa of each pair of coders who share an item, shape [coder pair, ...]."""
        n = self.total @ weights.T
        d_o = over(self.apart @ weights.T, n)
        product = (self.left @ weights.T)[self.a] * (self.right @ weights.T)[self.b]
        return ratio(d_o, over(self.products @ product, n * n), self.largest)
