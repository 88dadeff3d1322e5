"""Data that are read, but not as they were meant: labels that repeat, label sets that differ."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from annomodels.data.alike import components
from annomodels.data.annotations import Annotations
from annomodels.data.columns import percent
from annomodels.data.names import label_text
from annomodels.data.validation import LONGEST_LABEL, counted, some
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.tables.columns import ALIASES, Columns
from annomodels.io.tables.keys import Key, parts_of

Repeats = Literal["error", "first", "all"]
REPEATS: tuple[Repeats, ...] = ("error", "first", "all")

UNIQUE = "makes rows unique"
MANY = 0.1  # share of labels that may repeat
RETEST = 0.4  # kappa of coders with themselves from which repeats look meant
LOOKED_AT = 20_000  # rows in which columns are tried
_NEARLY = 0.005  # share of labels that repeat below which columns nearly make rows unique
_SHORT = 40  # characters of a cell that names something rather than being a text
_COLUMNS = 24  # columns that are tried together
# columns of what a coder said or when, which can make rows unique but name no item
SAID = re.compile(
    r"unnamed: \d+|(.*[_. -])?(date|time|timestamp|created(_at)?|updated(_at)?|seconds|duration|"
    r"notes?|remarks?|feedback|rationale|gold|truth|confidence|severity|explanation|reason|order|"
    r"position|latency|ratings?|scores?|comments?)",
    re.IGNORECASE,
)

Codes = NDArray[np.int64]


def require_way(repeats: str) -> None:
    """Refuse what is no way to treat repeats."""
    if repeats not in REPEATS:
        remedy = f"Use one of {', '.join(REPEATS)}."
        raise AnnotationError(Problem(f"{repeats!r} is no way to treat repeats.", remedy=remedy))


class NotAsItSeems(AnnotationError):
    """The data can be read, but hardly as they were meant."""

    @property
    def is_solved(self) -> bool:
        """Return True if it names columns that make rows unique."""
        return any(UNIQUE in problem.remedy for problem in self.problems)


@dataclass(frozen=True)
class Proposal:
    """Columns that tell rows apart which the item alone does not."""

    columns: tuple[str, ...]
    repeats: float


def suspicions(
    data: Annotations,
    columns: Columns,
    *,
    check_repeats: bool = True,
    by_units: bool = False,
) -> list[Problem]:
    """Explain why data that can be read may not be what they seem, and what to do about it."""
    found = _repeated(data, columns) if check_repeats else []
    found += _coders_apart(data)
    return found if by_units else found + _items_apart(data)


def _repeated(data: Annotations, columns: Columns) -> list[Problem]:
    if data.repeats < MANY * len(data) or data.repeats < 2:
        return []
    item = columns.names.get("item", "")
    labels = {label_text(label) for label in data.labels}
    coders = {label_text(coder) for coder in data.coders}
    cells = columns.cells() if columns.cells is not None and columns.names else None
    found = None if cells is None else proposal(cells, columns.names, labels, coders)
    counts, (pairs, same) = np.bincount(data.label), data.repeats_by_coder
    if found is None and looks_meant(counts, int(pairs.sum()), int(same.sum())):
        return []  # nothing tells the rows apart, and coders agree with themselves
    same = (data.item[1:] == data.item[:-1]) & (data.coder[1:] == data.coder[:-1])
    names = [label_text(data.items[n]) for n in np.unique(data.item[1:][same])]
    return [repeated_problem(data.repeats, len(data), data.source, item, names, found)]


def repeated_problem(
    repeats: int, n: int, source: str, item: str, names: Sequence[str], found: Proposal | None
) -> Problem:
    """Report that labels repeat, and which columns would tell them apart."""
    what = (
        f"{repeats:,} of {n:,} labels repeat ({percent(repeats / n, 0)}): several rows hold a "
        "label of the "
        "same coder for the same item" + (f", such as {some(names[:3])}." if names else ".")
    )
    keep = (
        f"If repeats are meant, use {Option('repeats', 'all')}; to count only the first label of "
        f"each coder on an item, {Option('repeats', 'first')}."
    )
    remedy = f"No column that is left makes the rows unique. If rows are items, number them. {keep}"
    options: tuple[tuple[str, Any], ...] = ()
    if found is not None:
        key = Key((*parts_of(item), *found.columns))
        options = (("item", str(key)),)
        left = "" if not found.repeats else f"{percent(found.repeats, 1)} would still repeat"
        makes = f"which comes nearest to unique rows; {left}" if left else f"which {UNIQUE}"
        name = f"Name the item by several columns: {Option('item', str(key))}, {makes}."
        # who named several columns already may well mean what repeats
        remedy = f"{keep} {name}" if isinstance(item, Key) else f"{name} {keep}"
    where = f"{source}, column {item!r}" if item else source
    return Problem(what, where, remedy, options=options, code="repeats")


def looks_meant(counts: Codes, pairs: int, same: int) -> bool:
    """Return True if coders agree with themselves, as when items were shown again to test them."""
    chance = float(((counts / counts.sum()) ** 2).sum())
    return chance == 1 or bool(same / pairs - chance >= RETEST * (1 - chance))


def proposal(
    cells: Mapping[str, Sequence[object]],
    names: Mapping[str, str],
    labels: Set[str] = frozenset(),
    coders: Set[str] = frozenset(),
) -> Proposal | None:
    """Look among the other columns for those that make rows unique, together with the item."""
    size = min(max(map(len, cells.values()), default=0), LOOKED_AT)
    if "item" not in names or not size:
        return None
    base = [cells[part] for part in parts_of(names["item"]) if part in cells]
    base += [cells[names["coder"]]] if "coder" in names else []
    used = {*parts_of(names["item"]), *names.values()} - {names.get("group"), names.get("text")}
    used |= set() if "coder" in names else coders
    labeled = np.array([n for n in range(size) if _has_label(cells, names, n)], dtype=int)
    if not len(labeled) or not base:
        return None
    parts = [_codes(column[:size])[labeled] for column in base]
    start, item, coder = _together(parts), _together(parts[:-1] or parts), parts[-1]
    steady: dict[str, Codes] = {}
    tried: dict[str, Codes] = {}
    texts: dict[str, Codes] = {}
    for name, column in cells.items():
        if name in used or not name.strip() or isinstance(name, Key):
            continue
        plain = name.strip().casefold()
        if plain in ALIASES["label"] or SAID.fullmatch(plain):
            continue
        codes = _codes(column[:size])[labeled]
        distinct = len(np.unique(codes))
        if distinct < 2 or ("coder" in names and distinct > 0.9 * len(codes)):
            continue  # like a number of the row: no item would be labeled twice
        few = list(map(str, column[:200]))
        is_name = sum(map(len, few)) <= _SHORT * len(few) and not set(few) <= labels
        (tried if is_name else texts)[name] = codes
        if is_name and ("coder" not in names or _is_steady(item, coder, codes)):
            steady[name] = codes
    before = 1 - len(np.unique(start)) / len(start)
    best = None
    for columns in (steady, tried, {**tried, **texts}):
        best = _best(start, dict(itertools.islice(columns.items(), _COLUMNS)))
        if best is not None and best.repeats < max(MANY, before / 3):
            break
    if best is None or best.repeats >= 0.5 * before:
        return None
    if size < len(base[0]):  # what is said of a key is true of all rows
        every = [_codes(column) for column in (*base, *(cells[name] for name in best.columns))]
        with_label = [n for n in range(len(base[0])) if _has_label(cells, names, n)]
        pairs = len(np.unique(_together([codes[with_label] for codes in every])))
        best = Proposal(best.columns, 1 - pairs / len(with_label))
    return best


def _is_steady(item: Codes, coder: Codes, column: Codes) -> bool:
    """Return True if a column splits items into parts that the same coders labeled."""
    part = _together([item, column])
    pairs, of_part = len(np.unique(_together([item, coder]))), len(np.unique(part))
    coders_of_part = len(np.unique(_together([part, coder]))) / of_part
    return bool(coders_of_part >= 0.95 * pairs / len(np.unique(item)))


def _best(start: Codes, tried: Mapping[str, Codes]) -> Proposal | None:
    """Fewest columns that leave fewest repeats; one column is added at a time beyond three."""
    n = len(start)
    best: tuple[float, int, tuple[str, ...]] | None = None
    chosen: tuple[str, ...] = ()
    for size in range(1, min(len(tried), 6) + 1):
        pool = (
            itertools.combinations(tried, size)
            if size <= 2
            else (
                tuple(name for name in tried if name in (*chosen, more))
                for more in tried
                if more not in chosen
            )
        )
        found = min(
            (((n - k) / n, k, names) for names in pool
             for k in [len(np.unique(_together([start, *(tried[name] for name in names)])))]),
            default=None,
        )  # fmt: skip
        if found is None or (best is not None and found[0] >= best[0]):
            break
        if best is not None and best[0] < _NEARLY and found[0] > 0:
            break  # one more column is worth it only if no row repeats any longer
        best, chosen = found, found[2]
    return None if best is None else Proposal(best[2], best[0])


def _has_label(cells: Mapping[str, Sequence[object]], names: Mapping[str, str], row: int) -> bool:
    return "label" not in names or cells[names["label"]][row] != ""


def _codes(cells: Sequence[object]) -> Codes:
    places: dict[str, int] = {}
    return np.array([places.setdefault(str(cell), len(places)) for cell in cells], dtype=np.int64)


def _together(codes: Sequence[Codes]) -> Codes:
    """One code for each combination."""
    out = codes[0]
    for more in codes[1:]:
        out = np.unique(out * (int(more.max(initial=0)) + 1) + more, return_inverse=True)[1]
    return out


# -- label sets ------------------------------------------------------------------------------


def _plain_classes(data: Annotations) -> bool:
    """Return True if labels are classes of a set nobody declared, and not texts."""
    if data.declared or data.scale in ("interval", "ratio"):
        return False
    if any(isinstance(label, frozenset) for label in data.labels):
        return False
    return all(len(label_text(label)) <= LONGEST_LABEL for label in data.labels)


def _coders_apart(data: Annotations) -> list[Problem]:
    """Find groups of coders who share items, but no label."""
    if not _plain_classes(data):
        return []
    part = components(data.label, data.coder)[data.coder]
    groups = []
    for name in np.unique(part):
        rows = part == name
        labels = np.unique(data.label[rows])
        if len(labels) >= 2 and rows.sum() >= max(4, 2 * len(labels)):
            groups.append((name, labels))
    if len(groups) < 2:
        return []
    pairs = np.unique(
        np.stack([data.item, part], axis=1)[np.isin(part, [g for g, _ in groups])], axis=0
    )
    shared = int((np.bincount(pairs[:, 0]) > 1).sum())
    if shared < 2:
        return []
    said = []
    for name, labels in groups[:3]:
        coders = [data.coders[j] for j in np.unique(data.coder[part == name])]
        said.append(f"{some(coders)} gave {some([data.labels[k] for k in labels])}")
    what = (
        f"Coders use label sets that have nothing in common: {'; '.join(said)}. On "
        f"{counted(shared, 'item')} labeled by both they can never agree."
    )
    first, other = ([label_text(data.labels[k]) for k in labels] for _, labels in groups[:2])
    remedy = (
        f"If they mean the same, recode them with {Option('map')} (such as {other[0]} to "
        f"{first[0]}). If all are labels of one set, declare it with {Option('labels', [...])}."
    )
    return [Problem(what, data.source, remedy, code="coders-differ")]


def _items_apart(data: Annotations) -> list[Problem]:
    """Items with closed label sets of their own, as the questions of a survey have them."""
    if not _plain_classes(data) or 4 * data.n_labels > len(data) or data.n_items < 3:
        return []
    per_item = np.bincount(data.item, minlength=data.n_items)
    if per_item.max() < 5:  # as in most large crowds: nothing is sorted for it
        return []
    pairs, uses = np.unique(
        data.item.astype(np.int64) * data.n_labels + data.label, return_counts=True
    )
    item, label = pairs // data.n_labels, pairs % data.n_labels
    own = (np.bincount(label, minlength=data.n_labels) == 1)[label] & (uses >= 2)
    kinds = np.bincount(item, minlength=data.n_items)
    of_own = np.bincount(item[own], uses[own], data.n_items)
    own_kinds = np.bincount(item[own], minlength=data.n_items)
    apart = (
        (per_item >= 5) & (own_kinds >= 2) & (of_own >= 0.5 * per_item) & (2 * kinds <= per_item)
    )
    if apart.sum() < 2 or per_item[apart].sum() < MANY * len(data):
        return []
    names = [data.items[n] for n in np.flatnonzero(apart)]
    which = [
        f"{label_text(data.items[n])}: " + some([data.labels[k] for k in label[(item == n) & own]])
        for n in np.flatnonzero(apart)[:2]
    ]
    what = (
        f"Label sets differ by item: {counted(len(names), 'item')} ({some(names)}) have labels "
        f"that no other item has ({'; '.join(which)})."
    )
    remedy = (
        "If these are different questions, as in a survey, they are not items of one: analyze "
        f"each by itself ({Option('question')}, or the column that holds it). If all are labels of "
        f"one set, declare it with {Option('labels', [...])}."
    )
    return [Problem(what, data.source, remedy, code="items-differ")]
