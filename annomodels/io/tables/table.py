"""A table of texts with a header, row numbers and the problems found on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annomodels.data.validation import all_numbers, at_rows, check_hashable, counted, some
from annomodels.errors import Option, Problem
from annomodels.io.tables.delimited import DELIMITERS
from annomodels.io.tables.keys import Key, key_cells

FEW = 100  # one broken row among so many is left out; more are a reason to stop


@dataclass
class Table:
    """Columns by name; `rows` are the row numbers in the file."""

    columns: dict[str, Sequence[Any]]
    rows: Sequence[int]
    source: str
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    absent: Mapping[str, int] = field(default_factory=dict)

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

    def add_key(self, key: Key, named: Mapping[str, str]) -> None:
        """Add a column with the names that several columns give together."""
        columns = [self.columns[named[part]] for part in key.parts]
        for part, cells in zip(key.parts, columns, strict=True):
            self.problems += check_hashable(cells, f"cell of {part!r}", self.source, self.rows)
        if not self.problems:
            self.columns[key] = key_cells(columns)


def from_records(
    records: Sequence[list[str]],
    lines: Sequence[int],
    source: str,
    delimiter: str,
    names: Sequence[str] | None = None,
) -> Table:
    """Table of rows of cells, the first row that is not blank being the header."""
    if names is not None:
        records, lines = [list(names), *records], [0, *lines]
    filled = [n for n, record in enumerate(records) if any(record)]
    if not filled:
        what, remedy = "The file contains only blank lines.", "Export the labels again."
        return Table({}, [], source, [Problem(what, source, remedy)])
    header, body = stripped(records[filled[0]]), filled[1:]
    if len(header) == 1 and all(len(records[n]) == 1 for n in body):
        return Table({}, [], source, [_one_column(header[0], source)])
    while len(header) > 1 and not header[-1]:
        header.pop()
    table = Table({}, [], source)
    if not body:
        what = "There is a header but no row below it."
        table.problems.append(Problem(what, source, "Export the labels again."))
    if names is None and body and all(len(records[n]) == len(header) + 1 for n in body):
        header.insert(0, "")  # as R writes tables: row names have no name of their own
    width = len(header)
    ragged = [n for n in body if len(records[n]) != width]
    if ragged:
        body, records = _mended(table, body, ragged, records, lines, header, delimiter)
    kept = [records[n] for n in body]
    table.rows = [lines[n] for n in body]
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    if twice:
        what = f"{counted(len(twice), 'column name')} used more than once: {some(twice)}."
        where, remedy = f"{source}, row {lines[filled[0]]}", "Give every column its own name."
        if all_numbers(header):
            what = f"The first row holds only numbers: {some(header)}."
            remedy = name_them()
        table.problems.append(Problem(what, where, remedy))
    for place, (name, column) in enumerate(zip(header, _turned(kept, width), strict=True)):
        if name or not place:
            table.columns[name] = column
        elif any(column):
            what = f"Column {place + 1} has cells but no name."
            remedy = "Name the column in the first row."
            table.problems.append(Problem(what, source, remedy))
    return table


def stripped(header: Sequence[str]) -> list[str]:
    """Names of columns without the blanks around them, unless two would be the same."""
    names = [name.strip() for name in header]
    return names if len(set(names)) == len(set(header)) else list(header)


def name_them() -> str:
    """Say how columns are named."""
    return (
        "If the file has no header, name its columns in their order: "
        f"{Option('columns', ['item', 'coder', 'label'])}. Else give every column its own name."
    )


def _turned(rows: Sequence[list[str]], width: int) -> Sequence[Sequence[str]]:
    """Columns of rows of one width."""
    return [[row[place] for row in rows] for place in range(width)]


def _mended(
    table: Table,
    body: list[int],
    ragged: Sequence[int],
    records: Sequence[list[str]],
    lines: Sequence[int],
    header: Sequence[str],
    delimiter: str,
) -> tuple[list[int], list[list[str]]]:
    """Rows with as many cells as the header, and which of them are kept."""
    width, source = len(header), table.source
    out = list(records)
    for n in ragged:
        out[n] = _trimmed(out[n], width)
    short = [n for n in ragged if 1 < len(out[n]) < width]
    broken = [n for n in ragged if len(out[n]) == 1 or len(out[n]) > width]
    if short:
        ends = min(len(out[n]) for n in short)
        last = f"{some(header[ends:])}"
        where = "all rows" if len(short) == len(body) else at_rows("", [lines[n] for n in short])
        table.notes.append(
            f"{counted(len(short), 'row')} of {source} without cells at the end, which are read as "
            f"empty: {last} ({where})."
        )
        for n in short:
            out[n] = [*out[n], *[""] * (width - len(out[n]))]
    if broken and len(broken) * FEW <= len(body):
        table.notes.append(
            f"Left out because their cells do not fit the {width} columns (perhaps a delimiter "
            f"that is not quoted): {at_rows(source, [lines[n] for n in broken])}."
        )
    elif broken:
        table.problems.append(_ragged(out, broken, lines, width, source, delimiter))
    wrong = set(broken)
    return [n for n in body if n not in wrong], out


def _trimmed(record: list[str], width: int) -> list[str]:
    """Row without empty cells beyond the header, which spreadsheets leave behind."""
    return record[:width] if not any(record[width:]) else record


def _one_column(name: str, source: str) -> Problem:
    what = f"There is only one column, {name[:60]!r}."
    remedy = "Separate item, coder and label by commas, semicolons, tabs or bars (|)."
    if len(name.split()) > 1:
        remedy += f" If spaces separate the cells, say {Option('delimiter', ' ')}."
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
