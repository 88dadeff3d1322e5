"""Text with delimiters to rows of cells: every cell a text, nothing stripped, nothing guessed."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from typing import Any

from annomodels.errors import AnnotationError, Problem
from annomodels.io.tables.columns import matched

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
SPACE = " "  # stands for any number of blanks and tabs
LOOKED_AT = 200  # records that decide on the delimiter
_ROWS = 1 << 16  # that are parsed at a time
_PIECE = 1 << 20  # characters that are cut into lines at a time
_PADDED = 50  # lines that tell whether blanks follow delimiters
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANKS = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)|(\S+)')
_QUOTED_NAMES = re.compile(r'\s*("[^"\n]*"[ \t]+)+"[^"\n]*"\s*\n')  # as R writes a header
_SEP_LINE = re.compile(r'\A"?sep=([,;\t|])"?\r?\n', re.IGNORECASE)

Row = list[str]


class TextRows:
    """Rows of cells of a text, in parts; blank lines are empty rows, and each row has its line."""

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
        self._size: tuple[int, int] | None = None  # rows and lines, once all were read
        self._quotes: dict[str, Any] = {"strict": True}
        if is_padded(text, self.delimiter):
            self._quotes["skipinitialspace"] = True
        if self.delimiter == "\t" and '"' in text and not self._closes():
            self._quotes = {"quoting": csv.QUOTE_NONE}  # tools write bare quotes

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
        """Line in which each row begins: not the number of the row after a cell of several."""
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
        what = f"The quotation marks do not match ({error})."
        remedy = 'Close the quote, or write a quote inside a quoted cell twice ("").'
        return Problem(what, f"{self.source}, row {self._first + begin}", remedy, code="quotes")


def _lines(text: str) -> Iterator[str]:
    """Lines of a text with their ends, cut from some megabytes at a time."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE) + 1 or len(text)
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
    r"""Delimiter that gives the header the known names, and most rows its width."""
    if "\t" not in text[:_PIECE].split("\n", 1)[0] and _QUOTED_NAMES.match(text):
        return SPACE
    best, best_score = ",", (False, 0.0, 0, 0)
    for delimiter in DELIMITERS:
        try:
            with _long_cells():
                few = list(islice(csv.reader(_lines(text), delimiter=delimiter), LOOKED_AT))
        except csv.Error:
            continue
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
    """Return True if blanks follow the delimiters: all of the header, the first of each line."""
    first, *lines = text[:_PIECE].lstrip().split("\n")[: _PADDED + 1]
    cells = [*first.split(delimiter)[1:], *(line.split(delimiter)[1] for line in lines
             if delimiter in line)]  # fmt: skip
    is_plain = delimiter.strip() and f'{delimiter} "' not in "\n".join([first, *lines])
    return bool(is_plain and lines and cells) and all(cell[:1] == " " for cell in cells)


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells be of any length; the csv module keeps its limit in a global."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)
