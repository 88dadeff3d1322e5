"""Observed and expected disagreement of labels that are sets, without a table of label pairs.

Disjoint sets have distance 1, so only pairs of overlapping sets are enumerated. The labels of a
text with chains of 500 mentions have 500 x 500 members, so a label is stored as a base set and its
mention.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from annomodels.coefficients.distances import SizeDistance
from annomodels.coefficients.rows import ranges, within_items
from annomodels.coref.posteriors import over_texts
from annomodels.types import Bools, Floats, Ints

Cut = Literal["whole", "without", "before"]


@dataclass(frozen=True, eq=False)
class Meets:
    row: Ints  # base sets, row <= column [pair]; sorted
    column: Ints
    common: Ints  # number of common elements [pair]
    pair: Ints  # the common elements of each pair, sorted by pair, then element [common element]
    element: Ints


@dataclass(frozen=True, eq=False)
class SetLabels:
    """Labels of one document, in long form, sorted by item."""

    item: Ints  # codes [label]
    coder: Ints
    word: Ints  # code of a label that is a word into `words`, -1 for a set [label]
    base: Ints  # base set of a label that is a set, -1 for a word [label]
    own: Ints  # the element of the item itself if the base set contains it, else -1 [label]
    words: tuple[str, ...]  # the labels that are words
    items: tuple[Any, ...]  # names
    coders: tuple[str, ...]
    elements: tuple[Hashable, ...]
    members: Ints  # elements of each base set, one after the other, ascending within a set
    starts: Ints  # where each base set begins in `members` [base + 1]
    # whether an element is outside the text order, as turns are [element]
    fixed: Bools

    @property
    def n_bases(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def base_sizes(self) -> Ints:
        return np.diff(self.starts)

    @cached_property
    def _owners(self) -> Ints:
        return np.repeat(np.arange(self.n_bases), self.base_sizes)

    @cached_property
    def meets(self) -> Meets:
        """Pairs of overlapping base sets; the cost is the sum over elements of (sets with it)²."""
        order = np.lexsort((self._owners, self.members))
        a, b = within_items(self.members[order], len(self.elements))
        row, column = self._owners[order][a], self._owners[order][b]
        element = self.members[order][a]
        by_pair = np.lexsort((element, column, row))
        row, column, element = row[by_pair], column[by_pair], element[by_pair]
        new = np.r_[True, (row[1:] != row[:-1]) | (column[1:] != column[:-1])][: len(row)]
        pair = np.cumsum(new) - 1
        return Meets(row[new], column[new], np.bincount(pair), pair, element)

    def pair_of(self, a: Ints, b: Ints) -> Ints:
        """Return the index of a pair of base sets in :attr:`meets`, -1 if disjoint."""
        key = np.minimum(a, b) * self.n_bases + np.maximum(a, b)
        keys = self.meets.row * self.n_bases + self.meets.column
        return places(keys, key)

    def sizes(self, cut: Cut) -> Ints:
        """Return the sizes of the labels, -1 for words, shape [label]."""
        out = np.full(len(self.item), -1, dtype=np.int64)
        some = self.base >= 0
        base, own = self.base[some], self.own[some]
        size = self.base_sizes[base]
        if cut == "without":
            size = size - (own >= 0)
        elif cut == "before":
            every = self._owners * len(self.elements) + self.members
            fixed = np.r_[0, np.cumsum(self.fixed[self.members])]
            own = np.where(own < 0, len(self.elements), own)
            place = np.searchsorted(every, base * len(self.elements) + own)
            start, end = self.starts[base], self.starts[base + 1]
            size = place - start + fixed[end] - fixed[place]
        out[some] = size
        return out

    @cached_property
    def _cuts(self) -> tuple[Ints, Ints, Ints]:
        """Starts of pairs in `meets.element`, keys of its entries, and counts of fixed ones."""
        meets = self.meets
        begin = np.searchsorted(meets.pair, np.arange(len(meets.common) + 1))
        fixed = np.r_[0, np.cumsum(self.fixed[meets.element])]
        return begin, meets.pair * len(self.elements) + meets.element, fixed

    def before(self, pair: Ints, own: Ints) -> Ints:
        """Count common elements of a pair of base sets that are fixed or before an element."""
        # The number of elements represents the end of the text.
        begin, keys, fixed = self._cuts
        start, end = begin[pair], begin[pair + 1]
        place = np.searchsorted(keys, pair * len(self.elements) + own)
        return np.asarray(place - start + fixed[end] - fixed[place])

    def within(self, pair: Ints, own: Ints) -> Bools:
        """Mark elements that are common elements of a pair of base sets."""
        keys, n = self._cuts[1], len(self.elements)
        return np.asarray((own < n) & (places(keys, pair * n + own) >= 0))

    def common(self, p: Ints, q: Ints, cut: Cut) -> Ints:
        """Return the intersection sizes of two set labels of the same item."""
        pair = self.pair_of(self.base[p], self.base[q])
        met = pair >= 0
        out = np.zeros(len(p), dtype=np.int64)
        out[met] = self.meets.common[pair[met]]
        if cut == "without":
            out[met & (self.own[p] >= 0) & (self.own[q] >= 0)] -= 1
        elif cut == "before":
            own = np.where(self.own < 0, len(self.elements), self.own)
            out[met] = self.before(pair[met], np.minimum(own[p], own[q])[met])
        return out

    def label(self, n: int, cut: Cut) -> str | frozenset[Hashable]:
        if self.word[n] >= 0:
            return self.words[int(self.word[n])]
        base, own = self.base[n], self.own[n]
        members = self.members[self.starts[base] : self.starts[base + 1]]
        if own >= 0 and cut == "without":
            members = members[members != own]
        elif own >= 0 and cut == "before":
            members = members[self.fixed[members] | (members < own)]
        return frozenset(self.elements[m] for m in members)

    def pairable(self) -> SetLabels:
        keep = np.bincount(self.item, minlength=1)[self.item] > 1
        names = ("item", "coder", "word", "base", "own")
        return replace(self, **{name: getattr(self, name)[keep] for name in names})


def places(keys: Ints, wanted: Ints) -> Ints:
    """Return the positions of keys in a sorted list, -1 if missing."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


