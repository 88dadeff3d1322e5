"""Observed and expected disagreement of labels that are sets, without a table of label pairs.

Sets that share nothing are at distance 1. So the expected disagreement is 1 less what the pairs of
sets that do share something bring, and only these are looked at.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.counts import within_items
from annomodels.coref.setdistances import SizeDistance
from annomodels.coref.setlabels import Cut, SetLabels, places

__all__ = ["Disagreement", "disagreement"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

BLOCK = 2_000_000


class Disagreement(NamedTuple):
    """Observed and expected disagreement with what they rest on.

    Parameters
    ----------
    observed
        Mean distance of two labels of an item.
    drawn
        Mean distance of two labels drawn with replacement from all (pi, K).
    n_items, n_labels
        Items with two labels or more, and their labels.
    """

    observed: float
    drawn: float
    n_items: int
    n_labels: int

    @property
    def without_replacement(self) -> float:
        """Mean distance of two different labels (alpha)."""
        n = self.n_labels
        return self.drawn * n / (n - 1) if n > 1 else math.nan


def pairable(labels: SetLabels) -> SetLabels:
    """Labels of items that have two or more."""
    return labels.take(np.bincount(labels.item, minlength=1)[labels.item] > 1)


def disagreement(
    parts: Sequence[SetLabels],
    distance: SizeDistance,
    cut: Cut = "whole",
    observed: tuple[Sequence[SetLabels], Cut] | None = None,
) -> Disagreement:
    r"""Observed and expected disagreement, Krippendorff's weights for missing labels.

    .. math:: D_o = \frac1n \sum_u \frac{1}{m_u - 1} \sum_{i \ne j} d(u_i, u_j), \quad
              D_e = \frac{1}{n^2} \sum_k \sum_l n_k n_l d(k, l)

    Words are at distance 1 from other words and from all sets. Sets of different documents are
    disjoint.

    Parameters
    ----------
    parts
        Labels of the documents.
    distance
        Distance of sets from their sizes.
    cut
        Which part of the base sets is the label.
    observed
        Other labels or another cut for the observed disagreement.
    """
    parts = [pairable(part) for part in parts]
    others, own_cut = (parts, cut) if observed is None else observed
    n = sum(len(part.item) for part in parts)
    if not n:
        return Disagreement(math.nan, math.nan, 0, 0)
    apart = sum(_within(pairable(part), distance, own_cut) for part in others)
    return Disagreement(
        observed=apart / sum(len(pairable(part).item) for part in others),
        drawn=1 - _alike(parts, distance, cut) / n**2,
        n_items=sum(len(np.unique(part.item)) for part in parts),
        n_labels=n,
    )


def _within(labels: SetLabels, distance: SizeDistance, cut: Cut) -> float:
    """Sum over items of the mean distance of each label from the others of its item."""
    p, q = within_items(labels.item, int(labels.item.max(initial=-1)) + 1)
    p, q = p[p != q], q[p != q]
    sizes = labels.sizes(cut)
    apart = (labels.word[p] != labels.word[q]).astype(float)
    sets = (labels.base[p] >= 0) & (labels.base[q] >= 0)
    a, b = p[sets], q[sets]
    apart[sets] = distance(sizes[a], sizes[b], labels.common(a, b, cut))
    per_item = np.bincount(labels.item)[labels.item[p]]
    return float((2 * apart / (per_item - 1)).sum())


def _alike(parts: Sequence[SetLabels], distance: SizeDistance, cut: Cut) -> float:
    """Sum of 1 - distance over all ordered pairs of labels, each with itself included."""
    words = Counter(part.words[word] for part in parts for word in part.word[part.word >= 0])
    total = float(sum(times**2 for times in words.values()))
    sizes = np.concatenate([part.sizes(cut) for part in parts])
    size, times = np.unique(sizes[sizes >= 0], return_counts=True)
    empty = int(times[size == 0].sum())
    others, weight = size[size > 0], times[size > 0]
    total += empty**2 + 2 * empty * float((weight * (1 - distance(0, others, 0))).sum())
    meeting = {"whole": _whole, "without": _without, "before": _before}[cut]
    return total + sum(meeting(part, distance) for part in parts if part.n_bases)


def _likeness(distance: SizeDistance, a: Ints, b: Ints, i: Ints) -> Floats:
    """1 - distance of sets that share something; 0 for the rest, which is summed elsewhere."""
    some = i > 0
    one, other, both = (np.where(some, x, 1) for x in np.broadcast_arrays(a, b, i))
    return np.where(some, 1 - distance(one, other, both), 0.0)


def _twice(labels: SetLabels) -> Floats:
    """Weight 2 for pairs of different base sets, 1 for a base set with itself."""
    return np.where(labels.meets.row == labels.meets.column, 1.0, 2.0)


def _whole(labels: SetLabels, distance: SizeDistance) -> float:
    meets, sizes = labels.meets, labels.base_sizes
    times = np.bincount(labels.base[labels.base >= 0], minlength=labels.n_bases)
    like = _likeness(distance, sizes[meets.row], sizes[meets.column], meets.common)
    return float((_twice(labels) * times[meets.row] * times[meets.column] * like).sum())


def _without(labels: SetLabels, distance: SizeDistance) -> float:
    r"""Sum for C\{m} and C'\{m'}: what they share depends on where m and m' lie, and if m = m'."""
    meets, sizes = labels.meets, labels.base_sizes
    n = len(labels.elements)
    some = (labels.base >= 0) & (labels.own >= 0)
    cell, times = np.unique(labels.base[some] * n + labels.own[some], return_counts=True)
    cut = np.bincount(cell // n, times.astype(float), minlength=labels.n_bases)
    every = np.bincount(labels.base[labels.base >= 0], minlength=labels.n_bases)
    kept = every.astype(float) - cut

    def weights(base: Ints) -> Floats:
        place = places(cell, base[meets.pair] * n + meets.element)
        return np.append(times, 0)[place].astype(float)

    left, right = weights(meets.row), weights(meets.column)
    inside, inside_other, same = (
        np.bincount(meets.pair, w, minlength=len(meets.row)) for w in (left, right, left * right)
    )
    row, column = meets.row, meets.column
    # (weight, size, what the removed element takes from the common part) of each kind of label
    first: list[tuple[Floats, Ints, int]] = [
        (inside, sizes[row] - 1, 1),
        (cut[row] - inside, sizes[row] - 1, 0),
        (kept[row], sizes[row], 0),
    ]
    second: list[tuple[Floats, Ints, int]] = [
        (inside_other, sizes[column] - 1, 1),
        (cut[column] - inside_other, sizes[column] - 1, 0),
        (kept[column], sizes[column], 0),
    ]
    total = np.zeros(len(row))
    for weight, size, lost in first:
        for other, other_size, other_lost in second:
            both = weight * other - (same if lost and other_lost else 0)
            like = _likeness(distance, size, other_size, meets.common - lost - other_lost)
            total += both * like
    total += same * _likeness(distance, sizes[row] - 1, sizes[column] - 1, meets.common - 1)
    return float((_twice(labels) * total).sum())


def _before(labels: SetLabels, distance: SizeDistance) -> float:
    """Sum for the parts before m and before m': the common elements before the earlier one."""
    meets = labels.meets
    n = len(labels.elements)
    some = np.flatnonzero(labels.base >= 0)
    all_sizes = labels.sizes("before")
    # The same cut of the same base set is one label with a weight; without an element, all is in.
    own = np.where(labels.own < 0, n, labels.own)
    cell, first, times = np.unique(
        labels.base[some] * (n + 1) + own[some], return_index=True, return_counts=True
    )
    base, own = cell // (n + 1), cell % (n + 1)
    size = all_sizes[some[first]]
    starts = np.searchsorted(base, np.arange(labels.n_bases + 1))
    counts = np.diff(starts)
    pairs = np.flatnonzero((counts[meets.row] > 0) & (counts[meets.column] > 0))
    work = np.cumsum(counts[meets.row[pairs]] * counts[meets.column[pairs]])
    total, done = 0.0, 0
    while done < len(pairs):
        until = int(np.searchsorted(work, (work[done - 1] if done else 0) + BLOCK, side="right"))
        block = pairs[done : max(until, done + 1)]
        done += len(block)
        p, left = _ranges(starts[meets.row[block]], counts[meets.row[block]])
        q, right = _ranges(starts[meets.column[block]], counts[meets.column[block]])
        # Common elements before the earlier of two cuts: the smaller of the two numbers.
        common_p = labels.before(block[left], own[p])
        common_q = labels.before(block[right], own[q])
        k, m = _cross(counts[meets.row[block]], counts[meets.column[block]])
        like = _likeness(distance, size[p][k], size[q][m], np.minimum(common_p[k], common_q[m]))
        twice = np.where(meets.row[block] == meets.column[block], 1, 2)[left[k]]
        total += float((twice * times[p][k] * times[q][m] * like).sum())
    return total


def _ranges(starts: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Write out start, start + 1, ... of each range, and the number of the range beside it."""
    owner = np.repeat(np.arange(len(starts)), counts)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return starts[owner] + step, owner


def _cross(rows: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Places of all pairs of the i-th range of one list and the i-th range of another."""
    step, owner = _ranges(np.zeros_like(rows), rows * columns)
    first_row, first_column = (np.cumsum(x) - x for x in (rows, columns))
    return first_row[owner] + step // columns[owner], first_column[owner] + step % columns[owner]
