"""WebAnno TSV 3: spans and chains on tokens, one file for each document and coder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from annomodels.errors import AnnotationError
from annomodels.io.border import decoded
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.span_builder import to_code_points
from annomodels.io.tools.projects import parts_of

_FIRST = "#FORMAT=WebAnno TSV 3."
_ROW = re.compile(r"^(\d+)-(\d+(?:\.\d+)?)\t(\d{1,9})-(\d{1,9})\t")
_NUMBER = re.compile(r"(?<!\\)\[(\d+)\]$")
_LINK = re.compile(r"->(\d+)-(\d+)$")
_ESCAPE = re.compile(r"\\(->|[\\\[\]|_;*nt])")
_SIGNS = {"n": "\n", "t": "\t"}


def is_webanno(source: Source, options: Options) -> bool:
    """Whether the first line, or that of the first .tsv file, is ``#FORMAT=WebAnno TSV 3.``."""
    if source.inside is None:
        return source.kind == "delimited" and source.text.startswith(_FIRST)
    if not source.inside.ending(".tsv", ".zip"):
        return False
    try:
        return any(
            data.lstrip(b"\xef\xbb\xbf").startswith(_FIRST.encode())
            for _, _, data, _, _ in parts_of(source, ".tsv")
        )
    except AnnotationError:
        return any(source.inside.read(n).startswith(b"#FORMAT") for n in source.inside.names[:5])


@dataclass(frozen=True)
class _Column:
    """A column after the token: a feature of spans, or one of the two of a chain."""

    question: str
    kind: str  # "T_SP", "T_CH" or "T_RL"
    is_relation: bool = False


def read_webanno(found: Records) -> None:
    """Spans and chains, with places turned from UTF-16 units into code points."""
    for document, coder, data, where, _ in parts_of(found.source, ".tsv"):
        text = decoded(data, where)
        if text.startswith(_FIRST):
            _read(text, document, coder, found)
        else:
            found.note("Files that are not WebAnno TSV 3 are left out.")


def _columns(lines: Sequence[str]) -> list[_Column]:
    """Say what the columns after the token hold, from the header."""
    columns = []
    for line in lines:
        kind = line[1:5]
        if kind not in ("T_SP", "T_CH", "T_RL"):
            continue
        layer, *features = line[6:].split("|")
        name = layer.rsplit(".", 1)[-1]
        if kind == "T_CH":
            columns.append(_Column(f"{name}.{(features or ['type'])[0]}", kind))
            columns.append(_Column(name, kind, is_relation=True))
            continue
        names = [f"{name}.{feature}" if feature else name for feature in features or [""]]
        columns += [_Column(question, kind) for question in names]
    return columns


def _read(text: str, document: str, coder: str, records: Records) -> None:
    lines = text.replace("\r\n", "\n").split("\n")
    columns = _columns([line for line in lines if line.startswith("#T_")])
    sentences = Sentences()
    # Parts of one mark share a key: the number in brackets, or the row where there is none.
    found: dict[tuple[str, str], tuple[int, int, str, str]] = {}
    for line in lines:
        if line.startswith("#Text="):
            sentences.begin(_plain(line[6:]))
            continue
        row = _ROW.match(line)
        if not row:
            continue
        begin, end = int(row.group(3)), int(row.group(4))
        token, *cells = line[row.end() :].split("\t")
        start, stop = sentences.place(begin, end, _plain(token), is_token="." not in row.group(2))
        for n, (column, cell) in enumerate(zip(columns, cells, strict=False)):
            if column.kind == "T_RL" or column.is_relation or cell in ("_", ""):
                continue
            if column.kind == "T_CH":
                beside = cells[n + 1] if n + 1 < len(cells) else ""
                marks = _chain_marks(cell, beside, row.group(0))
            else:
                marks = _span_marks(cell, row.group(0))
            for key, label, chain in marks:
                known = found.get((column.question, key), (start, stop, label, chain))
                place = min(known[0], start), max(known[1], stop)
                found[column.question, key] = (*place, known[2], known[3])
    records.document(document, coder, sentences.text, sentences.tokens)
    for (question, _), (start, stop, label, chain) in found.items():
        records.mark(document, coder, question, (start, stop), label, chain)


def _split(cell: str) -> list[str]:
    """Stacked values of a cell, whose bars may be escaped."""
    return re.split(r"(?<!\\)\|", cell)


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda found: _SIGNS.get(found.group(1), found.group(1)), text)


def _span_marks(cell: str, row: str) -> list[tuple[str, str, str]]:
    """Key, label and chain of the marks in a cell; ``*`` is a mark without a value."""
    marks = []
    for n, value in enumerate(_split(cell)):
        number = _NUMBER.search(value)
        key = f"[{number.group(1)}]" if number else f"{row}{n}"
        label = value[: number.start()] if number else value
        if label != "_":
            marks.append((key, _plain(label), ""))
    return marks


def _chain_marks(cell: str, beside: str, row: str) -> list[tuple[str, str, str]]:
    """Do so for a chain: the number is that of the chain, and the next column numbers links."""
    marks = []
    links = _split(beside)
    for n, value in enumerate(_split(cell)):
        number = _NUMBER.search(value)
        link = _LINK.search(links[n]) if n < len(links) else None
        chain = number.group(1) if number else link.group(1) if link else ""
        label = value[: number.start()] if number else value
        key = f"{chain}-{link.group(2)}" if link else f"{row}{n}"
        marks.append((key, _plain(label), chain))
    return marks


_LONGEST_GAP = 10_000_000  # characters between sentences


class Sentences:
    """Sentences of a document in their order."""

    def __init__(self) -> None:
        self.tokens: list[tuple[int, int]] = []
        self._parts: list[str] = []
        self._length = 0
        self._wide = 0  # signs of two units in the sentences before
        self._sentence = ""
        self._places: list[int] = []
        self._unit: int | None = None  # where the sentence begins, in UTF-16 units
        self._point = 0

    def begin(self, text: str) -> None:
        """Take the text of the next sentence."""
        self._wide += len(self._places) - 1 - len(self._sentence) if self._places else 0
        self._sentence, self._places, self._unit = text, to_code_points(text), None

    def place(self, begin: int, end: int, token: str, is_token: bool) -> tuple[int, int]:
        """Place of a token or a part of one, from its offsets in the file."""
        if self._unit is None:
            before = max(self._sentence.find(token), 0)
            self._unit = begin - before
            self._point = max(self._unit - self._wide, 0)
            gap = self._point - self._length
            if 0 <= gap <= _LONGEST_GAP:
                self._parts += [" " * gap, self._sentence]
                self._length += gap + len(self._sentence)
        start, stop = (self._point + self._within(unit) for unit in (begin, end))
        if is_token:
            self.tokens.append((start, stop))
        return start, stop

    def _within(self, unit: int) -> int:
        """Code points from the start of the sentence to a UTF-16 unit."""
        local = unit - (self._unit or 0)
        if 0 <= local < len(self._places):
            return self._places[local]
        return max(local, 0)

    @property
    def text(self) -> str:
        """The document, with blanks where the file says nothing."""
        return "".join(self._parts)