class LabelBuilder:
    def __init__(self, elements: Iterable[Hashable], fixed: Iterable[Hashable] = ()) -> None:
        self._elements = {element: n for n, element in enumerate(elements)}
        self._fixed = frozenset(fixed)
        self._sets: dict[frozenset[Hashable], int] = {}
        self._rows: list[tuple[Hashable, str, int, int, int]] = []
        self._words: dict[str, int] = {}

    def add(
        self, item: Hashable, coder: str, label: str | frozenset[Hashable], own: Hashable = None
    ) -> None:
        if isinstance(label, str):
            word = self._words.setdefault(label, len(self._words))
            self._rows.append((item, coder, word, -1, -1))
            return
        base = self._sets.setdefault(label, len(self._sets))
        element = self._elements[own] if own is not None and own in label else -1
        self._rows.append((item, coder, -1, base, element))

    def build(self) -> SetLabels:
        items = {item: n for n, item in enumerate(dict.fromkeys(row[0] for row in self._rows))}
        coders = {coder: n for n, coder in enumerate(sorted({row[1] for row in self._rows}))}
        codes = [(items[i], coders[c], w, b, e) for i, c, w, b, e in self._rows]
        table = np.array(sorted(codes), dtype=np.int64).reshape(-1, 5).T.copy()
        places = self._elements
        members = [sorted(places[m] for m in one) for one in self._sets]
        lengths = [len(one) for one in members]
        return SetLabels(
            item=table[0],
            coder=table[1],
            word=table[2],
            base=table[3],
            own=table[4],
            words=tuple(self._words),
            items=tuple(items),
            coders=tuple(coders),
            elements=tuple(places),
            members=np.fromiter((m for one in members for m in one), np.int64, sum(lengths)),
            starts=np.r_[0, np.cumsum(lengths, dtype=np.int64)],
            fixed=np.fromiter((one in self._fixed for one in places), np.bool_, len(places)),
        )


class Disagreement(NamedTuple):
    value: float  # alpha or K; NaN if the expected distance is 0
    observed: float  # mean distance of two labels of an item
    expected: float  # of two labels drawn from all, without (alpha) or with replacement (K)
    n_items: int  # items with two labels or more, and their labels
    n_labels: int


