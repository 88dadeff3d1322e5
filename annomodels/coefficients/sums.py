"""Sums over label pairs: all data, by coder, coder pair or group, and without a part.

All are linear in the item weights, so the sums for the data and for all bootstrap draws are one
sparse product. Coefficients of a sample and their joint draws follow from them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from annomodels.coefficients.distances import Distance, Nominal, Squared
from annomodels.coefficients.formulas import ICC, evaluate_observed, observed, ratio
from annomodels.coefficients.rows import (
    CONVENTIONS,
    Convention,
    ItemRows,
    Request,
    Sample,
    label_counts,
    meetings,
    ranges,
    restrict,
    within_items,
)
from annomodels.coefficients.tables import Evaluated, PairTables, over
from annomodels.errors import NotApplicable
from annomodels.types import AnyArray, Bools, Floats, Ints

ROUNDING = 1e-9
NONE = np.zeros(0, dtype=np.int64)


class Entries(NamedTuple):
    """Weighted pairs of labels of the same item, in any order; single labels are pairs too."""

    part: Ints  # part of the data, or coder [entry]
    first: Ints
    second: Ints  # equal to `first` for a single label
    item: Ints
    weight: Floats

    def take(self, kept: Bools) -> Entries:
        part, first, second = self.part[kept], self.first[kept], self.second[kept]
        return Entries(part, first, second, self.item[kept], self.weight[kept])


def numbers(part: Ints, item: Ints, number: Floats) -> Entries:
    any_label = np.zeros_like(part)
    return Entries(part, any_label, any_label, item, number)


@dataclass(frozen=True, eq=False)
class Sums:
    """Weights of label pairs and of labels in each part of the data."""

    n_items: int
    n_labels: int
    size: int | None  # number of parts; None for all data, which have no axis of parts
    pairs: Entries
    number: Entries  # label counts that coefficients use
    pooled: Entries | None = None  # labels of all coders; None for both sides of the pairs
    coders: Entries | None = None  # labels of each coder
    n_coders: int = 0
    equal_coders: bool = False
    whole: Sums | None = None  # all data, from which one part at a time is subtracted
    even: bool = False  # whether tables are the mean over the parts
    _apart: dict[Distance, sparse.csc_array] = field(default_factory=dict)

    @property
    def height(self) -> int:
        return 1 if self.size is None else self.size

    def _sum(self, weight: Floats, row: Ints, item: Ints, height: int) -> sparse.csc_array:
        return sparse_sum(weight, row, item, (height, self.n_items))

    def _labels(self, entries: Entries, label: Ints, rows: int) -> sparse.csc_array:
        row = entries.part * self.n_labels + label
        return self._sum(entries.weight, row, entries.item, rows * self.n_labels)

    @cached_property
    def total(self) -> sparse.csc_array:
        """Return the weight of the pairs, sparse [part, item]."""
        return self._sum(self.pairs.weight, self.pairs.part, self.pairs.item, self.height)

    def apart(self, distance: Distance, pooled: Floats) -> sparse.csc_array:
        """Return weighted pair distances under fixed label weights, sparse [part, item]."""
        if distance not in self._apart:
            part, first, second, item, weight = self.pairs
            d = distance.pairs(first, second, pooled)
            self._apart[distance] = self._sum(weight * d, part, item, self.height)
        return self._apart[distance]

    @cached_property
    def sides(self) -> tuple[sparse.csc_array, sparse.csc_array]:
        """Return each label's weight on both sides of the pairs, sparse [part * label, item]."""
        one, other = (
            self._labels(self.pairs, label, self.height)
            for label in (self.pairs.first, self.pairs.second)
        )
        return one, other

    @cached_property
    def cells(self) -> tuple[sparse.csc_array, Ints, Ints, Ints]:
        """Return the weight of each label pair of a part [cell, item], its part and labels."""
        k = self.n_labels
        part, first, second, item, weight = self.pairs
        code, where = np.unique((part * k + first) * k + second, return_inverse=True)
        owner, pair = np.divmod(code, k * k)
        return self._sum(weight, where, item, len(code)), owner, *np.divmod(pair, k)

    @cached_property
    def _unordered(self) -> tuple[sparse.csc_array, Ints, Ints]:
        """Return the matrix that sums a label pair's cells over orders and parts [pair, cell]."""
        both = self.cells[2:]
        lower, higher = np.minimum(*both), np.maximum(*both)
        code, pair = np.unique(lower * self.n_labels + higher, return_inverse=True)
        return adding_up(pair, len(code)), *np.divmod(code, self.n_labels)

    @cached_property
    def _of_part(self) -> sparse.csc_array:
        """Return the matrix that sums the cells of a part [part, cell]."""
        return adding_up(self.cells[1], self.height)

    @cached_property
    def of_all(self) -> sparse.csc_array:
        """Return the weight of each label over all coders, sparse [part * label, item]."""
        assert self.pooled is not None
        return self._labels(self.pooled, self.pooled.first, self.height)

    @cached_property
    def of_coders(self) -> sparse.csc_array:
        """Return the weight of each label of each coder, sparse [coder * label, item]."""
        assert self.coders is not None
        return self._labels(self.coders, self.coders.first, self.n_coders)

    @cached_property
    def numbers(self) -> sparse.csc_array:
        height = 1 if self.even else self.height
        return self._sum(self.number.weight, self.number.part, self.number.item, height)

    def width(self, distance: Distance, by_coder: bool) -> int:
        k, moving = self.n_labels, distance.moving or self.even
        if self.whole is not None:
            listed = len(self.whole.cells[1]) if moving else 0
            return self.height * (5 * k + 3 * listed + 6)
        rows = self.n_coders if by_coder and self.coders is not None else 0
        listed = len(self.cells[1]) if moving or self.size is None else 0
        return (6 * self.height + 4 * rows) * k + (4 if self.size is None else 2) * listed

    def work(self, distance: Distance) -> int:
        """Return the number of matrix entries that a coefficient needs."""
        last = self.cells[0] if distance.moving else self.apart(distance, np.ones(self.n_labels))
        labels = self.sides if self.pooled is None else (self.of_all, self.total)
        return sum(int(matrix.nnz) for matrix in (self.numbers, last, *labels))

    def times(self, matrix: sparse.csc_array, weights: Floats, *shape: int) -> Floats:
        """Return sums under item weights, [..., item] -> [..., part, *shape]."""
        parts = () if self.size is None else (self.size,)
        return np.asarray((matrix @ weights.T).T).reshape((*weights.shape[:-1], *parts, *shape))

    def tables(self, weights: Floats, by_coder: bool = True) -> PairTables:
        """Return the tables of each part, listing the label pairs of all data."""
        if self.even:
            return self._mean(weights)
        k, n = self.n_labels, self.times(self.numbers, weights)
        sign = np.ones(1)
        if self.pooled is None:
            left, right = (self.times(side, weights, k) for side in self.sides)
            pooled, left, right = left + right, left[..., None, :], right[..., None, :]
        else:
            pooled = self.times(self.of_all, weights, k)
            left = right = np.zeros((*pooled.shape[:-1], 0, 0))
            sign = np.concatenate([sign, np.full(self.n_coders, -1.0)])
            if by_coder:
                left = right = self._by_coder(weights)
        if self.whole is not None:
            every = self.whole.tables(weights, by_coder=False)
            first, second, together = every.first, every.second, every.together[..., None, :]
            pooled = left_over(every.pooled[..., None, :], pooled)
            n = left_over(np.asarray(every.n)[..., None], n)
        elif self.size is None:
            matrix, _, first, second = self.cells
            together = (matrix @ weights.T).T
        else:
            first, second, together = NONE, NONE, np.zeros((*pooled.shape[:-1], 0))
        return PairTables(first, second, together, pooled, left, right, sign, n)

    def _by_coder(self, weights: Floats) -> Floats:
        own = self.times(self.of_coders, weights, self.n_coders, self.n_labels)
        if self.equal_coders:
            own = over(own, own.sum(-1, keepdims=True), 0.0)
        return np.concatenate([own.sum(-2, keepdims=True), own], axis=-2)

    def _mean(self, weights: Floats) -> PairTables:
        """Return tables in which all parts have equal weight."""
        k = self.n_labels
        left, right = (self.times(side, weights, k) for side in self.sides)
        scale = over(1.0, left.sum(-1), 0.0)
        matrix, owner, _, _ = self.cells
        adding, first, second = self._unordered
        cells = (matrix @ weights.T).T * scale[..., owner]
        left, right = left * scale[..., None], right * scale[..., None]
        return PairTables(
            first,
            second,
            together=np.asarray((adding @ cells.T).T),
            pooled=(left + right).sum(-2),
            left=left,
            right=right,
            sign=np.ones(self.height),
            n=np.asarray((self.numbers @ weights.T).T)[..., 0],
        )

    def observed(self, weights: Floats, distance: Distance, tables: PairTables) -> Floats:
        """Return the mean pair distance of each part, [..., item] -> [..., part]."""
        if self.even or self.size is None:
            return observed(tables, distance)
        if self.pooled is None:
            total = tables.left[..., 0, :].sum(-1)
        else:
            total = self.times(self.total, weights)
        apart = self._distance(weights, distance, tables.pooled)
        if self.whole is not None:
            d = distance.pairs(tables.first, tables.second, tables.pooled)
            total = left_over(tables.together.sum(-1), total)
            apart = left_over(np.asarray((tables.together * d).sum(-1)), apart)
        return over(apart, total)

    def _distance(self, weights: Floats, distance: Distance, pooled: Floats) -> Floats:
        if not distance.moving:
            return self.times(self.apart(distance, pooled), weights)
        matrix, part, first, second = self.cells
        d = distance.pairs(first, second, pooled, part)
        return np.asarray((self._of_part @ ((matrix @ weights.T).T * d).T).T)

    def evaluate(
        self,
        weights: Floats,
        request: Request,
        distance: Distance | None = None,
        tables: PairTables | None = None,
    ) -> Evaluated:
        """Evaluate a coefficient of each part; `distance` is of nodes, if summed."""
        entry, distance = request.coefficient, distance or request.distance
        tables = tables or self.tables(weights, entry.by_coder)
        if request.margins is not None:
            given = np.broadcast_to(request.margins, tables.pooled.shape)
            tables = dataclasses.replace(tables, pooled=given, n=np.full_like(tables.n, np.inf))
        d_o = self.observed(weights, distance, tables)
        return evaluate_observed(entry.expectation, tables, distance, d_o)

    def shares(self, weights: Floats, distance: Distance, pooled: Floats) -> tuple[Floats, Floats]:
        """Return each part's proportion of disagreement and pairs, [..., item] -> [..., part]."""
        sums = (self.times(x, weights) for x in (self.apart(distance, pooled), self.total))
        one, other = (over(x, x.sum(-1, keepdims=True)) for x in sums)
        return one, other


