"""Text with delimiters to rows of cells: every cell a text, nothing stripped, nothing guessed."""

from __future__ import annotations

import csv
import io
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from annomodels.errors import AnnotationError, Problem
from annomodels.io.tables.columns import matched

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
SPACE = " "  # stands for any number of blanks and tabs
LOOKED_AT = 200  # records that decide on the delimiter
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANKS = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)|(\S+)')
_SEP_LINE = re.compile(r'\A"?sep=([,;\t|])"?\r?\n', re.IGNORECASE)


def records_of(
    text: str, source: str, delimiter: str | None = None
) -> tuple[list[list[str]], Sequence[int], str]:
    r"""Rows of cells, the line each begins in, and the delimiter; blank lines are empty rows."""
    first = 0
    if delimiter == SPACE:
        return _by_blanks(text)
    said = _SEP_LINE.match(text)  # Excel writes its delimiter into the first line
    if said:
        text, first, delimiter = text[said.end() :], 1, delimiter or said.group(1)
    delimiter = delimiter or delimiter_of(text)
    try:
        rows, lines = _parse(text, delimiter, strict=True)
    except csv.Error as error:
        if delimiter != "\t":
            raise AnnotationError(_unmatched(text, delimiter, source, first, error)) from error
        rows, lines = _parse(text, delimiter, quoting=csv.QUOTE_NONE)  # tools write bare quotes
    return rows, range(first + 1, first + 1 + len(rows)) if lines is None else lines, delimiter


def below(text: str, rows: int) -> str:
    r"""Text without its first rows."""
    for _ in range(rows):
        end = _LINE_END.search(text)
        text = text[end.end() :] if end else ""
    return text


def _by_blanks(text: str) -> tuple[list[list[str]], Sequence[int], str]:
    """Rows of cells with any number of blanks and tabs between them."""
    lines = _LINE_END.split(text)
    if lines and not lines[-1].strip():
        lines.pop()
    if '"' not in text:
        return [line.split() for line in lines], range(1, len(lines) + 1), SPACE
    rows = [
        [bare or inner.replace('""', '"') for inner, bare in _BLANKS.findall(line)]
        for line in lines
    ]
    return rows, range(1, len(rows) + 1), SPACE


def first_row(text: str, delimiter: str = ",", *, spaces: bool = True) -> list[str]:
    """Cells of the first row of a text."""
    lines = io.StringIO(text, newline="")
    with _long_cells():
        try:
            return next(csv.reader(lines, delimiter=delimiter, skipinitialspace=not spaces), [])
        except csv.Error as error:
            problem = Problem(f"The first row cannot be read: {error}.", remedy="Close all quotes.")
            raise AnnotationError(problem) from error


def text_of(rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    r"""Write rows of cells as a text, with quotes where they are needed."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()


def delimiter_of(text: str) -> str:
    r"""Delimiter that gives the header the known names, and most rows its width."""
    best, best_score = ",", (False, 0.0, 0, 0)
    for delimiter in DELIMITERS:
        rows = [row for row in _some_rows(text, delimiter) if any(row)]
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        known = sum(bool(hits) for hits in matched(rows[0]).values())
        share = sum(len(row) == width for row in rows) / len(rows)
        score = (known >= 2, share, known, width)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _some_rows(text: str, delimiter: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    with _long_cells():
        try:
            return list(itertools.islice(reader, LOOKED_AT))
        except csv.Error:
            return []


def _parse(
    text: str, delimiter: str, *, strict: bool = False, quoting: int = csv.QUOTE_MINIMAL
) -> tuple[list[list[str]], list[int] | None]:
    def reader() -> Iterator[list[str]]:
        lines = io.StringIO(text, newline="")
        return csv.reader(lines, delimiter=delimiter, strict=strict, quoting=quoting)  # type: ignore[arg-type]

    with _long_cells():
        table = reader()
        rows = list(table)
        if table.line_num == len(rows):  # type: ignore[attr-defined]
            return rows, None
        # Some cell holds a line break: note where each row begins.
        table = reader()
        ends = [table.line_num for _ in table]  # type: ignore[attr-defined]
    return rows, [1, *(end + 1 for end in ends[:-1])]


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells be of any length; the csv module keeps its limit in a global."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _unmatched(text: str, delimiter: str, source: str, first: int, error: csv.Error) -> Problem:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begin = 1
    with _long_cells():
        try:
            for _ in reader:
                begin = reader.line_num + 1
        except csv.Error:
            pass
    what = f"The quotation marks do not match ({error})."
    remedy = 'Close the quote, or write a quote inside a quoted cell twice ("").'
    return Problem(what, f"{source}, row {first + begin}", remedy)