@dataclass(frozen=True)
class Piece:
    # sum over labels of their mean distance from the others of their item, and those labels
    apart: float
    n_observed: int
    alike: float  # sum of 1 - distance over pairs of overlapping sets
    words: Counter[str]  # count of each word and each set size
    sizes: Counter[int]
    n_items: int  # items with two labels or more, and their labels
    n_labels: int


def pieces(
    parts: Sequence[SetLabels],
    distance: SizeDistance,
    cut: Cut = "whole",
    observed: tuple[Sequence[SetLabels], Cut] | None = None,
) -> list[Piece]:
    """Compute the contribution of each document, with Krippendorff's weights."""
    # Words are at distance 1 from other words and from all sets; sets of different documents are
    # disjoint.
    found = []
    for n, whole in enumerate(parts):
        part = whole.pairable()
        other, own_cut = (
            (part, cut) if observed is None else (observed[0][n].pairable(), observed[1])
        )
        sizes = part.sizes(cut)
        found.append(
            Piece(
                _within(other, distance, own_cut) if len(part.item) else 0.0,
                len(other.item),
                _alike(part, distance, cut) if part.n_bases and len(part.item) else 0.0,
                Counter(part.words[word] for word in part.word[part.word >= 0].tolist()),
                Counter(sizes[sizes >= 0].tolist()),
                len(np.unique(part.item)),
                len(part.item),
            )
        )
    return found


def together(found: Sequence[Piece], distance: SizeDistance, nominal: bool = False) -> Disagreement:
    """Combine the contributions of documents to the disagreement; K if it is nominal."""
    n = sum(piece.n_labels for piece in found)
    if not n:
        return Disagreement(math.nan, math.nan, math.nan, 0, 0)
    words, sizes = Counter[str](), Counter[int]()
    for piece in found:
        words.update(piece.words)
        sizes.update(piece.sizes)
    alike = float(sum(times**2 for times in words.values()))
    empty = sizes.pop(0, 0)
    others, weight = (np.array(list(each), dtype=np.int64) for each in (sizes, sizes.values()))
    alike += empty**2 + 2 * empty * float((weight * (1 - distance(0, others, 0))).sum())
    observed = sum(piece.apart for piece in found) / sum(piece.n_observed for piece in found)
    expected = 1 - (alike + sum(piece.alike for piece in found)) / n**2
    if not nominal:
        expected = expected * n / (n - 1) if n > 1 else math.nan
    value = 1 - observed / expected if expected > 0 else math.nan
    return Disagreement(value, observed, expected, sum(piece.n_items for piece in found), n)


def _within(labels: SetLabels, distance: SizeDistance, cut: Cut) -> float:
    """Sum the mean distance of each label from the other labels of its item."""
    p, q = within_items(labels.item, int(labels.item.max(initial=-1)) + 1)
    p, q = p[p != q], q[p != q]
    sizes = labels.sizes(cut)
    apart = (labels.word[p] != labels.word[q]).astype(float)
    sets = (labels.base[p] >= 0) & (labels.base[q] >= 0)
    a, b = p[sets], q[sets]
    apart[sets] = distance(sizes[a], sizes[b], labels.common(a, b, cut))
    per_item = np.bincount(labels.item)[labels.item[p]]
    return float((2 * apart / (per_item - 1)).sum())