def sparse_sum(values: Floats, row: Ints, column: Ints, shape: tuple[int, int]) -> sparse.csc_array:
    """Build a sparse matrix by column (item), summing duplicates, for fast products."""
    return sparse.csc_array((values, (row, column)), shape=shape)


def adding_up(owner: Ints, size: int) -> sparse.csc_array:
    """Return the matrix that sums the values of each owner, sparse [owner, value]."""
    return sparse_sum(np.ones(len(owner)), owner, np.arange(len(owner)), (size, len(owner)))


def left_over(whole: Floats, part: Floats) -> Floats:
    """Subtract, with 0 in place of rounding errors."""
    left = whole - part
    return np.where(left > ROUNDING * np.abs(whole), left, 0.0)


def item_weights(rows: ItemRows, convention: Convention, of: Callable[[Floats], Floats]) -> Floats:
    """Return item weights by number of labels; with listwise 0 if one is missing."""
    r = rows.per_item.astype(float)
    complete = r == rows.n_coders
    return np.where(complete, of(r), 0.0) if convention.name == "listwise" else of(r)


def pairable_labels(rows: ItemRows, convention: Convention) -> Entries:
    number = item_weights(rows, convention, lambda r: np.where(r >= 2, r, 0.0))
    return numbers(np.zeros(rows.n_items, dtype=np.int64), np.arange(rows.n_items), number)


