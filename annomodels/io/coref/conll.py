"""CoNLL-2012: one word a line, clusters as numbered brackets in the last column."""

from __future__ import annotations

import re

from annomodels.data.document import Document
from annomodels.data.expressions import Span
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.archives import Members
from annomodels.io.coref.parts import Marks, Options, Part, crossings

BEGIN = re.compile(r"#begin document \(?(.*?)\)?(?:; part (\d+))?\s*$")
CHUNK = re.compile(r"\((\d+)\)|\((\d+)|(\d+)\)")
EMPTY = frozenset({"-", "_", "*"})
WORD_COLUMN = 3


def read(files: Members, name: str, coder: str, unnamed: str, options: Options) -> list[Part]:
    """Documents of a CoNLL-2012 file."""
    reading = _Reading(files.where(name), coder, options)
    for number, line in enumerate(files.text(name, options.encoding).splitlines(), 1):
        reading.take(number, line.strip())
    reading.finish()
    if not reading.parts and not reading.problems:
        what = "There are no documents."
        reading.problems.append(Problem(what, reading.source, 'Start one with "#begin document".'))
    if reading.problems:
        raise AnnotationError(reading.problems)
    return reading.parts


class _Reading:
    """The state of reading: one document at a time."""

    def __init__(self, source: str, coder: str, options: Options) -> None:
        self.source = source
        self.coder = coder
        self.options = options
        self.parts: list[Part] = []
        self.problems: list[Problem] = []
        self._document: str | None = None
        self._start = 0

    def take(self, number: int, line: str) -> None:
        """Read a line."""
        if line.startswith("#begin document"):
            if self._document is not None:
                self._unended(number)
            found = BEGIN.match(line)
            title, part = found.groups() if found else (line[15:].strip(), None)
            self._document = title if part is None or not int(part) else f"{title}#{int(part)}"
            self._start = number
            self._tokens: list[str] = []
            self._lines: list[int] = []
            self._sentences: list[int] = []
            self._new = True
            # Number of opening, cluster, first word, line.
            self._open: dict[str, list[tuple[int, int, int]]] = {}
            self._spans: list[tuple[int, str, Span, int]] = []
            self._opened = 0
        elif line.startswith("#end document"):
            self._close()
        elif not line:
            self._new = True
        elif self._document is None:
            if not line.startswith("#"):
                what = "There is a word outside any document."
                remedy = 'Put "#begin document (name); part 000" before it.'
                if not self.problems:
                    self._problem(what, number, remedy)
        elif not line.startswith("#"):
            self._word(number, line.split())

    def finish(self) -> None:
        """End of the file."""
        if self._document is not None:
            self._unended(None)

    def _unended(self, number: int | None) -> None:
        until = "the file ends" if number is None else f"another begins in line {number}"
        what = f"The document {self._document!r} does not end before {until}."
        self._problem(what, self._start, 'Put "#end document" after its last word.')
        self._document = None

    def _problem(self, what: str, line: int, remedy: str) -> None:
        self.problems.append(Problem(what, f"{self.source}, line {line}", remedy))

    def _word(self, number: int, columns: list[str]) -> None:
        if len(columns) < 2:
            what = f"The line has only one column: {columns[0]!r}."
            self._problem(what, number, "Give at least a word and its brackets, or '-'.")
            return
        here = len(self._tokens)
        if self._new:
            self._sentences.append(here)
            self._new = False
        self._tokens.append(columns[min(WORD_COLUMN, len(columns) - 2)])
        self._lines.append(number)
        if columns[-1] in EMPTY:
            return
        rest = CHUNK.sub("", columns[-1]).replace("|", "")
        if rest:
            what = f"{columns[-1]!r} cannot be read as brackets: {rest!r} is left over."
            self._problem(what, number, "Write brackets such as (3|(1) or 3), or '-' for none.")
            return
        for single, opened, closed in CHUNK.findall(columns[-1]):
            if single:
                self._spans.append((self._opened, single, Span((here,)), number))
            elif opened:
                self._open.setdefault(opened, []).append((self._opened, here, number))
            elif self._open.get(closed):
                order, first, _ = self._open[closed].pop()
                self._spans.append((order, closed, Span.between(first, here), number))
            else:
                what = f"The bracket {closed}) closes a mention that was never opened."
                self._problem(what, number, f"Open it with ({closed}, or remove the bracket.")
            self._opened += 1

    def _close(self) -> None:
        if self._document is None:
            return
        for cluster, opened in self._open.items():
            for _, _, line in opened:
                what = f"The bracket ({cluster} is never closed."
                self._problem(what, line, f"Close it with {cluster}), or remove it.")
        named = [(s, f"({c}", f"{self.source}, line {n}") for _, c, s, n in self._spans]
        remedy = f"Check the brackets, or say {Option('crossing', 'keep')} if mentions may overlap."
        self.problems += crossings(named, self.options.crossing, remedy)
        name, self._document = self._document, None
        if not self.problems:
            self.parts.append(self._part(name))

    def _part(self, name: str) -> Part:
        marks = Marks()
        clusters: dict[str, list[str]] = {}
        for order, cluster, span, _ in sorted(self._spans, key=lambda one: one[0]):
            if marks.add(f"m{order}", span):  # of copies, the one that was opened first
                clusters.setdefault(cluster, []).append(f"m{order}")
        layer = marks.layer(self.coder, clusters.values())
        genre = name.split("/")[0] if "/" in name else None
        sentences = tuple(self._sentences)
        document = Document(name, tuple(self._tokens), sentences, genre, {self.coder: layer})
        return Part(document, self.source, self._lines)
