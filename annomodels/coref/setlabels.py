"""Labels that are sets of markables, kept as what they were cut from.

A text with chains of 500 mentions has 500 x 500 members in its exclusive or partial labels. They
are never written out: a label is a base set and the mention it belongs to, and how much two labels
share follows from what their base sets share.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from annomodels.coefficients.rows import within_items
from annomodels.types import Bools, Ints

Cut = Literal["whole", "without", "before"]


@dataclass(frozen=True, eq=False)
class Meets:
    """Pairs of base sets with common elements."""

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
    own: Ints  # the element that is the item itself where the base set has it, else -1 [label]
    words: tuple[str, ...]  # the labels that are words
    items: tuple[Any, ...]  # names
    coders: tuple[str, ...]
    elements: tuple[Hashable, ...]
    members: Ints  # elements of each base set, one after the other, ascending within a set
    starts: Ints  # where each base set begins in `members` [base + 1]
    # whether an element stands outside the order of the text, as turns do [element]
    fixed: Bools

    @property
    def n_bases(self) -> int:
        """Number of base sets."""
        return len(self.starts) - 1

    @cached_property
    def base_sizes(self) -> Ints:
        """Number of elements of each base set."""
        return np.diff(self.starts)

    @cached_property
    def _owners(self) -> Ints:
        return np.repeat(np.arange(self.n_bases), self.base_sizes)

    @cached_property
    def meets(self) -> Meets:
        """Pairs of base sets that meet; the work is the sum over elements of (sets with it)²."""
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
        """Index of the pair of two base sets in :attr:`meets`, -1 where they share nothing."""
        key = np.minimum(a, b) * self.n_bases + np.maximum(a, b)
        keys = self.meets.row * self.n_bases + self.meets.column
        return places(keys, key)

    def sizes(self, cut: Cut) -> Ints:
        """Sizes of the labels, -1 for words, shape [label]."""
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
        """Sizes of what labels of the same item share; both are sets."""
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
        """Write out a label."""
        if self.word[n] >= 0:
            return self.words[int(self.word[n])]
        base, own = self.base[n], self.own[n]
        members = self.members[self.starts[base] : self.starts[base + 1]]
        if own >= 0 and cut == "without":
            members = members[members != own]
        elif own >= 0 and cut == "before":
            members = members[self.fixed[members] | (members < own)]
        return frozenset(self.elements[m] for m in members)

    def take(self, keep: Bools) -> SetLabels:
        """Leave out labels."""
        return replace(
            self,
            item=self.item[keep],
            coder=self.coder[keep],
            word=self.word[keep],
            base=self.base[keep],
            own=self.own[keep],
        )


def places(keys: Ints, wanted: Ints) -> Ints:
    """Places of keys in a sorted list, -1 where they are not."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


class LabelBuilder:
    """Collects labels and codes them."""

    def __init__(self, elements: Iterable[Hashable], fixed: Iterable[Hashable] = ()) -> None:
        self._elements = {element: n for n, element in enumerate(elements)}
        self._fixed = frozenset(fixed)
        self._sets: dict[frozenset[Hashable], int] = {}
        self._rows: list[tuple[Hashable, str, int, int, int]] = []
        self._words: dict[str, int] = {}

    def add(
        self, item: Hashable, coder: str, label: str | frozenset[Hashable], own: Hashable = None
    ) -> None:
        """Add the label of a coder; `own` is the element that is the item."""
        if isinstance(label, str):
            word = self._words.setdefault(label, len(self._words))
            self._rows.append((item, coder, word, -1, -1))
            return
        base = self._sets.setdefault(label, len(self._sets))
        element = self._elements[own] if own is not None and own in label else -1
        self._rows.append((item, coder, -1, base, element))

    def build(self) -> SetLabels:
        """Code what was added."""
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