def of_items(rows: ItemRows, convention: Convention, values: Floats | None = None) -> Sums:
    """Collect all data; with label `values`, three nodes represent the labels."""
    ways = item_weights(rows, convention, convention.pair)
    coder, label, item, each = rows.coder, rows.label, rows.item, np.ones(len(rows.item))
    if values is None:
        pairs = _label_pairs(rows, ways)
    else:
        nodes = _nodes(values)[label]
        pairs = _node_pairs(rows, nodes, ways)
        coder, item, each = np.repeat(coder, 3), np.repeat(item, 3), nodes.reshape(-1)
        label = np.tile(np.arange(3), len(nodes))
    pooled, own = (
        each * item_weights(rows, convention, of)[item]
        for of in (convention.pooled, convention.coder)
    )
    return Sums(
        rows.n_items,
        rows.n_labels if values is None else 3,
        None,
        pairs,
        pairable_labels(rows, convention),
        pooled=Entries(np.zeros_like(label), label, label, item, pooled),
        coders=Entries(coder, label, label, item, own),
        n_coders=rows.n_coders,
        equal_coders=convention.equal_coders,
    )


def _label_pairs(rows: ItemRows, ways: Floats) -> Entries:
    """Return the label pairs of each item, both orders combined."""
    item, label, times, _ = label_counts(rows)
    a, b = within_items(item, rows.n_items)
    weight = np.where(a == b, times[a] * (times[a] - 1), 2 * times[a] * times[b]) * ways[item[a]]
    some = weight > 0
    a, b = a[some], b[some]
    return Entries(np.zeros_like(a), label[a], label[b], item[a], weight[some])


