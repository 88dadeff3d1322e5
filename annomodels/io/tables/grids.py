"""Several variables in one table: column names that combine a question and a coder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, islice

from annomodels.data.validation import all_numbers, some
from annomodels.io.words import CODER, NamedColumn, is_asked, is_called, is_derived

JOINED = "|"  # joins names of two header rows, as for frames with two column levels
# Patterns that split names such as frame_anna or tone2 into two parts.
CUTS = (
    re.compile(r"(.+)\|(.+)"),
    re.compile(r"(.+)[_. -]([^_. -]+)"),
    re.compile(r"([^_. -]+)[_. -](.+)"),
    re.compile(r"(.*\D)(\d+)"),
)
_INITIAL = re.compile(r"[ACJR]\d+")  # initial of annotator, coder, judge or rater, and a number
_LOOKED_AT = 50  # maximum number of columns that are compared pairwise
_ALIKE = 0.5  # minimum label overlap of columns that can be one variable
_LEFT = 1.0  # maximum ratio of other columns to columns of variables
_LEANS = 0.5  # score difference above which name parts decide which of them is the coder

type Pair = tuple[str, str]


@dataclass(frozen=True)
class Grid:
    """Columns whose names combine a variable and a coder."""

    columns: Mapping[str, Mapping[str, str]]
    apart: bool
    aside: tuple[str, ...] = ()  # columns outside the grid

    def __str__(self) -> str:
        coders = list(next(iter(self.columns.values())))
        return (
            f"{len(self.columns)} variables ({some(list(self.columns))}) of "
            f"{len(coders)} coders ({some(coders)})"
        )


def grid_of(columns: Mapping[str, set[object]]) -> Grid | None:
    """Return variables and coders if column names combine two parts in all possible pairs."""
    for cut in CUTS:
        found = {name: cut.fullmatch(name) for name in columns}
        whole = {name: (match[1], match[2]) for name, match in found.items() if match}
        pairs = _crossed({**whole, **_first_of(whole, columns)})
        first, second = (list(dict.fromkeys(pair[n] for pair in pairs.values())) for n in (0, 1))
        full = len(pairs) == len(first) * len(second) == len(set(pairs.values()))
        aside = tuple(name for name in columns if name not in pairs)
        beside = len({*aside} - {*first, *second})
        if not full or min(len(first), len(second)) < 2 or beside > _LEFT * len(pairs):
            continue
        named = {pair: name for name, pair in pairs.items()}
        forward = {a: {b: named[a, b] for b in second} for a in first}
        backward = {b: {a: named[a, b] for a in first} for b in second}
        if max(_leans(first), _leans(second)) <= -1:
            continue  # both parts are questions or times, such as before_joy and after_fear
        lean = _leans(second) - _leans(first)
        if abs(lean) > _LEANS:
            chosen = forward if lean > 0 else backward
        else:
            chosen = max((forward, backward), key=lambda rows: _within(rows, columns))
        if len(coders := [who for who in next(iter(chosen.values())) if not is_derived(who)]) > 1:
            chosen = {name: {who: row[who] for who in coders} for name, row in chosen.items()}
        unions = [set().union(*(columns[c] for c in row.values())) for row in chosen.values()]
        few = unions[:_LOOKED_AT]
        apart = any(_overlap(a, b) < _ALIKE for n, a in enumerate(few) for b in few[:n])
        apart = apart or all(map(is_asked, chosen)) or all(map(is_time, chosen))
        if aside and _within(chosen, columns) < _ALIKE:
            continue  # columns of one variable share their labels
        return Grid(chosen, apart or bool(aside), aside)
    return None


def _crossed(pairs: Mapping[str, Pair]) -> dict[str, Pair]:
    """Return the names whose two parts both recur in other names."""
    kept = dict(pairs)
    while True:
        times = [Counter(pair[n] for pair in kept.values()) for n in (0, 1)]
        rest = {name: p for name, p in kept.items() if times[0][p[0]] > 1 < times[1][p[1]]}
        if len(rest) == len(kept):
            return kept
        kept = rest


def _first_of(pairs: Mapping[str, Pair], names: Iterable[str]) -> dict[str, Pair]:
    """Pair bare names with a first ending: rater1 next to rater1_time2, tone next to tone2."""
    ends = {end for _, end in pairs.values()}
    starts = {start for start, _ in pairs.values()}
    if not ends or not all(end.isdigit() or is_time(end) for end in ends):
        return {}
    stem = min(ends)
    first = re.sub(r"\d+$", "1", stem) if stem[-1].isdigit() else "first"
    bare = [name for name in names if name in starts]
    return (
        {} if first in ends or len(bare) < len(starts) else {name: (name, first) for name in bare}
    )


def is_time(part: str) -> bool:
    return is_called(part, "time")


def is_coder(part: str) -> bool:
    return _INITIAL.fullmatch(part) is not None or NamedColumn(part, ()).has(CODER)


def _leans(parts: Sequence[str]) -> float:
    """Score name parts from -1 (all questions or times) to 1 (all coders)."""
    asked = sum(is_asked(part) or is_time(part) for part in parts)
    return (sum(map(is_coder, parts)) - asked) / len(parts)


def are_alike(names: Sequence[str], is_one: Callable[[str], bool]) -> bool:
    """Return True if names share one part and `is_one` is true for the other: R1_joy, R2_joy."""
    for cut in CUTS:
        pairs = [match.groups() for name in names if (match := cut.fullmatch(name))]
        for same, other in ((0, 1), (1, 0)) if len(pairs) == len(names) > 1 else ():
            if len({p[same] for p in pairs}) == 1 and all(is_one(str(p[other])) for p in pairs):
                return True
    return False


def by_document(texts: Mapping[str, str]) -> dict[str, Pair]:
    """Return document and coder of files such as news1_ana if files of a document share a text."""
    for cut in CUTS[1:3]:
        found = {name: cut.fullmatch(name) for name in texts}
        pairs = {name: match.groups() for name, match in found.items() if match}
        for document, coder in ((0, 1), (1, 0)) if len(pairs) == len(texts) else ():
            files: dict[str, dict[str, str]] = {}
            for name, pair in pairs.items():
                files.setdefault(pair[document], {})[pair[coder]] = texts[name]
            coders = {frozenset(row) for row in files.values()}
            stems = {re.sub(r"\d+$", "", name) for name in set().union(*coders)}
            if len(files) == len(stems) == 1 and not any(texts.values()):
                continue  # numbered names without a text may be documents
            same = all(len(set(row.values())) == 1 for row in files.values())
            if same and len(coders) == 1 and len(next(iter(coders))) > 1:
                return {name: (pair[document], pair[coder]) for name, pair in pairs.items()}
    return {}


def _overlap(one: set[object], other: set[object]) -> float:
    union = one | other
    return len(one & other) / len(union) if union else 1.0


def _within(rows: Mapping[str, Mapping[str, str]], labels: Mapping[str, set[object]]) -> float:
    """Return the mean label overlap of columns in the same row."""
    pairs = [
        _overlap(labels[a], labels[b])
        for row in islice(rows.values(), _LOOKED_AT)
        for a, b in combinations(islice(row.values(), _LOOKED_AT), 2)
    ]
    return sum(pairs) / len(pairs)


def two_headers(top: Sequence[str], below: Sequence[str]) -> list[str] | None:
    """Join two header rows if the top one groups columns with the same names below.

    >>> two_headers(["", "Ann", "", "Bob", ""], ["id", "tone", "frame", "tone", "frame"])
    ['id', 'Ann|tone', 'Ann|frame', 'Bob|tone', 'Bob|frame']
    >>> two_headers(["A title", "", ""], ["item", "coder", "label"])
    """
    if len(top) != len(below) or not all(below) or all_numbers(below[-1:]):
        return None
    over: list[str] = []
    for cell in top:
        over.append(cell or (over[-1] if over else ""))
    runs = groupby(range(len(over)), key=over.__getitem__)
    groups = [(name, places) for name, run in runs if name and len(places := [*run]) > 1]
    if len(groups) < 2 or len({name for name, _ in groups}) < len(groups):
        return None
    size = min(len(places) for _, places in groups)
    same = {tuple(below[place] for place in places[:size]) for _, places in groups}
    wider = any(len(places) > size for _, places in groups[:-1])
    if wider or len(same) > 1 or len(set(same.pop())) < size:
        return None
    names = list(below)
    for name, places in groups:
        for place in places[:size]:
            names[place] = f"{name}{JOINED}{below[place]}"
    return names