def _alike(labels: SetLabels, distance: SizeDistance, cut: Cut) -> float:
    """Sum 1 - distance over all ordered pairs of overlapping labels."""
    meets, n = labels.meets, len(labels.elements) + 1
    some = np.flatnonzero(labels.base >= 0)
    own = np.where((labels.own < 0) | (cut == "whole"), n - 1, labels.own)[some]
    # labels with the same set and cut are one cell
    cell, first, times = np.unique(
        labels.base[some] * n + own, return_index=True, return_counts=True
    )
    base, own = np.divmod(cell, n)
    starts = np.searchsorted(base, np.arange(labels.n_bases + 1))
    ends = meets.row, meets.column
    (p, left), (q, right) = (ranges(starts[each], np.diff(starts)[each]) for each in ends)
    t, u = times[p], times[q] * np.where(meets.row == meets.column, 1, 2)[right]
    if cut == "before":
        sizes = labels.sizes(cut)[some[first]]
        cells = []
        for pair, at, weight in ((left, p, t), (right, q, u)):
            kept = labels.before(pair, own[at])
            found = np.flatnonzero(kept)
            cells.append(np.stack([pair[found], sizes[at[found]], kept[found], weight[found]]))
        return _cut_short(cells[0], cells[1], distance)
    # labels are base sets, or these without a mention of their own or without a common one
    sizes = np.stack([labels.base_sizes - (kind > 0) for kind in range(3)], axis=-1)
    lost = labels.within(left, own[p]), labels.within(right, own[q])
    held = [
        np.bincount(3 * pair + (own[at] < n - 1) + out, weight, 3 * len(meets.row)).reshape(-1, 3)
        for pair, at, out, weight in ((left, p, lost[0], t), (right, q, lost[1], u))
    ]
    less = np.array([0, 0, 1])
    common = meets.common[:, None, None] - less[:, None] - less
    like = _likeness(distance, sizes[meets.row][:, :, None], sizes[meets.column][:, None], common)
    total = np.einsum("mi,mj,mij->", *held, like)
    # two labels without the same mention lose one common element, not two
    met = places(right * n + own[q], left * n + own[p])
    x = np.flatnonzero((met >= 0) & lost[0])
    pair, weight = left[x], t[x] * u[met[x]]
    a, b = sizes[meets.row[pair], 2], sizes[meets.column[pair], 2]
    one, two = (_likeness(distance, a, b, meets.common[pair] - k) for k in (1, 2))
    return float(total + (weight * (one - two)).sum())


def _likeness(distance: SizeDistance, a: Ints, b: Ints, i: Ints) -> Floats:
    """Return 1 - distance of overlapping sets; 0 for the rest, summed elsewhere."""
    some = i > 0
    one, other, both = (np.where(some, x, 1) for x in np.broadcast_arrays(a, b, i))
    return np.where(some, 1 - distance(one, other, both), 0.0)


def _cut_short(left: Ints, right: Ints, distance: SizeDistance) -> float:
    """Sum over cells of the same two base sets, which share the smaller number they keep."""
    # each side: pair of base sets, size, common elements that are kept, number of labels [4, cell]
    total, wide = 0.0, 1 + int(max(left[0].max(initial=0), right[0].max(initial=0)))

    def counted(cells: Ints) -> sparse.csr_array:
        """Count the labels of each size, by pair of base sets, [size, pair]."""
        pair, size, _, times = cells
        return sparse.csr_array((times, (size, pair)), shape=(int(size.max()) + 1, wide))

    for level in range(1, 1 + int(min(left[2].max(initial=0), right[2].max(initial=0)))):
        left, right = (side.compress(side[2] >= level, axis=1) for side in (left, right))
        here, there = (side[2] == level for side in (left, right))
        # the smaller number is `level`: that of one, or of the other alone
        for one, other in ((left[:, here], right), (left[:, ~here], right[:, there])):
            if one.size and other.size:
                found = (counted(one) @ counted(other).T).tocoo()
                like = 1 - distance(found.row, found.col, level)
                total += float((found.data * like).sum())
    return total


FEWEST = 3
"""Minimum number of texts for an interval: two show little about variation."""


def chance_corrected_draws(
    found: Sequence[Piece], distance: SizeDistance, nominal: bool, draws: int, seed: int
) -> Floats | None:
    """Draw alpha, or K, over texts like these; None with too few texts."""
    # The value of a text is T alpha - (T - 1) alpha without the text (Tukey 1958). Moving one
    # mention changes the labels of an entire chain, so texts are resampled, not labels.
    own = [piece for piece in found if piece.n_labels]
    if len(own) < FEWEST:
        return None
    whole = together(own, distance, nominal).value
    rest = (together([*own[:t], *own[t + 1 :]], distance, nominal) for t in range(len(own)))
    without = np.array([one.value for one in rest])
    values = len(own) * whole - (len(own) - 1) * without
    if np.isnan(values).any():
        return None
    drawn = over_texts(values, None, 0.0, draws, np.random.default_rng([seed, 3])).mean[0]
    return np.asarray(np.clip(drawn - values.mean() + whole, -1.0, 1.0))
