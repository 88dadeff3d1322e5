"""Known truth among the columns of a table, and what is made of the labels of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from annomodels.data.validation import all_numbers
from annomodels.errors import Option, Problem
from annomodels.io.tables.keys import Key
from annomodels.io.tables.table import Table

_FEWEST_ITEMS, _DIFFER = 10, 0.05  # items compared, and the share of them where coders differ


def truth_as_label(table: Table, names: Mapping[str, str], taken: Sequence[str]) -> list[Problem]:
    """Refuse labels that are the known truth: they never differ, and another column does."""
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
        if alike and len(known) > 1 and _differ(cells, several) > _DIFFER * len(several):
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


def _differ(cells: Sequence[object], several: Sequence[Sequence[int]]) -> int:
    return sum(len({str(cells[n]) for n in places}) > 1 for places in several)


def concluded(
    cells: Sequence[object],
    columns: Sequence[Sequence[object]],
    is_skip: Callable[[object], bool],
) -> tuple[int, int, int] | None:
    """Count rows of a column that equals others wherever they agree; None if it does not.

    The counts are rows in which the others agree, in which they do not, and in which it equals
    the one of them that it equals most often.
    """
    if len(cells) > _FIRST:
        few = (column[:_FIRST] for column in columns)
        if _compared(cells[:_FIRST], [*few], is_skip) == _CONTRADICTED:
            return None
    found = _compared(cells, columns, is_skip)
    return found if found[0] > 0 else None


_FIRST = 1_000  # rows that are looked at before all are
_CONTRADICTED = (-1, 0, 0)


def _compared(
    cells: Sequence[object],
    columns: Sequence[Sequence[object]],
    is_skip: Callable[[object], bool],
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


_ROUNDED, _FEWEST_ROWS = 0.0051, 5  # how far a mean of two decimals may be off; rows compared


def is_mean(cells: Sequence[object], columns: Sequence[Sequence[object]]) -> bool:
    broken = any("." in str(cell) for cell in cells[:_FEWEST_ITEMS])
    if len(cells) < _FEWEST_ROWS or not broken:
        return False
    for cell, *others in zip(cells, *columns, strict=True):
        given = [other for other in others if other != ""]
        if not given or not all_numbers([cell, *given]):
            return False
        mean = sum(float(str(other)) for other in given) / len(given)
        if abs(float(str(cell)) - mean) > _ROUNDED:
            return False
    return len({*map(str, cells)}) > 1
