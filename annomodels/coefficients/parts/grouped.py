r"""Label pairs grouped by part: one weighted list gives every statistic of all parts.

An entry of the list is an item with a label of the one side and a label of the other. A part is a
coder (against all others), a pair of coders, a group of items or an item. All sums over the entries
of a part are linear in the weights of the items, so all parts share the draws. The coefficient of a
part is that of two coders with the margins of the two sides; with two coders in all it is the usual
coefficient.

**Without an item or a coder.** Taking coder j out changes only the items that j labeled. If the
coefficient is a function of pooled counts, the counts without j are those of the data less a sparse
matrix [coder, item] times the weights of the items; otherwise the data are counted for each coder.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from annomodels.coefficients.counts import Counts, sparse_sum
from annomodels.coefficients.evaluation import Statistics
from annomodels.coefficients.formulas import evaluate_observed, evaluate_with
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.reasons import before, used_items
from annomodels.coefficients.rows import CONVENTIONS, Rows, ranges, restrict
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
        self.setup, self.counts = setup, setup.counts()
        rows = setup.sample.rows
        self.size = rows.n_coders
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
        others = restrict(every, at != owner)
        sides = ((1.0, Counts(every, setup.convention)), (-1.0, Counts(others, setup.convention)))

        def change(of: Callable[[Counts], sparse.csc_array], height: int = 1) -> sparse.csc_array:
            """Return the part of a statistic [row, item] that goes with each coder."""
            both = [sign * sparse.coo_array(of(counts)) for sign, counts in sides]
            row, item = (np.concatenate([x.coords[n] for x in both]) for n in (0, 1))
            values = np.concatenate([x.data for x in both])
            shape = (self.size * height, rows.n_items)
            return sparse_sum(values, rows.coder[item] * height + row, rows.item[item], shape)

        self.labels = change(lambda counts: counts.pooled, rows.n_labels)
        self.n = change(lambda counts: counts.n[None, :])
        self.pairs, self.apart = None, None
        if setup.moving:
            self.pairs = change(self._placed, len(self.counts.first))
        else:
            distance, ones = setup.request.distance, np.ones(rows.n_labels)
            self.apart = change(
                lambda x: (x.together.T @ distance.pairs(x.first, x.second, ones))[None, :]
            )
        self.total = change(lambda counts: counts.together.sum(0)[None, :])

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
        return self.size * (5 * int(self.counts.pooled.shape[0]) + 3 * pairs + 6)

    @property
    def work(self) -> int:
        """Entries of the matrices."""
        last = [x for x in (self.pairs, self.apart) if x is not None]
        return sum(int(x.nnz) for x in (self.total, self.n, self.labels, *last))

    def evaluate(self, weights: Floats) -> Floats:
        """Coefficient without each coder, [..., item] -> [..., coder]."""
        full = self.counts.tables(weights, by_coder=False)
        distance = self.setup.request.distance
        expectation = self.setup.request.coefficient.expectation
        batch = weights.shape[:-1]

        def less(matrix: sparse.csc_array, whole: Floats) -> Floats:
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
