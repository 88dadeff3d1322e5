"""Find the question columns of an export, and choose one of several without guessing."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.validation import LONGEST_LABEL, MANY_LABELS, all_numbers, counted, some
from annomodels.errors import Option, Problem, meant
from annomodels.io.tables.columns import known_column, named_column
from annomodels.io.tables.keys import Key
from annomodels.io.words import Codes, NamedColumn, is_called, joint, kinds_of

if TYPE_CHECKING:
    from annomodels.io.tables.table import Table

_WHEN = re.compile(r"\d{4}[-/.]\d\d?[-/.]\d\d?([T ].*)?|\d\d?[./-]\d\d?[./-]\d{2,4}([ ,].*)?")
_LINK = re.compile(r"https?://\S+")
_MARKUP = re.compile(r"<(/?[A-Za-z][\w.-]*:[\w.-]+|/?[A-Za-z][\w.-]*)(\s[^<>]*)?/?>")
_MOST = 0.5  # proportion of cells that counts as "most"
_LOOKED_AT = 200
_PROSE = 3  # minimum mean number of words for answers to be prose
FEWEST = 5  # minimum number of coders with several labels for a column about coders
SHARED = 20  # minimum number of unanimous items with two coders for a column about items


@dataclass(frozen=True)
class Unsuitable:
    why: str
    sure: bool = True


def unsuitable(
    name: str,
    items: Sequence[Any],
    coders: Sequence[Any],
    labels: Sequence[Any],
    *,
    fewest: int = FEWEST,
) -> Unsuitable | None:
    if (why := of_cells(name, labels)) is not None:
        return why
    for size in (_LOOKED_AT, len(labels)):  # most columns already vary in the first rows
        item, coder, label = (
            NamedColumn("", cells[:size]).codes for cells in (items, coders, labels)
        )
        if _varies(coder, label) and _varies(item, label):
            return None
    if about_coders(coder, label, 0 if is_called(name, "of_people") else fewest):
        return Unsuitable("it is the same in all rows of each coder, so it is about coders")
    if about_items(item, coder, label):
        return Unsuitable("it is the same for all coders of each item, so it is about items", False)
    return None


def of_cells(name: str, labels: Sequence[Any]) -> Unsuitable | None:
    """Return why cells cannot be labels of any coder, or None."""
    if not len(labels):
        return Unsuitable("nobody answered it")
    if why := _kind(labels):
        return Unsuitable(why)
    try:
        distinct = set(labels)
    except TypeError:
        distinct = {label if isinstance(label, Hashable) else repr(label) for label in labels}
    if len(distinct) == len(labels) >= SHARED and _counts_up(distinct):
        return Unsuitable("it is a different whole number in each row, so it numbers the rows")
    if is_called(name, "no_labels") and len(distinct) > 1:
        return Unsuitable("its name says that it describes the item, the coder or the session")
    if len(distinct) == 1:
        every = f"all {len(labels):,} answers are" if len(labels) > 1 else "its only answer is"
        return Unsuitable(f"{every} {some(_plain(labels[:1]))}", False)
    words = sum(len(str(label).split()) for label in _plain(distinct))
    is_prose = len(distinct) > 0.8 * len(labels) and words >= _PROSE * len(distinct)
    many = len(distinct) > max(MANY_LABELS, _MOST * len(labels)) or is_prose
    if many and not all_numbers(_plain(distinct)):
        number = f"{len(distinct):,} different answers among {len(labels):,}"
        return Unsuitable(f"free text, {number}")
    return None


def _counts_up(numbers: Collection[object]) -> bool:
    if not all(str(number).isdecimal() for number in numbers):
        return False
    found = [int(str(number)) for number in numbers]
    return max(found) - min(found) + 1 == len(found)


def _plain(labels: Iterable[object]) -> list[object]:
    return [x[0] if isinstance(x, (list, tuple)) and len(x) == 1 else x for x in labels]


def _kind(labels: Sequence[object]) -> str:
    step = max(1, len(labels) // _LOOKED_AT)
    few = _plain(islice(labels, 0, None, step))
    texts = [cell for cell in few if isinstance(cell, str)]

    def most(number: int) -> bool:
        return number > _MOST * len(few)

    if most(sum(map(is_json, few))):
        return "JSON, not labels"
    if most(sum(has_markup(cell) for cell in texts)):
        return "text with markup, which is not read"
    if most(sum(len(cell) > LONGEST_LABEL for cell in texts)):
        return f"free text, mostly longer than {LONGEST_LABEL} characters"
    if are_times(few):
        return "times"
    if most(sum(_LINK.fullmatch(cell) is not None for cell in texts)):
        return "links"
    return ""


def are_times(cells: Sequence[object]) -> bool:
    few = cells[:: max(1, len(cells) // _LOOKED_AT)]
    times = sum(isinstance(cell, str) and _WHEN.fullmatch(cell) is not None for cell in few)
    return times > _MOST * len(few)


def is_json(cell: object) -> bool:
    """Return True if a cell is an object or a list of objects, possibly as JSON text."""
    if isinstance(cell, (list, tuple)):
        return any(isinstance(part, dict) for part in cell) or (
            len(cell) == 1 and isinstance(cell[0], str) and is_json(cell[0])
        )
    if isinstance(cell, str):
        text = cell.strip()
        return text[:1] + text[-1:] in ("{}", "[]") and (text[:1] == "{" or "{" in text)
    return isinstance(cell, dict)


def has_markup(cell: str) -> bool:
    return "<" in cell and _MARKUP.search(cell) is not None


def tag_in(cell: object) -> str:
    """Return the first tag of a text without its attributes, or "" if it has none."""
    found = _MARKUP.search(cell) if isinstance(cell, str) else None
    return "" if found is None else f"<{found[1]}{' …' if found[2] else ''}>"


def _varies(group: Codes, label: Codes) -> bool:
    """Return True if any group has several values."""
    return len(kinds_of(joint(group, label))) > len(kinds_of(group))


def about_coders(coder: Codes, label: Codes, fewest: int = FEWEST) -> bool:
    """Return True if no coder varies, and at least `fewest` coders have several rows."""
    if _varies(coder, label):
        return False
    return int((np.unique(coder, return_counts=True)[1] > 1).sum()) >= fewest


def about_items(item: Codes, coder: Codes, label: Codes) -> bool:
    """Return True if no item varies, and at least `SHARED` items have several coders."""
    if _varies(item, label):
        return False
    pairs = np.unique(joint(item, coder), return_index=True)[1]
    return int((np.unique(item[pairs], return_counts=True)[1] > 1).sum()) >= SHARED


def no_coders() -> str:
    return (
        "A survey of opinions has no coders whose agreement could be measured. If its columns are "
        "items, give a table with item (the column), coder (the respondent), label; if its rows "
        f"are, name the column of the items with {Option('item', ...)} and those of the coders "
        f"with {Option('coder_columns', [...])}."
    )


def listed(left_out: Mapping[str, str | Unsuitable]) -> str:
    return ", ".join(
        f"{name!r} ({why.why if isinstance(why, Unsuitable) else why})"
        for name, why in left_out.items()
    )


def question_column(
    header: Sequence[str],
    taken: Collection[object],
    asked: object,
    source: str,
    said: str | None = None,
) -> tuple[str | None, list[Problem]]:
    name = said or known_column(header, ["question"])
    if said is not None and said not in header:
        return None, named_column(header, said, "question_column", source)
    name = None if name in taken else name
    if name is not None or asked is None:
        return name, []
    what = f"The table has no column 'question' that could contain {asked!r}."
    remedy = f"Leave out {Option('question')}, or name it: {Option('question_column')}."
    return None, [Problem(what, source, remedy, code="no-question-column")]


def choose_question(
    counts: Mapping[Any, int], asked: object, where: str, rows: str = "row"
) -> tuple[Any, list[Problem]]:
    """Return the requested question or the only one, else None and the problem."""
    names = sorted(counts, key=str)
    if asked is None:
        if len(names) < 2:
            return (names[0] if names else None), []
        which = some(names, lambda q: f"{q!r} ({counted(counts[q], rows)})")
        what = f"The table holds {counted(len(names), 'question')}: {which}."
        remedy = (
            f"Choose one with {Option('question', names[0])}; annomodels run and "
            "agree analyze each separately with --question '*'."
        )
        if parts := _filled_from_left(counts):
            what += f" {parts[0]!r} to {parts[-1]!r} are filled from the left: are they one answer?"
            remedy += (
                " Several labels of one answer go into a list, as in JSON lines with "
                f'"label": ["a", "b"], which {Option("sets", True)} reads.'
            )
        most = sorted(names, key=lambda name: -counts[name])  # the most likely choice first
        return None, [Problem(what, where, remedy, tuple(map(str, most)), code="several-questions")]
    if asked in counts:
        return asked, []
    known = f"The questions are {some(names)}." if names else "Leave out the question."
    remedy = meant(asked, names) + known
    return None, [Problem(f"Unknown question {asked!r}.", where, remedy, code="unknown-question")]


_NUMBERED = re.compile(r"(.*\D)(\d+)")
_FEWEST_PARTS = 3  # minimum number of columns that together hold one answer


def _filled_from_left(counts: Mapping[str, int]) -> list[str]:
    """Return questions numbered from 1 whose label counts never increase."""
    by_stem: dict[str, dict[int, str]] = {}
    for name in counts:
        if found := _NUMBERED.fullmatch(str(name)):
            by_stem.setdefault(found[1], {})[int(found[2])] = name
    for numbers in by_stem.values():
        row = [numbers[n] for n in sorted(numbers)]
        sizes = [counts[name] for name in row]
        in_order = [*sorted(numbers)] == [*range(1, len(row) + 1)]
        falling = sizes == sorted(sizes, reverse=True) and 2 * sizes[-1] < sizes[0]
        if len(row) >= _FEWEST_PARTS and in_order and falling:
            return row
    return []


# -- columns of true labels, and columns derived from other columns --------------------------------


_FEWEST_ITEMS, _DIFFER = 10, 0.05  # minimum number of items; minimum proportion that differ


def truth_as_label(table: Table, names: Mapping[str, str], taken: Sequence[str]) -> list[Problem]:
    """Refuse labels that never vary within an item if a column with the same labels does."""
    item, label = names["item"], names["label"]
    if isinstance(item, Key):
        return []
    first: dict[str, str] = {}
    pairs = zip(map(str, table.columns[item]), map(str, table.columns[label]), strict=True)
    if any(first.setdefault(name, cell) != cell for name, cell in pairs):
        return []
    rows: dict[str, list[int]] = {}
    for n, name in enumerate(map(str, table.columns[item])):
        rows.setdefault(name, []).append(n)
    several = [places for places in rows.values() if len(places) > 1]
    if len(several) < _FEWEST_ITEMS:
        return []
    known = set(map(str, table.columns[label]))
    for name in table.header:
        cells = table.columns[name]
        if name in (*names.values(), *taken) or not known & set(map(str, cells)):
            continue
        alike = len(known | set(map(str, cells)) - {""}) <= len(known) + 1
        if not alike or len(known) < 2:
            continue
        differ = sum(len({str(cells[n]) for n in places}) > 1 for places in several)
        if differ > _DIFFER * len(several):
            what = (
                f"Column {label!r} never differs within an item, so it seems to be the known "
                f"truth; {name!r} has the same labels and differs."
            )
            remedy = f"Read it so: {Option('label', name)} and {Option('truth', label)}."
            otherwise = f" If {label!r} has the labels of the coders: {Option('label', label)}."
            where = f"{table.source}, columns {label!r} and {name!r}"
            said = (("label", name), ("truth", label))
            return [Problem(what, where, remedy + otherwise, options=said, code="truth-as-label")]
    return []


def concluded(
    cells: Sequence[object], columns: Sequence[Sequence[object]], is_skip: Callable[[object], bool]
) -> tuple[int, int, int] | None:
    """Count rows of a column that equals the others whenever they agree; None if it does not.

    The counts are rows in which the others agree, rows in which they disagree, and rows in which
    the column equals the other column that is most similar to it.
    """
    if len(cells) > _FIRST:
        few = (column[:_FIRST] for column in columns)
        if _compared(cells[:_FIRST], [*few], is_skip) == _CONTRADICTED:
            return None
    found = _compared(cells, columns, is_skip)
    return found if found[0] > 0 else None


_FIRST = 1_000  # rows that are checked before all others
_CONTRADICTED = (-1, 0, 0)


def _compared(
    cells: Sequence[object], columns: Sequence[Sequence[object]], is_skip: Callable[[object], bool]
) -> tuple[int, int, int]:
    texts = [
        list(map(repr, column)) if {list, dict} & {*map(type, column)} else column
        for column in (cells, *columns)
    ]
    places = {cell: n for n, cell in enumerate(set().union(*texts))}
    codes = np.array([[*map(places.__getitem__, column)] for column in texts])
    skipped = np.array([is_skip(cell) for cell in places], bool)[codes]
    compared = ~skipped[0] & ((~skipped[1:]).sum(0) > 1)
    own, others, skipped = codes[0, compared], codes[1:, compared], skipped[1:, compared]
    top = np.where(skipped, -1, others).max(0, initial=-1)
    same = np.where(skipped, len(places), others).min(0, initial=len(places)) == top
    agreed = int(same.sum())
    if (top != own)[same].any():
        return _CONTRADICTED
    return agreed, len(same) - agreed, int((others == own).sum(1).max(initial=0))


_ROUNDED, _FEWEST_ROWS = 0.0051, 5  # maximum rounding error of a mean; minimum number of rows


def is_mean(cells: Sequence[object], columns: Sequence[Sequence[object]]) -> bool:
    broken = any("." in str(cell) for cell in cells[:_FEWEST_ITEMS])
    if sum(cell != "" for cell in cells) < _FEWEST_ROWS or not broken:
        return False
    for cell, *others in zip(cells, *columns, strict=True):
        given = [other for other in others if other != ""]
        if cell == "":
            continue
        if not given or not all_numbers([cell, *given]):
            return False
        mean = sum(float(str(other)) for other in given) / len(given)
        if abs(float(str(cell)) - mean) > _ROUNDED:
            return False
    return len({*map(str, cells)}) > 1
