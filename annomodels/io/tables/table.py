"""Parse delimited text into rows, and rows into a table with row numbers and problems."""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, islice, zip_longest
from typing import Any

from annomodels.data.validation import (
    SHOWN,
    all_numbers,
    at_rows,
    check_hashable,
    counted,
    is_hashable,
    some,
)
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.tables.columns import matched
from annomodels.io.tables.grids import JOINED, two_headers
from annomodels.io.tables.keys import Key, key_cells

# -- delimited text: every cell is a string, neither stripped nor converted -----------------------


DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
SPACE = " "  # means any number of spaces and tabs
_RECORDS = 200  # records used to choose the delimiter
_ROWS = 1 << 16  # rows parsed at a time
_PIECE = 1 << 20  # characters split into lines at a time
_LONGEST = 1 << 25  # characters of a line or cell; parsing takes 8 bytes per character
_PADDED = 50  # lines checked for spaces after delimiters
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANKS = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)|(\S+)')
_QUOTED_NAMES = re.compile(r'\s*("[^"\n]*"[ \t]+)+"[^"\n]*"\s*\n')  # header as written by R
_SEP_LINE = re.compile(r'\A"?sep=([,;\t|])"?\r?\n', re.IGNORECASE)

Row = list[str]


class TextRows:
    """Batches of rows of a text, with line numbers; blank lines are empty rows."""

    def __init__(self, text: str, source: str, delimiter: str | None = None, skip: int = 0) -> None:
        for _ in range(skip):
            end = _LINE_END.search(text)
            text = text[end.end() :] if end else ""
        said = None if delimiter == SPACE else _SEP_LINE.match(text)
        if said:  # Excel writes its delimiter into the first line
            text, delimiter = text[said.end() :], delimiter or said.group(1)
        self.source = source
        self.delimiter = delimiter or delimiter_of(text)
        self._text = text
        self._first = skip + bool(said)
        self._size: tuple[int, int] | None = None  # number of rows and lines, once all are read
        self._quotes: dict[str, Any] = {"strict": True}
        if is_padded(text, self.delimiter):
            self._quotes["skipinitialspace"] = True
        if self.delimiter == "\t" and '"' in text and not self._closes():
            self._quotes = {"quoting": csv.QUOTE_NONE}  # some tools do not escape quotes

    @classmethod
    def of(cls, rows: list[Row], skip: int = 0) -> TextRows:
        made = cls("", "", ",", 0)
        made.rows, made.lines = rows, range(skip + 1, skip + 1 + len(rows))
        return made

    def __iter__(self) -> Iterator[list[Row]]:
        if "rows" in self.__dict__:
            yield self.rows
            return
        if self.delimiter == SPACE:
            yield self._by_blanks()
            return
        rows, count = self._reader(), 0
        while True:
            try:
                with _long_cells():
                    part = list(islice(rows, _ROWS))
            except csv.Error as error:
                raise AnnotationError(self._unmatched(error)) from error
            if not part:
                break
            count += len(part)
            yield part
        self._size = count, rows.line_num

    @cached_property
    def rows(self) -> list[Row]:
        return [row for part in self for row in part]

    def head(self, most: int) -> list[Row]:
        return list(islice((row for part in self for row in part), most))

    @cached_property
    def lines(self) -> Sequence[int]:
        """Line in which each row begins; a cell may span several lines."""
        first = self._first + 1
        if self.delimiter == SPACE:
            return range(first, first + len(self.rows))
        if self._size is None:
            deque(self, maxlen=0)
        rows, lines = self._size or (0, 0)
        if rows == lines:
            return range(first, first + rows)
        reader = self._reader()
        with _long_cells():
            ends = [reader.line_num for _ in reader]
        return [first, *(first + end for end in ends[:-1])]

    def _reader(self) -> Any:
        return csv.reader(_lines(self._text), delimiter=self.delimiter, **self._quotes)

    def _closes(self) -> bool:
        try:
            with _long_cells():
                deque(self._reader(), maxlen=0)
        except csv.Error:
            return False
        return True

    def _by_blanks(self) -> list[Row]:
        lines = _LINE_END.split(self._text)
        if lines and not lines[-1].strip():
            lines.pop()
        if '"' not in self._text:
            return [line.split() for line in lines]
        return [
            [bare or inner.replace('""', '"') for inner, bare in _BLANKS.findall(line)]
            for line in lines
        ]

    def _unmatched(self, error: csv.Error) -> Problem:
        rows, begin = self._reader(), 1
        try:
            with _long_cells():
                for _ in rows:
                    begin = rows.line_num + 1
        except csv.Error:
            pass
        where = f"{self.source}, row {self._first + begin}"
        if "limit" in str(error):
            what = f"A line or cell has more than {_LONGEST:,} characters."
            remedy = (
                "Shorten this text or leave it out; if it begins with a quote, close the quote."
            )
            return Problem(what, where, remedy, code="long-cell")
        what = f"The quotation marks do not match ({error})."
        remedy = 'Close the quote, or write a quote inside a quoted cell twice ("").'
        return Problem(what, where, remedy, code="quotes")


