"""Coefficients without an item, or without a coder, for all of them at once.

Taking coder j out changes only the items that j labelled, so where the coefficient is a function of
pooled counts, the counts without j are those of the data less a sparse matrix [coder, item] times
the weights of the items. Otherwise the data without each coder are counted one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from annomodels.coefficients.counts import Counts, sparse_sum
from annomodels.coefficients.evaluation import Statistics
from annomodels.coefficients.formulas import evaluate_observed, evaluate_with
from annomodels.coefficients.parts.grouped import beside, label_counts
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.reasons import before
from annomodels.coefficients.rows import CONVENTIONS, Rows, ranges, restrict
from annomodels.coefficients.tables import Tables, over
from annomodels.types import Floats

BLOCK = 2_000_000
MOST_NUMBERS = 2_000_000_000
MOST_ROWS = 20_000_000


def without_each_item(setup: Setup, counts: Counts) -> Floats:
    """Return the coefficient without each item [item], NaN if it is undefined."""
    # NaN too for a mean over pairs of coders, and for too many items if coders are told apart.
    entry, n = setup.request.coefficient, int(counts.together.shape[1])
    out = np.full(n, np.nan)
    width = counts.width(entry.by_coder) + (n if entry.by_coder else 0)
    entries = int(counts.coders.nnz) if entry.by_coder else 1
    if entry.each_pair or n * max(width, entries) > MOST_NUMBERS:
        return out
    full = counts.tables(np.ones(n), by_coder=False)
    columns = [matrix.tocsc() for matrix in (counts.together, counts.pooled)]
    step = max(1, BLOCK // width)
    for start in range(0, n, step):
        piece = slice(start, min(start + step, n))
        if entry.by_coder:
            weights = np.ones((piece.stop - start, n))
            weights[np.arange(piece.stop - start), np.arange(start, piece.stop)] = 0.0
            tables = counts.tables(weights)
        else:
            lost = (matrix[:, piece].toarray().T for matrix in columns)
            together, pooled = map(_less, (full.together, full.pooled), lost)
            tables = _bare(full, together, pooled, full.n - counts.n[piece])
        found = evaluate_with(entry.expectation, tables, setup.request.distance)
        out[piece] = found.value
    return out


def _less(whole: Floats, lost: Floats) -> Floats:
    """Subtract; 0 where what is left is rounding."""
    left = whole - lost
    return np.where(left > 1e-9 * np.abs(whole), left, 0.0)


def _bare(full: Tables, together: Floats, pooled: Floats, n: Floats) -> Tables:
    """Tables of the same label pairs without distributions of single coders."""
    none = np.zeros((*pooled.shape[:-1], 0, 0))
    return Tables(full.first, full.second, together, pooled, none, none, full.sign, n)


def make_without(setup: Setup) -> OneByOne | Less | None:
    """Choose the way; None where a coefficient without a coder means nothing or takes too long."""
    entry, rows = setup.request.coefficient, setup.sample.rows
    convention = setup.request.convention
    reason = before(entry, setup.rows, convention)
    if rows.n_coders < 3 or reason not in ("", "no_complete_items"):
        return None
    quick = not entry.by_coder and not rows.repeated and convention not in ("listwise", "pairwise")
    if quick and convention in CONVENTIONS:
        return Less(setup)
    if rows.n_coders * len(rows.item) > MOST_ROWS:
        return None
    return OneByOne(setup)


class OneByOne:
    """The data without each coder, counted again for each."""

    def __init__(self, setup: Setup) -> None:
        rows = setup.sample.rows
        self.parts = []
        for coder in range(rows.n_coders):
            others = restrict(rows, rows.coder != coder)
            self.parts.append(Statistics(others, [setup.request]))
        self.width = max(part.width for part in self.parts)
        self.work = 4 * len(rows.item) * rows.n_coders

    def evaluate(self, weights: Floats) -> Floats:
        """Coefficient without each coder, [..., item] -> [..., coder]."""
        return np.stack([part.evaluate(weights)[0].value for part in self.parts], axis=-1)


class Less:
    """The counts of the data less what each coder adds."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.counts = setup.counts()
        self.size = setup.sample.rows.n_coders
        rows, weigh = setup.sample.rows, setup.convention
        r = rows.per_item.astype(float)
        pair, fewer = weigh.pair(r)[rows.item], weigh.pair(r - 1)[rows.item]
        own = r[rows.item]
        shape = (self.size, rows.n_items)

        def summed(values: Floats, row: Any, at: Any, height: int) -> Any:
            some = values != 0
            return sparse_sum(values[some], row[some], at[some], (height, rows.n_items))

        def by_item(values: Floats) -> Any:
            return sparse_sum(values, rows.coder, rows.item, shape)

        self.total = by_item(pair * own * (own - 1) - fewer * (own - 1) * (own - 2))
        self.n = by_item(np.where(own >= 3, 1.0, np.where(own == 2, 2.0, 0.0)))
        self.labels = self._labels(rows, r, summed)
        a, second, others = beside(rows)
        gone = 2 * fewer[a] * others
        if setup.moving:
            self.apart = None
            self.pairs = self._pairs(rows, pair - fewer, (a, second, gone), summed)
        else:
            d = setup.request.distance.pairs(rows.label[a], second, np.ones(rows.n_labels))
            per_item = np.zeros(rows.n_items)
            np.add.at(per_item, rows.item[a], others * d)
            lost = by_item((pair - fewer) * per_item[rows.item])
            self.apart = lost + sparse_sum(gone * d, rows.coder[a], rows.item[a], shape)
            self.pairs = None

    def _labels(self, rows: Rows, r: Floats, summed: Any) -> Any:
        """Weight of each label that goes with each coder, sparse [coder * label, item]."""
        pooled, fewer = (self.setup.convention.pooled(x)[rows.item] for x in (r, r - 1))
        _, label, times, starts = label_counts(rows)
        cell, a = ranges(starts[rows.item], np.diff(starts)[rows.item])
        left = times[cell] - (label[cell] == rows.label[a])
        lost = pooled[a] * times[cell] - fewer[a] * left
        row = rows.coder[a] * rows.n_labels + label[cell]
        return summed(lost, row, rows.item[a], self.size * rows.n_labels)

    def _pairs(self, rows: Rows, change: Floats, gone: Any, summed: Any) -> Any:
        """Weight of each pair of labels that goes with each coder, sparse [coder * pair, item]."""
        counts, n = self.counts, len(self.counts.first)
        listed = counts.together.tocsc()
        unit = self.setup.convention.pair(rows.per_item.astype(float))
        starts = listed.indptr.astype(np.int64)
        at, e = ranges(starts[rows.item], np.diff(starts)[rows.item])
        ways = listed.data[at] / unit[rows.item[e]]
        a, second, less = gone
        low, high = np.minimum(rows.label[a], second), np.maximum(rows.label[a], second)
        codes = counts.first * rows.n_labels + counts.second
        place = np.searchsorted(codes, low * rows.n_labels + high)
        return summed(
            np.concatenate([change[e] * ways, less]),
            np.concatenate([rows.coder[e] * n + listed.indices[at], rows.coder[a] * n + place]),
            np.concatenate([rows.item[e], rows.item[a]]),
            self.size * n,
        )

    @property
    def width(self) -> int:
        """Numbers held for each draw."""
        pairs = 0 if self.pairs is None else len(self.counts.first)
        return self.size * (5 * int(self.counts.pooled.shape[0]) + 3 * pairs + 6)

    @property
    def work(self) -> int:
        """Entries of the matrices."""
        last = self.pairs if self.apart is None else self.apart
        return int(self.total.nnz + self.n.nnz + self.labels.nnz + last.nnz)

    def evaluate(self, weights: Floats) -> Floats:
        """Coefficient without each coder, [..., item] -> [..., coder]."""
        full = self.counts.tables(weights, by_coder=False)
        distance = self.setup.request.distance
        expectation = self.setup.request.coefficient.expectation
        batch = weights.shape[:-1]

        def less(matrix: Any, whole: Floats) -> Floats:
            lost = (matrix @ weights.T).T.reshape(*batch, self.size, -1)
            return _less(whole[..., None, :], lost)

        pairs = np.zeros((*batch, self.size, 0))
        if self.pairs is not None:
            pairs = less(self.pairs, full.together)
        n = less(self.n, np.asarray(full.n)[..., None])[..., 0]
        tables = _bare(full, pairs, less(self.labels, full.pooled), n)
        if self.apart is None:
            return evaluate_with(expectation, tables, distance).value
        d = distance.pairs(full.first, full.second, full.pooled)
        apart = less(self.apart, (full.together @ d)[..., None])[..., 0]
        total = less(self.total, full.together.sum(-1, keepdims=True))[..., 0]
        return evaluate_observed(expectation, tables, distance, over(apart, total)).value