# The mean squared difference depends only on the moments of the labels, so three nodes
# - the least value, the largest, their mean - with the same sum, mean and mean square (Lagrange's
# polynomials, some weights negative) can replace 100,000 distinct values.
MANY_VALUES = 8
BILINEAR = ("pooled", "without_replacement", "between", *ICC)


def _nodes(values: Floats) -> Floats:
    """Return the weights of the nodes for each label, shape [label, node]."""
    z = 2 * (values - values.min()) / np.ptp(values) - 1
    return np.stack([z * (z - 1) / 2, 1 - z * z, z * (z + 1) / 2], axis=1)


def _node_pairs(rows: ItemRows, nodes: Floats, ways: Floats) -> Entries:
    def summed(each: Floats) -> Floats:
        return np.bincount(rows.item, weights=each, minlength=rows.n_items)

    first, second = np.triu_indices(3)
    weight = []
    for a, b in zip(first, second, strict=True):
        one, other = nodes[:, a], nodes[:, b]
        both = summed(one) * summed(other) - summed(one * other)
        weight.append(ways * both * (1 if a == b else 2))
    item = np.tile(np.arange(rows.n_items), 6)
    first, second = (np.repeat(node, rows.n_items) for node in (first, second))
    return Entries(np.zeros_like(item), first, second, item, np.concatenate(weight))


def nodes_for(distance: Distance, expectation: str | None) -> Squared | None:
    """Return a distance between nodes that can replace the labels, or None."""
    if not isinstance(distance, Squared) or expectation not in BILINEAR:
        return None
    low, high = distance.values.min(), distance.values.max()
    if len(distance.values) < MANY_VALUES or low == high:
        return None
    return Squared(distance.name, np.array([low, (low + high) / 2, high]))


def by_coder_pair(rows: ItemRows, complete_only: bool) -> tuple[Sums, Ints]:
    """Collect each pair of coders who share an item, and the two coders as one integer."""
    met = meetings(rows, complete_only)
    ones = np.ones(len(met.item))
    pairs = Entries(met.pair, met.first, met.second, met.item, ones)
    number = numbers(met.pair, met.item, 2 * ones)
    return Sums(rows.n_items, rows.n_labels, len(met.pairs), pairs, number), met.pairs


def chosen(sums: Sums, place: Ints, size: int) -> Sums:
    """Reorder the parts and keep the first; `place` is the new position of each."""

    def kept(entries: Entries) -> Entries:
        moved = entries._replace(part=place[entries.part])
        return moved.take((moved.part >= 0) & (moved.part < size))

    return dataclasses.replace(
        sums, size=size, pairs=kept(sums.pairs), number=kept(sums.number), _apart={}
    )


def by_coder(rows: ItemRows, convention: Convention) -> Sums:
    """Collect the labels of each coder, paired with the other labels of their items."""
    # annotations with each distinct label by others on the item, and its count
    _, label, times, starts = label_counts(rows)
    cell, a = ranges(starts[rows.item], np.diff(starts)[rows.item])
    second, first = label[cell], rows.label[a]
    others = times[cell] - (second == first)
    ways = item_weights(rows, convention, convention.pair)
    weight = others * ways[rows.item[a]]
    pairs = Entries(rows.coder[a], first, second, rows.item[a], weight).take(others > 0)
    paired = ways[rows.item] > 0
    coder, item = rows.coder[paired], rows.item[paired]
    number = numbers(coder, item, rows.per_item[item].astype(float))
    return Sums(rows.n_items, rows.n_labels, rows.n_coders, pairs, number)


