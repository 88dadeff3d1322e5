"""Label pairs of each coder, item and group; the coefficient without each item or coder."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from scipy import sparse

from annomodels.coefficients.catalogue import Request
from annomodels.coefficients.counts import Counts, sparse_sum
from annomodels.coefficients.evaluation import Statistics
from annomodels.coefficients.formulas import evaluate_observed, evaluate_with
from annomodels.coefficients.grouped import Entries, Grouped
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.reasons import before, used_items
from annomodels.coefficients.rows import CONVENTIONS, Rows, label_counts, ranges, restrict
from annomodels.coefficients.tables import over
from annomodels.types import Floats, Ints


def beside(rows: Rows) -> tuple[Ints, Ints, Ints]:
    """Pair annotations with each distinct label of the others on the item, and count these."""
    _, label, times, starts = label_counts(rows)
    cell, a = ranges(starts[rows.item], np.diff(starts)[rows.item])
    others = times[cell] - (label[cell] == rows.label[a])
    some = others > 0
    return a[some], label[cell][some], others[some]


def against_rest(setup: Setup, by: Literal["coder", "item", "group"]) -> Grouped:
    """Pair labels with the others of their items, and group the pairs; equal items one by one."""
    rows = setup.rows if by == "item" else setup.sample.rows
    a, second, others = beside(rows)
    item, first = rows.item[a], rows.label[a]
    r = rows.per_item.astype(float)
    # weight of a pair of labels of each item; 0 for items that do not count
    weight = setup.convention.pair(r) * used_items(rows, setup.request.convention)
    entries = Entries(item, first, second, others * weight[item])
    part, size, labels = item, rows.n_items, None
    if by == "coder":
        part, size = rows.coder[a], rows.n_coders
        paired = weight[rows.item] > 0
        labels = r[rows.item[paired]], rows.coder[paired], rows.item[paired]
    elif by == "group":
        assert setup.data.group is not None
        entries = entries.take(item < setup.data.n_items)  # the others are chance items
        part, size = setup.data.group[entries.item].astype(np.int64), len(setup.data.groups)
    return Grouped(setup.request, setup.pooled, rows, entries, part, size, labels)


BLOCK = 2_000_000
MOST_NUMBERS = 2_000_000_000
MOST_ROWS = 20_000_000


def without_each_item(setup: Setup, counts: Counts) -> Floats:
    """Return the coefficient without each item [item], NaN if it is undefined."""
    # NaN too for a mean over pairs of coders, and for too many items if coders are told apart.
    request, n = setup.request, counts.rows.n_items
    entry = request.coefficient
    out = np.full(n, np.nan)
    width = counts.width(entry.by_coder) + (n if entry.by_coder else 0)
    entries = int(counts.coders.nnz) if entry.by_coder else 1
    if entry.each_pair or n * max(width, entries) > MOST_NUMBERS:
        return out
    for start in range(0, n, step := max(1, BLOCK // width)):
        some = np.arange(start, min(start + step, n))
        if entry.by_coder:
            weights = np.ones((len(some), n))
            weights[np.arange(len(some)), some] = 0.0
            tables = counts.tables(weights)
            out[some] = evaluate_with(entry.expectation, tables, request.distance).value
        else:
            part = np.full(n, -1)
            part[some] = np.arange(len(some))
            less = Less(request, counts, ((1.0, counts),), part, np.arange(n), len(some))
            out[some] = less.evaluate(np.ones(n))
    return out


def make_without(setup: Setup) -> OneByOne | Less | None:
    """Choose the way; None where a coefficient without a coder means nothing or takes too long."""
    # Taking coder j out changes only the items that j labeled. If the coefficient is a function of
    # pooled counts, the counts without j are those of the data less a linear statistic; otherwise
    # the data are counted for each coder.
    entry, rows = setup.request.coefficient, setup.sample.rows
    convention = setup.request.convention
    reason = before(entry, setup.rows, convention)
    if rows.n_coders < 3 or reason not in ("", "no_complete_items"):
        return None
    quick = not entry.by_coder and not rows.repeated and convention not in ("listwise", "pairwise")
    if quick and convention in CONVENTIONS:
        # the items of each coder once more, with all their labels and without the coder's
        at, owner = ranges(rows.starts[rows.item], rows.per_item[rows.item])
        every = dataclasses.replace(
            rows,
            item=owner,
            coder=rows.coder[at],
            label=rows.label[at],
            n_items=len(rows.item),
            times=np.ones(len(rows.item)),
            unit=None,
        )
        both = (1.0, every), (-1.0, restrict(every, at != owner))
        sides = [(sign, Counts(each, setup.convention)) for sign, each in both]
        return Less(setup.request, setup.counts, sides, rows.coder, rows.item, rows.n_coders)
    return None if rows.n_coders * len(rows.item) > MOST_ROWS else OneByOne(setup)


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
    """The counts of the data less what each part, an item or a coder, adds to them."""

    # What a part adds is the sum of the signed `sides`, each with counts by column; a column
    # belongs to `part` (-1: to none) and has the weight of `item`.

    def __init__(
        self,
        request: Request,
        counts: Counts,
        sides: Sequence[tuple[float, Counts]],
        part: Ints,
        item: Ints,
        size: int,
    ) -> None:
        self.request, self.counts, self.size = request, counts, size

        def change(of: Callable[[Counts], sparse.csc_array], height: int = 1) -> sparse.csc_array:
            """Return what each part adds to a statistic, sparse [part * row, item]."""
            both = [sign * sparse.coo_array(of(each)) for sign, each in sides]
            row, column = (np.concatenate([x.coords[n] for x in both]) for n in (0, 1))
            some = part[column] >= 0
            row, column = row[some], column[some]
            values = np.concatenate([x.data for x in both])[some]
            shape = (size * height, counts.rows.n_items)
            return sparse_sum(values, part[column] * height + row, item[column], shape)

        self.labels = change(lambda each: each.pooled, counts.n_labels)
        self.n = change(lambda each: each.n[None, :])
        self.pairs, self.apart = None, None
        if request.distance.moving:
            self.pairs = change(self._placed, len(counts.first))
        else:
            ones = np.ones(counts.n_labels)
            self.apart = change(
                lambda x: (x.together.T @ request.distance.pairs(x.first, x.second, ones))[None, :]
            )
        self.total = change(lambda each: each.together.sum(0)[None, :])

    def _placed(self, counts: Counts) -> sparse.coo_array:
        """Weights of label pairs, in the order of the pairs of all data."""
        found = sparse.coo_array(counts.together)
        k = counts.n_labels
        codes = self.counts.first * k + self.counts.second
        place = np.searchsorted(codes, counts.first * k + counts.second)
        shape = (len(codes), found.shape[1])
        return sparse.coo_array((found.data, (place[found.coords[0]], found.coords[1])), shape)

    @property
    def width(self) -> int:
        """Numbers held for each draw."""
        pairs = 0 if self.pairs is None else len(self.counts.first)
        return self.size * (5 * self.counts.n_labels + 3 * pairs + 6)

    @property
    def work(self) -> int:
        """Entries of the matrices."""
        last = [x for x in (self.pairs, self.apart) if x is not None]
        return sum(int(x.nnz) for x in (self.total, self.n, self.labels, *last))

    def evaluate(self, weights: Floats) -> Floats:
        """Coefficient without each part, [..., item] -> [..., part]."""
        full = self.counts.tables(weights, by_coder=False)
        distance, batch = self.request.distance, weights.shape[:-1]

        def less(matrix: sparse.csc_array, whole: Floats) -> Floats:
            """Subtract; 0 where what is left is rounding."""
            whole = whole[..., None, :]
            lost = (matrix @ weights.T).T.reshape(*batch, self.size, whole.shape[-1])
            left = whole - lost
            return np.where(left > 1e-9 * np.abs(whole), left, 0.0)

        none = np.zeros((*batch, self.size, 0))
        tables = dataclasses.replace(
            full,
            together=none if self.pairs is None else less(self.pairs, full.together),
            pooled=less(self.labels, full.pooled),
            n=less(self.n, np.asarray(full.n)[..., None])[..., 0],
        )
        expectation = self.request.coefficient.expectation
        if self.apart is None:
            return evaluate_with(expectation, tables, distance).value
        d = distance.pairs(full.first, full.second, full.pooled)
        apart = less(self.apart, (full.together @ d)[..., None])[..., 0]
        total = less(self.total, full.together.sum(-1, keepdims=True))[..., 0]
        return evaluate_observed(expectation, tables, distance, over(apart, total)).value
