"""A table of texts with a header, row numbers and the problems found on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from annomodels.data.validation import at_rows, counted, some
from annomodels.errors import Problem
from annomodels.io.tables.delimited import DELIMITERS


@dataclass
class Table:
    """Columns by name; `rows` are the row numbers in the file."""

    columns: dict[str, Sequence[Any]]
    rows: Sequence[int]
    source: str
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, keep: Sequence[int]) -> Table:
        """Copy with some rows."""
        columns: dict[str, Sequence[Any]] = {
            name: [cells[n] for n in keep] for name, cells in self.columns.items()
        }
        rows = [self.rows[n] for n in keep]
        return Table(columns, rows, self.source, self.problems, self.notes)


def from_records(
    records: Sequence[list[str]], lines: Sequence[int], source: str, delimiter: str
) -> Table:
    """Table of rows of cells, the first row that is not blank being the header."""
    filled = [n for n, record in enumerate(records) if any(record)]
    if not filled:
        what, remedy = "The file contains only blank lines.", "Export the labels again."
        return Table({}, [], source, [Problem(what, source, remedy)])
    header, body = list(records[filled[0]]), filled[1:]
    if len(header) == 1 and all(len(records[n]) == 1 for n in body):
        return Table({}, [], source, [_one_column(header[0], source)])
    while len(header) > 1 and not header[-1]:
        header.pop()
    table = Table({}, [], source)
    if not body:
        what = "There is a header but no row below it."
        table.problems.append(Problem(what, source, "Export the labels again."))
    width = len(header)
    ragged = [n for n in body if len(records[n]) != width]
    if ragged:
        trimmed = {n: _trimmed(records[n], width) for n in ragged}
        records = [trimmed.get(n, record) for n, record in enumerate(records)]
        ragged = [n for n in ragged if len(trimmed[n]) != width]
    if ragged:
        table.problems.append(_ragged(records, ragged, lines, width, source, delimiter))
        wrong = set(ragged)
        body = [n for n in body if n not in wrong]
    kept = [records[n] for n in body]
    table.rows = [lines[n] for n in body]
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    if twice:
        what = f"{counted(len(twice), 'column name')} used more than once: {some(twice)}."
        where, remedy = f"{source}, row {lines[filled[0]]}", "Give every column its own name."
        table.problems.append(Problem(what, where, remedy))
    for place, name in enumerate(header):
        column = [record[place] for record in kept]
        if name or not place:
            table.columns[name] = column
        elif any(column):
            what = f"Column {place + 1} has cells but no name."
            remedy = "Name the column in the first row."
            table.problems.append(Problem(what, source, remedy))
    return table


def _trimmed(record: list[str], width: int) -> list[str]:
    """Row without empty cells beyond the header, which spreadsheets leave behind."""
    return record[:width] if not any(record[width:]) else record


def _one_column(name: str, source: str) -> Problem:
    what = f"There is only one column, {name[:60]!r}."
    remedy = "Separate item, coder and label by commas, semicolons, tabs or bars (|)."
    if len(name.split()) > 1:
        remedy += " This header looks separated by spaces: save it with commas or tabs."
    return Problem(what, source, remedy)


def _ragged(
    records: Sequence[list[str]],
    ragged: Sequence[int],
    lines: Sequence[int],
    width: int,
    source: str,
    delimiter: str,
) -> Problem:
    widths = sorted({len(records[n]) for n in ragged})
    one = counted(len(ragged), "row")
    what = f"{one} of {' or '.join(map(str, widths[:4]))} cells where the header has {width}."
    other = [
        word
        for mark, word in DELIMITERS.items()
        if mark != delimiter and all(mark in cell for n in ragged for cell in records[n][:1])
    ]
    remedy = "Quote cells that contain the delimiter, or fill in the missing cells."
    if other and max(widths) == 1:
        remedy = f"These rows seem separated by a {other[0]}, the header by a "
        remedy += f"{DELIMITERS.get(delimiter, repr(delimiter))}: use one delimiter."
    return Problem(what, at_rows(source, [lines[n] for n in ragged]), remedy)