def by_group(sums: Sums, group: AnyArray, size: int) -> Sums:
    """Collect the pairs of each item group, for proportions; chance items have no group."""
    pairs = sums.pairs.take(sums.pairs.item < len(group))
    return dataclasses.replace(
        sums, size=size, pairs=pairs._replace(part=group[pairs.item].astype(np.int64)), _apart={}
    )


def without(
    whole: Sums, lost: Sequence[tuple[float, Sums]], part: Ints, item: Ints, size: int
) -> Sums:
    """Collect all data without each part, subtracting the signed sums of `lost`."""
    # an item of `lost` belongs to a part, or to none (-1), and has the weight of an item of all

    def signed(of: Callable[[Sums], Entries | None]) -> Entries:
        pieces = []
        for sign, each in lost:
            entries = of(each)
            assert entries is not None
            kept = entries.take(part[entries.item] >= 0)
            at = kept.item
            pieces.append(kept._replace(part=part[at], item=item[at], weight=sign * kept.weight))
        return Entries._make(np.concatenate(column) for column in zip(*pieces, strict=True))

    return Sums(
        whole.n_items,
        whole.n_labels,
        size,
        signed(lambda each: each.pairs),
        signed(lambda each: each.number),
        pooled=signed(lambda each: each.pooled),
        whole=whole,
    )


def without_coders(rows: ItemRows, convention: Convention, whole: Sums) -> Sums:
    """Collect the data without each coder, from that coder's items."""
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
    lost = [(sign, of_items(each, convention)) for sign, each in both]
    return without(whole, lost, rows.coder, rows.item, rows.n_coders)


BLOCK = 2_000_000
MOST_NUMBERS = 2_000_000_000


