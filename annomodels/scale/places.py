"""Where rows stand: files, row groups and rows, kept for the first few of each kind of problem."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annomodels.data.validation import SHOWN, at_rows, counted
from annomodels.errors import Problem
from annomodels.scale.chunks import Chunk

__all__ = ["Places", "place_of"]

# stretches of rows that get a problem of their own
LISTED = 20
REMEDIES = {
    "item": "Name the item of every label, or drop the rows.",
    "coder": "Name the coder of every label, or drop the rows.",
    "label": "Declare all labels with labels=[...] (--labels), or fix the rows.",
}


def place_of(file: str, row_group: int) -> str:
    """File and row group in words.

    Examples
    --------
    >>> place_of("a.parquet", 2), place_of("a.csv", 0)
    ('a.parquet, row group 2', 'a.csv')
    """
    return f"{file}, row group {row_group}" if row_group else file


@dataclass
class Places:
    """Rows in question by what is wrong, the column and the stretch of the file."""

    found: dict[tuple[str, str, str], tuple[int, list[int]]] = field(default_factory=dict)
    more: dict[tuple[str, str], int] = field(default_factory=dict)
    _firsts: list[int] = field(default_factory=list)
    _chunks: list[tuple[str, int, int]] = field(default_factory=list)
    _seen: int = 0

    def report(self, what: str, role: str, chunk: Chunk, at: NDArray[np.int64]) -> None:
        """Note rows of a chunk that have something wrong."""
        key = (what, role, place_of(chunk.file, chunk.row_group))
        if key not in self.found and len(self.found) >= LISTED:
            self.more[what, role] = self.more.get((what, role), 0) + len(at)
            return
        n, rows = self.found.get(key, (0, []))
        rows = [*rows, *chunk.rows(at[: max(0, SHOWN - len(rows))])]
        self.found[key] = (n + len(at), rows)

    def problems(self, columns: dict[str, str]) -> list[Problem]:
        """Give all that was noted, in the order of the files."""
        out = []
        for (what, role, place), (n, rows) in self.found.items():
            where = at_rows(place, rows) + (f" and {n - len(rows):,} more" if n > len(rows) else "")
            where += f", column {columns[role]!r}"
            out.append(Problem(f"{counted(n, 'row')} {what}.", where, REMEDIES[role]))
        for (what, role), n in self.more.items():
            where = f"further row groups and files, column {columns[role]!r}"
            out.append(Problem(f"{counted(n, 'further row')} {what}.", where, REMEDIES[role]))
        return out

    def number(self, chunk: Chunk, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give rows numbers that :meth:`where` understands."""
        self._firsts.append(self._seen)
        self._chunks.append((chunk.file, chunk.row_group, chunk.first))
        numbers = self._seen + kept
        self._seen += len(chunk)
        return numbers

    def where(self, number: int) -> str:
        """Say where a numbered row stands."""
        n = bisect.bisect_right(self._firsts, number) - 1
        file, row_group, first = self._chunks[n]
        return f"{place_of(file, row_group)}, row {first + number - self._firsts[n]}"
