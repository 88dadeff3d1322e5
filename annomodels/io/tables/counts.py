"""Tables that count the labels of each class, and do not say who gave which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from annomodels.data.validation import some
from annomodels.errors import Option, Problem
from annomodels.io.tables.table import Table

_ROWS = 2_000  # rows that are looked at
_FEWEST = 5  # rows that tell


@dataclass(frozen=True)
class Counts:
    """Columns whose whole numbers add up in every row."""

    classes: tuple[str, ...]
    total: str
    is_sure: bool


def counts_in(table: Table, coders: Sequence[str] = ()) -> Counts | None:
    """Columns side by side that add up to another column, or columns of coders to one number."""
    if coders and looks_like_counts([table.columns[name] for name in coders]):
        return Counts(tuple(coders), "", False)
    numbers = {name: found for name, cells in table.columns.items() if (found := _whole(cells))}
    header = [name for name in table.header if name in numbers]
    for total in header:
        rest = [name for name in header if name != total]
        for run in _runs(table.header, rest):
            if _adds_up(numbers, run, numbers[total]):
                return Counts(run, total, True)
    for run in _runs(table.header, header):
        first = sum(numbers[name][0] for name in run)
        if len(run) > 2 and _adds_up(numbers, run, [first] * len(numbers[run[0]])):
            return Counts(run, "", False)
    return None


def counts_problem(found: Counts, source: str, *, form: str) -> Problem:
    """Say that counts do not say who gave which label."""
    if found.is_sure:
        what = (
            f"The columns {some(found.classes)} add up to {found.total!r} in every row: they count "
            "the labels of each class, and do not say which coder gave which."
        )
        remedy = "Give the individual labels, a row each: item, coder, label."
        return Problem(what, source, remedy)
    what = "Every row holds whole numbers with the same sum: are these counts of labels, or labels?"
    remedy = (
        f"If they are labels of coders, say {Option('format', form)}. If they are counts, give the "
        "individual labels as item, coder, label: counts do not say who gave which."
    )
    return Problem(what, source, remedy)


def looks_like_counts(columns: Sequence[Sequence[Any]]) -> bool:
    """Whether cells could be numbers of coders: whole numbers with the same sum in every row."""
    if len(columns) < 2 or len(columns[0]) < 3:
        return False
    if not all(isinstance(c, str) and c.isascii() and c.isdigit() for col in columns for c in col):
        return False
    if any(len(cell) > 9 for column in columns for cell in column):
        return False
    rows = list(zip(*([int(cell) for cell in column] for column in columns), strict=True))
    sums = {sum(row) for row in rows}
    return len(sums) == 1 and len(set(rows)) > 1


def _runs(header: Sequence[str], names: Sequence[str]) -> list[tuple[str, ...]]:
    """All columns, and those that follow each other without one between them."""
    runs: list[list[str]] = []
    place = {name: n for n, name in enumerate(header)}
    for before, name in pairwise([None, *names]):
        if before is None or place[name] != place[before] + 1:  # type: ignore[index]
            runs.append([])
        runs[-1].append(name)  # type: ignore[arg-type]
    parts = [tuple(run[a:b]) for run in runs for a in range(len(run))
             for b in range(len(run), a + 1, -1)]  # fmt: skip
    return sorted(set(parts), key=lambda part: -len(part)) if len(names) <= 30 else []


def _adds_up(
    numbers: Mapping[str, Sequence[int]], run: Sequence[str], total: Sequence[int]
) -> bool:
    rows = list(zip(*(numbers[name] for name in run), strict=True))
    return (
        len(rows) >= _FEWEST
        and len(set(rows)) > 1
        and all(sum(row) == whole for row, whole in zip(rows, total, strict=True))
        and (any(max(row) > 1 for row in rows))
        and all(any(numbers[name]) for name in run)
    )


def _whole(cells: Sequence[Any]) -> list[int] | None:
    """Whole numbers of a column, if all its cells hold one."""
    few = cells[:_ROWS]
    if not few or not all(isinstance(c, str) and c.isascii() and c.isdigit() for c in few):
        return None
    return None if any(len(cell) > 9 for cell in few) else [int(cell) for cell in few]
