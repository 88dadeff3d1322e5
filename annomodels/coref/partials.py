"""Likeness of partial chains, summed over all pairs of labels.

The label of m is the part of its chain before m. Two parts share the common elements before the
earlier of the two cuts, so every pair of cuts may be alike in its own way. Most pairs of chains
have few elements in common, though, and then few different numbers occur: these pairs of cuts are
summed rectangle by rectangle from a table of cumulated sums. Only pairs of chains with more in
common than pays are looked at cut by cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.rows import ranges
from annomodels.coefficients.sets import SizeDistance
from annomodels.coref.setlabels import SetLabels
from annomodels.types import Floats, Ints

BLOCK = 2_000_000
FEW = (0, 4, 16, 64, 256, 1_024)
SHORT, LONG = 1_024, 8_192


def likeness(distance: SizeDistance, a: Ints, b: Ints, i: Ints) -> Floats:
    """1 - distance of sets that share something; 0 for the rest, which is summed elsewhere."""
    some = i > 0
    one, other, both = (np.where(some, x, 1) for x in np.broadcast_arrays(a, b, i))
    return np.where(some, 1 - distance(one, other, both), 0.0)


@dataclass(frozen=True, eq=False)
class Cuts:
    """The different cuts of each base set."""

    own: Ints  # element before which the set is cut, ascending within a set [cut]
    size: Ints  # size of the part, and how many labels it is [cut]
    times: Ints
    starts: Ints  # where the cuts of each base set begin [base + 1]

    @property
    def counts(self) -> Ints:
        """Number of cuts of each base set."""
        return np.diff(self.starts)

    def regular(self) -> NDArray[np.bool_]:
        """Select base sets whose sizes rise by one with equal times, shape [base]."""
        uneven = np.r_[(np.diff(self.size) != 1) | (np.diff(self.times) != 0), False]
        uneven[self.starts[1:] - 1] &= self.counts == 0  # from one set to the next
        total = np.r_[0, np.cumsum(uneven)]
        return np.asarray((total[self.starts[1:]] == total[self.starts[:-1]]) & (self.counts > 0))


def cuts_of(labels: SetLabels) -> Cuts:
    """Cuts of the labels that are sets; one without its element is cut at the end."""
    n = len(labels.elements)
    some = np.flatnonzero(labels.base >= 0)
    own = np.where(labels.own < 0, n, labels.own)
    cell, first, times = np.unique(
        labels.base[some] * (n + 1) + own[some], return_index=True, return_counts=True
    )
    starts = np.searchsorted(cell // (n + 1), np.arange(labels.n_bases + 1))
    return Cuts(cell % (n + 1), labels.sizes("before")[some[first]], times, starts)


def partial_likeness(labels: SetLabels, distance: SizeDistance) -> float:
    """Sum of 1 - distance over all ordered pairs of partial chains that share something."""
    meets, cuts = labels.meets, cuts_of(labels)
    counts = cuts.counts
    used = (counts[meets.row] > 0) & (counts[meets.column] > 0)
    largest = np.zeros(labels.n_bases, dtype=np.int64)
    some = counts > 0
    largest[some] = cuts.size[cuts.starts[1:][some] - 1]
    shorter = np.minimum(largest[meets.row], largest[meets.column])
    longer = np.maximum(largest[meets.row], largest[meets.column])
    regular = cuts.regular()
    able = used & regular[meets.row] & regular[meets.column]
    able &= (shorter <= SHORT) & (longer <= LONG)
    work = np.where(used, counts[meets.row] * counts[meets.column], 0)
    table = int(shorter[able].max(initial=0) * longer[able].max(initial=0))
    cost = {f: f * table + int(work[~able | (meets.common > f)].sum()) for f in FEW}
    few = able & (meets.common <= min(cost, key=lambda f: cost[f]))
    total = _by_level(labels, cuts, distance, few)
    return total + _cut_by_cut(labels, cuts, distance, np.flatnonzero(used & ~few))


def _twice(labels: SetLabels, pairs: Ints) -> Ints:
    return np.where(labels.meets.row[pairs] == labels.meets.column[pairs], 1, 2)


def _by_level(
    labels: SetLabels, cuts: Cuts, distance: SizeDistance, few: NDArray[np.bool_]
) -> float:
    r"""Sum over the number i of shared elements: the cuts behind the i-th one form a rectangle.

    .. math:: \sum_{p, q} s(a_p, b_q, i_{pq}) = \sum_i \sum_{(p, q) \in R_i}
              s(a_p, b_q, i) - s(a_p, b_q, i - 1)
    """
    meets = labels.meets
    entry = np.flatnonzero(few[meets.pair])
    if not len(entry):
        return 0.0
    fixed = labels.fixed[meets.element[entry]]
    # Elements outside the order of the text are shared by all parts, so they come first.
    order = np.lexsort((meets.element[entry], ~fixed, meets.pair[entry]))
    entry, fixed = entry[order], fixed[order]
    pair = meets.pair[entry]
    new = np.r_[True, pair[1:] != pair[:-1]]
    level = np.arange(len(entry)) - np.flatnonzero(new)[np.cumsum(new) - 1] + 1
    after = np.where(fixed, -1, meets.element[entry])
    sides = []
    for base in (meets.row[pair], meets.column[pair]):
        width = len(labels.elements) + 1
        keys = np.repeat(np.arange(labels.n_bases), cuts.counts) * width + cuts.own
        first = np.searchsorted(keys, base * width + after + 1)
        end = cuts.starts[base + 1]
        last = cuts.size[end - 1]
        sides.append((last - (end - first) + 1, last + 1, cuts.times[end - 1]))
    # The side with the smaller parts gives the rows of the table.
    swap = sides[0][1] > sides[1][1]
    (a, a_end, _), (b, b_end, _) = (
        tuple(np.where(swap, y, x) for x, y in zip(one, other, strict=True))
        for one, other in (sides, sides[::-1])
    )
    weight = sides[0][2] * sides[1][2] * _twice(labels, pair)
    weight = weight * ((a < a_end) & (b < b_end))
    rows, columns = int(a_end.max()), int(b_end.max())
    total = 0.0
    for i in range(1, int(level.max()) + 1):
        at = level == i
        sums = _cumulated(distance, i, rows, columns)
        top, bottom, left, right = a[at], a_end[at], b[at], b_end[at]
        inside = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
        total += float((weight[at] * inside).sum())
    return total


def _cumulated(distance: SizeDistance, i: int, rows: int, columns: int) -> Floats:
    """Cumulated sums over sizes of what the i-th shared element adds, shape [rows+1, columns+1]."""
    a, b = np.arange(rows)[:, None], np.arange(columns)[None, :]
    smaller = np.minimum(a, b)
    added = likeness(distance, a, b, np.minimum(smaller, i))
    added -= likeness(distance, a, b, np.minimum(smaller, i - 1))
    out = np.zeros((rows + 1, columns + 1))
    out[1:, 1:] = added.cumsum(0).cumsum(1)
    return out


def _cut_by_cut(labels: SetLabels, cuts: Cuts, distance: SizeDistance, pairs: Ints) -> float:
    meets, counts = labels.meets, cuts.counts
    work = np.cumsum(counts[meets.row[pairs]] * counts[meets.column[pairs]])
    total, done = 0.0, 0
    while done < len(pairs):
        until = int(np.searchsorted(work, (work[done - 1] if done else 0) + BLOCK, side="right"))
        block = pairs[done : max(until, done + 1)]
        done += len(block)
        row, column = meets.row[block], meets.column[block]
        p, left = ranges(cuts.starts[row], counts[row])
        q, right = ranges(cuts.starts[column], counts[column])
        # Common elements before the earlier of two cuts: the smaller of the two numbers.
        common_p = labels.before(block[left], cuts.own[p])
        common_q = labels.before(block[right], cuts.own[q])
        k, m = _cross(counts[row], counts[column])
        common = np.minimum(common_p[k], common_q[m])
        like = likeness(distance, cuts.size[p][k], cuts.size[q][m], common)
        weight = cuts.times[p][k] * cuts.times[q][m] * _twice(labels, block)[left[k]]
        total += float((weight * like).sum())
    return total


def _cross(rows: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Places of all pairs of the i-th range of one list and the i-th range of another."""
    step, owner = ranges(np.zeros_like(rows), rows * columns)
    first_row, first_column = (np.cumsum(x) - x for x in (rows, columns))
    return first_row[owner] + step // columns[owner], first_column[owner] + step % columns[owner]
