"""One table for each pair of coders, on the items that both labelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.counts import sparse_sum, within_items
from annomodels.coefficients.rows import Rows
from annomodels.coefficients.tables import Tables, fold, label_pairs
from annomodels.errors import NotApplicable

__all__ = ["CoderPairs", "Meetings", "count_pairs", "meetings"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
        total = each.n / 2
        scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)[..., None]
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


class Meetings(NamedTuple):
    """Every item that two coders both labelled, for all pairs of coders.

    Parameters
    ----------
    pairs
        The two coders in one number, shape [coder pair].
    pair, item, first, second
        Pair of coders, item, and the labels that the one and the other gave, shape [meeting].
    """

    pairs: Ints
    pair: Ints
    item: Ints
    first: Ints
    second: Ints


def meetings(rows: Rows, complete_only: bool = False) -> Meetings:
    """List where two coders met.

    Raises
    ------
    NotApplicable
        When there are more than 20 million meetings.
    """
    r = rows.per_item
    if (r * (r - 1) // 2).sum() > MOST_CELLS:
        raise NotApplicable(
            f"The items hold more than {MOST_CELLS:,} pairs of labels. "
            "Take another convention than pairwise, or fewer coders."
        )
    item, coder, label = rows.item, rows.coder, rows.label
    if complete_only:
        full = (r == rows.n_coders)[item]
        item, coder, label = item[full], coder[full], label[full]
    a, b = within_items(item, rows.n_items)
    differ = coder[a] != coder[b]
    a, b = a[differ], b[differ]
    pairs, pair = np.unique(coder[a] * rows.n_coders + coder[b], return_inverse=True)
    return Meetings(pairs, pair, item[a], label[a], label[b])


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
