"""Detect data that were probably misread: repeated labels, or label sets that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, Literal

import numpy as np

from annomodels.data.alike import components
from annomodels.data.annotations import Annotations
from annomodels.data.columns import percent
from annomodels.data.names import label_text
from annomodels.data.validation import LONGEST_LABEL, counted, some
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.roles import MANY, grown, structure
from annomodels.io.tables.columns import Columns
from annomodels.io.tables.keys import Key, parts_of
from annomodels.io.words import ALIASES, Codes, NamedColumn, is_called, joint

type Found = tuple[tuple[str, ...], float]  # columns, and the proportion of rows that still repeat
Repeats = Literal["error", "first", "all"]
REPEATS: tuple[Repeats, ...] = ("error", "first", "all")

UNIQUE = "makes rows unique"
RETEST = 0.4  # minimum intra-coder kappa for repeats that look intended
LOOKED_AT = 20_000  # rows in which candidate columns are tested
_SHORT = 40  # maximum number of characters in a name; longer cells are texts
_COLUMNS = 24  # maximum number of candidate columns


class NotAsItSeems(AnnotationError):
    """Data that can be read, but probably not as intended."""

    @property
    def is_solved(self) -> bool:
        """Return True if a remedy names columns that make rows unique."""
        return any(UNIQUE in problem.remedy for problem in self.problems)


def suspicions(
    data: Annotations, columns: Columns, *, check_repeats: bool = True, by_units: bool = False
) -> list[Problem]:
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
        return []  # no column distinguishes the rows, and coders agree with themselves
    same = (data.item[1:] == data.item[:-1]) & (data.coder[1:] == data.coder[:-1])
    names = [label_text(data.items[n]) for n in np.unique(data.item[1:][same])]
    return [repeated_problem(data.repeats, len(data), data.source, item, names, found)]


def repeated_problem(
    repeats: int, n: int, source: str, item: str, names: Sequence[str], found: Found | None
) -> Problem:
    what = (
        f"{repeats:,} of {n:,} labels repeat ({percent(repeats / n, 0)}): several rows hold a "
        "label of the "
        "same coder for the same item" + (f", such as {some(names[:3])}." if names else ".")
    )
    keep = (
        f"If repeats are meant, use {Option('repeats', 'all')}; to count only the first label of "
        f"each coder on an item, {Option('repeats', 'first')}."
    )
    remedy = (
        "No other column makes the rows unique and leaves items that several coders labeled. "
        f"If rows are items, number them. {keep}"
    )
    options: tuple[tuple[str, Any], ...] = ()
    if found is not None:
        columns, rest = found
        key = Key((*parts_of(item), *columns))
        options = (("item", str(key)),)
        left = f"{percent(rest, 1)} would still repeat" if rest else ""
        makes = f"which comes nearest to unique rows; {left}" if left else f"which {UNIQUE}"
        name = f"Name the item by several columns: {Option('item', str(key))}, {makes}."
        # if several columns already name the item, repeats are probably intended
        remedy = f"{keep} {name}" if isinstance(item, Key) else f"{name} {keep}"
    where = f"{source}, column {item!r}" if item else source
    return Problem(what, where, remedy, options=options, code="repeats")


def looks_meant(counts: Codes, pairs: int, same: int) -> bool:
    """Return True if coders agree with themselves beyond chance, as in a test-retest design."""
    chance = float(((counts / counts.sum()) ** 2).sum())
    return chance == 1 or bool(same / pairs - chance >= RETEST * (1 - chance))


def proposal(
    cells: Mapping[str, Sequence[object]],
    names: Mapping[str, str],
    labels: Set[str] = frozenset(),
    coders: Set[str] = frozenset(),
) -> Found | None:
    """Find columns that make rows unique with the item, and the proportion that still repeats."""
    every = [(name, column) for name, column in cells.items() if not isinstance(name, Key)]
    size = len(every[0][1]) if every else 0
    said = cells[names["label"]] if "label" in names else ["-"] * size
    rows = [n for n in range(min(size, LOOKED_AT)) if said[n] != ""]
    if "item" not in names or not rows:
        return None
    columns = {name: NamedColumn(name, [column[n] for n in rows]) for name, column in every}
    base = [columns[part] for part in parts_of(names["item"]) if part in columns]
    coder = columns[names["coder"]].codes if "coder" in names else np.zeros(len(rows), np.int64)
    if not base:
        return None
    used = {*parts_of(names["item"]), *names.values()} - {names.get("group"), names.get("text")}
    used |= set() if "coder" in names else coders
    free = [
        one
        for name, one in columns.items()
        if name not in used and name.strip() and not is_called(name, "said")
        and name.strip().casefold() not in ALIASES["label"] and one.distinct > 1
        # row numbers would make each label a separate item
        and not ("coder" in names and one.distinct > 0.9 * len(rows))
    ]  # fmt: skip
    plain = [one for one in free if one.length <= _SHORT and not {*one.texts[:200]} <= labels]
    start = joint(*(one.codes for one in base))
    before = structure(start, coder)[1]
    found: Found | None = None
    texts = [one for one in free if one not in plain]
    for tried, crossed in ((plain, True), (plain, False), ([*plain, *texts], False)):
        added, item = grown(start, coder, tried[:_COLUMNS], crossed=crossed)
        left = structure(item, coder)[1]
        if found is None or left < found[1]:
            found = tuple(one.name for one in columns.values() if one in added), left
        if left < max(MANY, before / 3):
            break
    if found is None or not found[0] or found[1] >= 0.5 * before:
        return None
    if size > LOOKED_AT:  # the message about a key must be true for all rows
        rows = [n for n in range(size) if said[n] != ""]
        key = [*(one.name for one in base), *found[0], *([names["coder"]] * ("coder" in names))]
        codes = [NamedColumn(name, [cells[name][n] for n in rows]).codes for name in key]
        found = found[0], 1 - len(np.unique(joint(*codes))) / len(rows)
    return found


# -- label sets ------------------------------------------------------------------------------


def _plain_classes(data: Annotations) -> bool:
    """Return True if labels are undeclared classes rather than numbers, sets or texts."""
    if data.declared or data.scale in ("interval", "ratio"):
        return False
    if any(isinstance(label, frozenset) for label in data.labels):
        return False
    return all(len(label_text(label)) <= LONGEST_LABEL for label in data.labels)


def _coders_apart(data: Annotations) -> list[Problem]:
    """Report groups of coders who share items but no labels."""
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
        f"{counted(shared, 'item')} labeled by both, they can never agree."
    )
    first, other = ([label_text(data.labels[k]) for k in labels] for _, labels in groups[:2])
    remedy = (
        f"If the labels mean the same, recode them with {Option('map')} (such as {other[0]} to "
        f"{first[0]}). If all are labels of one set, declare it with {Option('labels', [...])}."
    )
    return [Problem(what, data.source, remedy, code="coders-differ")]


def _items_apart(data: Annotations) -> list[Problem]:
    """Report items whose labels mostly occur in no other item, such as survey questions."""
    if not _plain_classes(data) or 4 * data.n_labels > len(data) or data.n_items < 3:
        return []
    per_item = np.bincount(data.item, minlength=data.n_items)
    if per_item.max() < 5:  # as in most large crowdsourced data, which then need no sorting
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
        "If these are different questions, as in a survey, they are not items of one question: "
        f"analyze each separately ({Option('question')}, or the column that holds it). If all are "
        f"labels of one set, declare it with {Option('labels', [...])}."
    )
    return [Problem(what, data.source, remedy, code="items-differ")]
