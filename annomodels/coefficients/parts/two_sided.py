"""One side of coders against another: tables of many parts at once, one for each coder or pair.

A part is a weighted list of label pairs (k by the one side, l by the other). Its coefficient is
that of two coders with the margins of the two sides, so with two coders in all it is the usual
coefficient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from annomodels.coefficients.counts import sparse_sum
from annomodels.coefficients.distances import Distance
from annomodels.coefficients.formulas import evaluate_observed
from annomodels.coefficients.rows import Rows
from annomodels.coefficients.tables import Evaluated, Tables, over
from annomodels.types import Floats, Ints


def ranges(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Positions of ranges one after the other, and which range each belongs to.

    Examples
    --------
    >>> owner, position = ranges(np.array([5, 0]), np.array([2, 3]))
    >>> owner.tolist(), position.tolist()
    ([0, 0, 1, 1, 1], [5, 6, 0, 1, 2])
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return owner, starts[owner] + np.arange(len(owner)) - before[owner]


def label_counts(rows: Rows) -> tuple[Ints, Ints, Ints, Ints]:
    """Count each item's labels: item, label and count of each cell; where an item begins."""
    cell, times = np.unique(rows.item * rows.n_labels + rows.label, return_counts=True)
    item, label = np.divmod(cell, rows.n_labels)
    starts = np.searchsorted(item, np.arange(rows.n_items + 1))
    return item, label, times, starts


def beside(rows: Rows) -> tuple[Ints, Ints, Ints]:
    """Pair every annotation with each distinct label of the others on the item.

    Returns
    -------
    annotation, label, count
        Position of the annotation, the label, and how many others gave it.
    """
    _, label, times, starts = label_counts(rows)
    a, cell = ranges(starts[rows.item], np.diff(starts)[rows.item])
    others = times[cell] - (label[cell] == rows.label[a])
    some = others > 0
    return a[some], label[cell][some], others[some]


@dataclass(frozen=True, eq=False)
class Entries:
    """Weighted label pairs.

    Parameters
    ----------
    part, item, first, second
        Codes, shape [entry]: the one side of the part says `first` and the other `second`.
    weight
        Shape [entry].
    """

    part: Ints
    item: Ints
    first: Ints
    second: Ints
    weight: Floats


@dataclass(frozen=True, eq=False)
class TwoSided:
    """Statistics of the parts that are linear in the weights of the items.

    Parameters
    ----------
    distance
        Distance between labels.
    left, right
        Weight of each label on the two sides, sparse [part * label, item].
    apart
        Weighted distance of the pairs, sparse [part, item]; None where the distance moves.
    cells, first, second, starts
        Otherwise the weight of each pair that occurs, sparse [cell, item], its labels, and where
        the cells of a part begin, shape [part + 1].
    n
        Number of labels, sparse [part, item].
    n_parts, n_labels
        Sizes.
    """

    distance: Distance
    left: Any
    right: Any
    apart: Any
    cells: Any
    first: Ints
    second: Ints
    starts: Ints
    n: Any
    n_parts: int
    n_labels: int

    @property
    def width(self) -> int:
        """Numbers held for each draw."""
        return 6 * self.n_parts * self.n_labels + 2 * len(self.first)

    @property
    def work(self) -> int:
        """Entries of the matrices."""
        last = self.cells if self.apart is None else self.apart
        return int(self.left.nnz + self.right.nnz + self.n.nnz + last.nnz)

    def evaluate(self, expectation: str | None, weights: Floats) -> Evaluated:
        """Coefficient of each part, shape [..., part], for weights [..., item]."""
        shape = (*weights.shape[:-1], self.n_parts, self.n_labels)
        left = (self.left @ weights.T).T.reshape(shape)
        right = (self.right @ weights.T).T.reshape(shape)
        pooled = left + right
        d_o = over(self._apart(weights, pooled), left.sum(-1))
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
        return evaluate_observed(expectation, tables, self.distance, d_o)

    def _apart(self, weights: Floats, pooled: Floats) -> Floats:
        """Weighted distance of the pairs of each part."""
        if self.apart is not None:
            return np.asarray((self.apart @ weights.T).T)
        together = (self.cells @ weights.T).T
        out = np.empty(pooled.shape[:-1])
        for part in range(self.n_parts):
            cells = slice(self.starts[part], self.starts[part + 1])
            d = self.distance.pairs(self.first[cells], self.second[cells], pooled[..., part, :])
            out[..., part] = (together[..., cells] * d).sum(-1)
        return out


def two_sided(
    entries: Entries,
    n: tuple[Floats, Ints, Ints],
    shape: tuple[int, int],
    distance: Distance,
    moving: bool,
    n_labels: int,
) -> TwoSided:
    """Gather label pairs.

    Parameters
    ----------
    entries
        The label pairs.
    n
        Number of labels with part and item.
    shape
        Numbers of parts and items.
    distance, moving
        Distance between labels, and whether it depends on how frequent the labels are.
    n_labels
        Size of the label set.
    """
    parts, items = shape
    k = n_labels
    e = entries
    apart = cells = None
    first = second = np.zeros(0, dtype=np.int64)
    starts = np.zeros(parts + 1, dtype=np.int64)
    if moving:
        code, where = np.unique((e.part * k + e.first) * k + e.second, return_inverse=True)
        owner, pair = np.divmod(code, k * k)
        first, second = np.divmod(pair, k)
        cells = sparse_sum(e.weight, where, e.item, (len(code), items))
        starts = np.searchsorted(owner, np.arange(parts + 1))
    else:
        d = distance.pairs(e.first, e.second, np.ones(k))
        apart = sparse_sum(e.weight * d, e.part, e.item, shape)
    return TwoSided(
        distance=distance,
        left=sparse_sum(e.weight, e.part * k + e.first, e.item, (parts * k, items)),
        right=sparse_sum(e.weight, e.part * k + e.second, e.item, (parts * k, items)),
        apart=apart,
        cells=cells,
        first=first,
        second=second,
        starts=starts,
        n=sparse_sum(n[0], n[1], n[2], shape),
        n_parts=parts,
        n_labels=k,
    )