def without_each_item(request: Request, sums: Sums, weights: Floats, share: float = 1.0) -> Floats:
    """Return the coefficient after removing a fraction of each item's weight [item]."""
    # NaN if undefined, for means over coder pairs, and for too many items with separate coders.
    n, entry = sums.n_items, request.coefficient
    out = np.full(n, np.nan)
    width = sums.width(request.distance, entry.by_coder) + (n if entry.by_coder else 0)
    entries = int(sums.of_coders.nnz) if entry.by_coder else 1
    if entry.each_pair or n * max(width, entries) > MOST_NUMBERS:
        return out
    for start in range(0, n, step := max(1, BLOCK // width)):
        some = np.arange(start, min(start + step, n))
        if entry.by_coder:
            rest = np.tile(weights, (len(some), 1))
            rest[np.arange(len(some)), some] *= 1 - share
            out[some] = sums.evaluate(rest, request).value
        else:
            part = np.full(n, -1)
            part[some] = np.arange(len(some))
            parts = without(sums, ((share, sums),), part, np.arange(n), len(some))
            out[some] = parts.evaluate(weights, request).value
    return out


MOST_CELLS = 20_000_000


def all_pairs(rows: ItemRows, request: Request) -> Sums:
    """Collect each pair of coders, if all fit into memory at once."""
    pairs, names = by_coder_pair(rows, request.convention == "listwise")
    size, k = len(names), rows.n_labels
    if size * k > MOST_CELLS:
        raise NotApplicable(
            f"{size:,} pairs of coders with {k:,} labels need {size * k:,} cells (at most "
            f"{MOST_CELLS:,}). Take another convention than pairwise, or fewer coders."
        )
    return pairs


def pairwise(rows: ItemRows, request: Request) -> Sums:
    """Collect pairs of coders with a shared item, with equal weights."""
    number = pairable_labels(rows, CONVENTIONS["krippendorff"])
    return replace(all_pairs(rows, request), even=True, number=number)


def item_chances(rows: ItemRows, request: Request) -> Floats:
    """Return pairs, disagreeing pairs, and those expected by chance, shape [item, 3]."""
    # S with a separate chance level p_i for every item is (A_o - A_e) / (1 - A_e), A_e the mean of
    # the p_i, each item weighted as in A_o. Chance items take the mean chance level.
    chance = np.zeros(0) if request.chance is None else request.chance
    sums = of_items(rows, CONVENTIONS[request.convention])
    pairs = sums.total.toarray()[0]
    apart = sums.apart(Nominal(), np.ones(rows.n_labels)).toarray()[0]
    some = pairs[: len(chance)] > 0
    mean = chance[some].mean() if some.any() else 0.0
    level = np.concatenate([chance, np.full(rows.n_items - len(chance), mean)])
    return np.stack([pairs, apart, pairs * (1.0 - level)], axis=1)


class Statistics:
    """Linear statistics that some requests need, computed once."""

    def __init__(self, rows: ItemRows, requests: Sequence[Request]) -> None:
        self.rows = rows
        self.requests = requests
        self.items: dict[int, Floats] = {}  # by request
        self.sums: dict[tuple[str, str], Sums] = {}  # by convention, and what is summed
        self._of: dict[int, tuple[tuple[str, str], Distance]] = {}
        for n, request in enumerate(requests):
            if request.coefficient.chance:
                self.items[n] = item_chances(rows, request)
            else:
                self._of[n] = self._sums(request)
        self.by_coder = {
            key: any(
                requests[n].coefficient.by_coder for n, (of, _) in self._of.items() if of == key
            )
            for key in self.sums
        }

    def _sums(self, request: Request) -> tuple[tuple[str, str], Distance]:
        name, each = request.convention, request.coefficient.each_pair
        if each or name == "pairwise":
            key, make = (name, "pairs" * each), all_pairs if each else pairwise
            if key not in self.sums:
                self.sums[key] = make(self.rows, request)
            return key, request.distance
        given = request.distance if request.margins is None else Nominal()
        nodes = nodes_for(given, request.coefficient.expectation)
        key = name, "" if nodes is None else given.name
        if key not in self.sums:
            values = given.values if nodes and isinstance(given, Squared) else None
            self.sums[key] = of_items(self.rows, CONVENTIONS[name], values)
        return key, nodes or request.distance

    @property
    def width(self) -> int:
        distances = dict(self._of.values())
        counts = (x.width(distances[key], self.by_coder[key]) for key, x in self.sums.items())
        return sum(counts) + 4 * len(self.items)

    def evaluate(self, weights: Floats) -> list[Evaluated]:
        """Evaluate all requests under the same item weights, shape [item] or [draw, item]."""
        tables = {key: x.tables(weights, self.by_coder[key]) for key, x in self.sums.items()}
        found = []
        for n, request in enumerate(self.requests):
            if n in self.items:
                sums = weights @ self.items[n]
                mean = over(sums[..., 1:], sums[..., :1])
                found.append(ratio(mean[..., 0], mean[..., 1], np.ones(())))
            else:
                key, distance = self._of[n]
                each = self.sums[key].evaluate(weights, request, distance, tables[key])
                found.append(each.mean(-1) if request.coefficient.each_pair else each)
        return found

    def pairs_left_out(self, n: int, weights: Floats) -> tuple[int, int]:
        """Count coder pairs that a mean omits: they share no item, or are 0/0."""
        value = self.sums[self._of[n][0]].evaluate(weights, self.requests[n]).value
        every = self.rows.n_coders * (self.rows.n_coders - 1) // 2
        return every - value.size, int(np.isnan(value).sum())


def point_values(sample: Sample, requests: Sequence[Request]) -> list[Evaluated]:
    return Statistics(sample.rows, requests).evaluate(sample.point)


def draw_values(sample: Sample, requests: Sequence[Request], draws: int, seed: int) -> list[Floats]:
    """Draw the sampling posterior, shape [draw] for each request."""
    if not draws:
        return [np.empty(0) for _ in requests]
    return [found.value for found in draw_parts(sample, requests, draws, seed)]


def draw_parts(
    sample: Sample, requests: Sequence[Request], draws: int, seed: int
) -> list[Evaluated]:
    """Draw coefficients with their observed and expected disagreement, shape [draw] each."""
    # The weights depend only on the sample and the seed, so draws of different coefficients of the
    # same data are joint, whether computed in one call or several.
    if not requests:
        return []
    statistics = Statistics(sample.rows, requests)
    blocks = [statistics.evaluate(w) for w in sample.draw(draws, seed, statistics.width)]
    return [
        Evaluated(*(np.concatenate(part) for part in zip(*of_one, strict=True)))
        for of_one in zip(*blocks, strict=True)
    ]