def _lines(text: str) -> Iterator[str]:
    """Yield lines with their ends, split from about a megabyte of text at a time."""
    start = 0
    while start < len(text):
        found = _LINE_END.search(text, start + _PIECE)
        end = found.end() if found else len(text)
        if end - start > _PIECE + _LONGEST:
            end = text.rfind("\n", start, start + _PIECE) + 1  # end of the line before the long one
            if not end:
                raise csv.Error("line larger than the limit")
        yield from io.StringIO(text[start:end], newline="")
        start = end


def first_row(text: str, delimiter: str = ",", *, spaces: bool = True) -> Row:
    try:
        with _long_cells():
            reader = csv.reader(_lines(text), delimiter=delimiter, skipinitialspace=not spaces)
            return next(reader, [])
    except csv.Error as error:
        problem = Problem(f"The first row cannot be read: {error}.", remedy="Close all quotes.")
        raise AnnotationError(problem) from error


def text_of(rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()


def delimiter_of(text: str) -> str:
    r"""Choose the delimiter by known names in the header, then by rows of the same width."""
    if "\t" not in text[:_PIECE].split("\n", 1)[0] and _QUOTED_NAMES.match(text):
        return SPACE
    best, best_score = ",", (False, 0.0, 0, 0)
    for delimiter in DELIMITERS:
        few: list[Row] = []
        with suppress(csv.Error), _long_cells():  # rows above the fault tell the delimiter
            few.extend(islice(csv.reader(_lines(text), delimiter=delimiter), _RECORDS))
        rows = [row for row in few if any(row)]
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        known = sum(bool(hits) for hits in matched(rows[0]).values())
        share = sum(len(row) == width for row in rows) / len(rows)
        score = (known >= 2, share, known, width)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def is_padded(text: str, delimiter: str) -> bool:
    """Return True if spaces follow all delimiters of the header and the first of each line."""
    first, *lines = text[:_PIECE].lstrip().split("\n")[: _PADDED + 1]
    cells = [*first.split(delimiter)[1:], *(line.split(delimiter)[1] for line in lines
             if delimiter in line)]  # fmt: skip
    is_plain = delimiter.strip() and f'{delimiter} "' not in "\n".join([first, *lines])
    return bool(is_plain and lines and cells) and all(cell[:1] == " " for cell in cells)


@contextmanager
def _long_cells() -> Iterator[None]:
    """Allow long cells; the limit of the csv module is global."""
    before = csv.field_size_limit(_LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


# -- rows to a table -------------------------------------------------------------------------------


NAMELESS = "(column "  # start of the name of an unnamed column, before its number
_LOOKED_AT = 200  # rows inspected to find a header below the first row
_ABOVE = 12  # rows from the top that may be the header
_UNDER = 4  # more rows than this must be below it
_FULL = 0.8  # minimum number of its cells, as a proportion of the fullest row
FEW = 100  # one broken row per this many rows is dropped; more are an error


@dataclass
class Table:
    """Columns by name; `rows` are the row numbers in the file."""

    columns: dict[str, Sequence[Any]]
    rows: Sequence[int]
    source: str
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    coder: str | None = None  # name of the coder column if the file has none
    twice: Mapping[str, int] = field(default_factory=dict)  # number of columns per duplicate name
    header_row: int = 0

    @classmethod
    def of_records(
        cls,
        columns: Mapping[str, Sequence[object]],
        rows: Sequence[int],
        source: str,
        twice: Mapping[str, int] | None = None,
    ) -> Table:
        table = cls(dict(columns), rows, source, twice=twice or {})
        if not len(rows):
            remedy = "Export the labels again."
            table.problems.append(Problem("The file has no records.", source, remedy, code="empty"))
        return table

    @property
    def header(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, keep: Sequence[int]) -> Table:
        columns: dict[str, Sequence[Any]] = {
            name: [cells[n] for n in keep] for name, cells in self.columns.items()
        }
        return replace(self, columns=columns, rows=[self.rows[n] for n in keep])

    def doubled(self, used: Collection[str]) -> list[Problem]:
        names = [name for name in self.twice if name in used]
        if not names:
            return []
        what = f"{counted(len(names), 'column name')} used more than once: {some(names)}."
        where = f"{self.source}, row {self.header_row}" if self.header_row else self.source
        return [Problem(what, where, "Give every column its own name.", code="names-twice")]

    def records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for row, cells in zip(self.rows, zip(*self.columns.values(), strict=True), strict=True):
            yield row, dict(zip(self.columns, cells, strict=True))

    def add_key(self, key: Key, named: Mapping[str, str]) -> None:
        columns = [self.columns[named[part]] for part in key.parts]
        for part, cells in zip(key.parts, columns, strict=True):
            self.problems += check_hashable(cells, f"cell of {part!r}", self.source, self.rows)
        if not self.problems:
            self.columns[key] = key_cells(columns)


def from_records(
    parts: Iterable[Sequence[list[str]]],
    lines: Callable[[], Sequence[int]],
    source: str,
    delimiter: str = ",",
    names: Sequence[str] | None = None,
) -> Table:
    body = _Body(names)
    for part in parts:
        body.take(part)
    if body.header is None:
        what, remedy = "The file contains only blank lines.", "Export the labels again."
        return Table({}, [], source, [Problem(what, source, remedy, code="empty")])
    header, cells, numbers = body.header, body.columns, lines()
    if body.is_single and not body.odd:
        what = f"The table has only one column, {header[0][:60]!r}."
        remedy = "Separate item, coder and label by commas, semicolons, tabs or bars (|)."
        if len(header[0].split()) > 1:
            remedy += f" If spaces separate the cells, use {Option('delimiter', ' ')}."
        return Table({}, [], source, [Problem(what, source, remedy, code="one-column")])
    table = Table({}, body.rows(numbers), source)
    if not len(table):
        what = "The table has a header but no row below it."
        table.problems.append(Problem(what, source, "Export the labels again.", code="no-rows"))
    is_of_r = names is None and body.beyond is not None and len(table) > 0 and not body.is_cut
    if is_of_r and body.beyond is not None:  # R writes no header for the row names
        header, cells = ["", *header], [*cells, body.beyond]
    table.header_row = 0 if names is not None else numbers[body.at]
    if body.n_headers > 1:
        example = next(name for name in header if JOINED in name)
        table.notes.append(f"Two rows name the columns; they are joined, as in {example!r}.")
    if body.odd and not is_of_r:
        if table.header_row and (place := _header_below(header, cells, body.first)):
            row = table.rows[place]
            what = f"The header seems to be in row {row}, below other rows."
            remedy = f"Skip the rows above it: {Option('skip_rows', row - 1)}."
            options = (("skip_rows", row - 1),)
            return Table(
                {},
                [],
                source,
                [Problem(what, source, remedy, options=options, code="header-below")],
            )
        cells = _mended(table, body, delimiter)
    gap = next((n for n, name in enumerate(header) if n and not name and not any(cells[n])), 0)
    if gap and not {*header[:gap]}.isdisjoint({*header[gap:]} - {""}):
        header, cells = header[:gap], cells[:gap]
        table.notes.append(f"{source}: cells to the right of empty column {gap + 1} are not read.")
    table.twice = {name: n for name, n in Counter(header).items() if n > 1 and name}
    if table.twice and all_numbers(header):
        what = f"The first row holds only numbers: {some(header)}."
        names = ("item", "coder", "label") if len(header) == 3 else ()
        where = f"{source}, row {table.header_row}"
        table.problems.append(Problem(what, where, name_all(len(header), *names), code="no-header"))
    for place, (name, column) in enumerate(zip(header, cells, strict=True), 1):
        if name or place == 1 or any(column):
            table.columns[name or f"{NAMELESS}{place})" * (place > 1)] = column
    return table


def distinct(cells: Iterable[object]) -> set[object]:
    """Return the distinct cells without lists and objects, which cannot be labels."""
    try:
        return set(cells)
    except TypeError:
        return {cell for cell in cells if is_hashable(cell)}


def name_all(size: int, *names: str) -> str:
    """Return the remedy for a table without a header: name all its columns."""
    named = Option("columns", [*names] or [...])
    return f"If the file has no header, use {named} to name its {size} columns in their order."


class _Body:
    """Columns of the rows so far, and places of the rows of another width."""

    def __init__(self, names: Sequence[str] | None) -> None:
        self.header: list[str] | None = None
        self.at = 0  # index of the header row
        self.n_headers = 1  # number of header rows
        self.is_single = False
        self.columns: list[list[str]] = []
        self.odd = 0  # number of rows of another width
        self.short, self.broken = array("q"), array("q")  # by index in the columns
        self.widths: set[int] = set()  # of short and broken rows
        self.marks = {*DELIMITERS}  # delimiters in the first cell of all broken rows
        self.first: dict[int, list[str]] = {}  # of the rows of another width
        self.beyond: list[str] | None = []  # last cells, if each row has one more than the header
        self._taken = array("q")
        self._seen = 0
        if names is not None:
            self._begin(names)

    def _begin(self, header: Sequence[str]) -> None:
        self.header, self.is_single = stripped(header), len(header) == 1
        self.is_cut = not header[-1]  # the unnamed column is the last, not the first
        while len(self.header) > 1 and not self.header[-1]:
            self.header.pop()
        self.columns = [[] for _ in self.header]

    def take(self, rows: Sequence[list[str]]) -> None:
        first, self._seen = self._seen, self._seen + len(rows)
        numbers: Sequence[int] = range(first, self._seen)
        if not all(map(any, rows)):
            kept = [n for n, row in enumerate(rows) if any(row)]
            rows, numbers = [rows[n] for n in kept], [first + n for n in kept]
        if self.header is None and rows:
            self.at = numbers[0]
            both = two_headers(rows[0], rows[1]) if len(rows) > 1 else None
            self.n_headers = 1 if both is None else 2
            self._begin(both or rows[0])
            rows, numbers = rows[self.n_headers :], numbers[self.n_headers :]
        width = len(self.columns)
        widths = set(map(len, rows))
        if widths - {width + 1}:
            self.beyond = None
        elif self.beyond is not None:
            self.beyond += [row[-1] for row in rows]
        if widths - {width}:
            rows = [
                row if len(row) == width else self._fitted(n, row)
                for n, row in enumerate(rows, len(self._taken))
            ]
        self._taken.extend(numbers)
        for column, cells in zip(self.columns, zip(*rows, strict=True), strict=False):
            known: dict[str, str] = {}  # equal cells share one string
            column += map(known.setdefault, cells, cells)

    def _fitted(self, place: int, row: list[str]) -> list[str]:
        """Return a row of another width as one of the right width; note where it was."""
        width = len(self.columns)
        self.odd += 1
        if place < _LOOKED_AT:
            self.first[place] = row
        if not any(row[width:]):  # spreadsheets leave trailing empty cells
            row = row[:width]
        if len(row) == 1 or len(row) > width:
            self.broken.append(place)
            self.marks = {mark for mark in self.marks if mark in row[0]}
        elif len(row) < width:
            self.short.append(place)
        if len(row) != width:
            self.widths.add(len(row))
        return [*row, *[""] * width][:width]

    def rows(self, numbers: Sequence[int]) -> Sequence[int]:
        taken = self._taken
        if taken and taken[-1] - taken[0] + 1 == len(taken):
            return numbers[taken[0] : taken[-1] + 1]
        return [numbers[n] for n in taken]


def stripped(header: Sequence[str]) -> list[str]:
    """Strip column names, unless two would become equal."""
    names = [name.strip() for name in header]
    return names if len(set(names)) == len(set(header)) else list(header)


def _mended(table: Table, body: _Body, delimiter: str) -> list[list[str]]:
    """Pad short rows, and drop other rows of the wrong width if they are few."""
    cells, width, source, lines = body.columns, len(body.columns), table.source, table.rows
    if body.short:
        last = some(body.header[min(body.widths - {1}) :]) if body.header else ""
        is_all = len(body.short) == len(lines)
        where = "all rows" if is_all else _places("", lines, body.short)
        table.notes.append(
            f"{counted(len(body.short), 'row')} of {source} with fewer cells than the header; the "
            f"missing cells are read as empty: {last} ({where})."
        )
    if not body.broken:
        return cells
    few = len(body.broken) * FEW <= len(lines)
    where = _places(source, lines, body.broken)
    if few and not delimiter:
        table.notes.append(f"Not read: cells to the right of the last named column ({where}).")
        return cells
    if few:
        table.notes.append(
            f"Left out because their cells do not fit the {width} columns (perhaps a delimiter "
            f"that is not quoted): {where}."
        )
    else:
        table.problems.append(_ragged(body, where, delimiter))
    kept = bytearray(b"\1") * len(lines)
    for n in body.broken:
        kept[n] = 0
    table.rows = [*compress(lines, kept)]
    return [[*compress(column, kept)] for column in cells]


def _places(source: str, lines: Sequence[int], places: Sequence[int]) -> str:
    """Format rows; only those that are named are looked up."""
    named = [lines[n] for n in places[:SHOWN]]
    return at_rows(source, [*named, *[0] * (len(places) - len(named))])


def _header_below(
    header: Sequence[str], cells: Sequence[Sequence[str]], odd: Mapping[int, Sequence[str]]
) -> int | None:
    """Return the index of a row that is wider than the first and looks like a header, or None."""
    size = min(max(map(len, cells), default=0), _LOOKED_AT)
    rows = [odd.get(n) or [column[n] for column in cells] for n in range(size)]
    rows = [[cell.strip() for cell in row] for row in rows]
    filled = [[cell for cell in row if cell] for row in rows]
    least = max(len(header) + 1, _FULL * max(map(len, filled), default=0))
    for n, names in enumerate(filled[:_ABOVE]):
        below = rows[n + 1 :]
        if len(set(names)) == len(names) >= least and not any(all_numbers([x]) for x in names):
            columns = list(zip_longest(*below))
            if len(below) > _UNDER and not any(
                name and name in column for name, column in zip(rows[n], columns, strict=False)
            ):
                return n
    return None


def _ragged(body: _Body, where: str, delimiter: str) -> Problem:
    width = len(body.columns)
    widths = sorted(n for n in body.widths if n == 1 or n > width)
    one = counted(len(body.broken), "row")
    what = f"{one} of {' or '.join(map(str, widths[:4]))} cells where the header has {width}."
    other = [word for mark, word in DELIMITERS.items() if mark in body.marks - {delimiter}]
    remedy = "Quote cells that contain the delimiter, or fill in the missing cells."
    if not delimiter:
        remedy = "Give every column a name, or empty the cells to the right of the named columns."
    elif other and widths[-1] == 1:
        remedy = f"These rows seem separated by a {other[0]}, the header by a "
        remedy += f"{DELIMITERS.get(delimiter, repr(delimiter))}: use one delimiter."
    return Problem(what, where, remedy, code="ragged")
