"""Known truth among the columns of a table, and what is made of the labels of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

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
    rows: dict[str, list[int]] = {}
    for n, name in enumerate(map(str, table.columns[item])):
        rows.setdefault(name, []).append(n)
    several = [places for places in rows.values() if len(places) > 1]
    if len(several) < _FEWEST_ITEMS or _differ(table.columns[label], several):
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
    """Count items whose cells differ."""
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
    agreed, apart, equal = 0, 0, Counter[int]()
    for cell, *others in zip(cells, *columns, strict=True):
        given = [n for n, other in enumerate(others) if not is_skip(other)]
        if is_skip(cell) or len(given) < 2:
            continue
        equal.update(n for n in given if others[n] == cell)
        if any(others[n] != others[given[0]] for n in given):
            apart += 1
        elif others[given[0]] != cell:
            return None
        else:
            agreed += 1
    return (agreed, apart, max(equal.values(), default=0)) if agreed else None


_ROUNDED, _FEWEST_ROWS = 0.0051, 5  # how far a mean of two decimals may be off; rows compared


def is_mean(cells: Sequence[object], columns: Sequence[Sequence[object]]) -> bool:
    """Return True if a column of numbers holds the mean of others in every row."""
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
