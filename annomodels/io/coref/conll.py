"""CoNLL-2012: one word a line, clusters as numbered brackets in the last column."""

from __future__ import annotations

import re

from annomodels.data.expressions import Span
from annomodels.errors import Option
from annomodels.io.archives import Members
from annomodels.io.coref.parts import Crossing, Marks, Options, Part, Reading, crossings

BEGIN = re.compile(r"#begin document \(?(.*?)\)?(?:; part (\d+))?\s*$")
CHUNK = re.compile(r"\((\d+)\)|\((\d+)|(\d+)\)")
EMPTY = frozenset({"-", "_", "*"})
WORD_COLUMN = 3


def read(files: Members, name: str, coder: str, unnamed: str, options: Options) -> list[Part]:
    """Documents of a CoNLL-2012 file."""
    reading = _Reading(files.where(name), coder)
    reading.crossing = options.crossing
    for number, line in enumerate(files.text(name, options.encoding).splitlines(), 1):
        reading.take(number, line.strip())
    reading.unended("the file ends")
    return reading.done("There are no documents.", 'Start one with "#begin document".')


class _Reading(Reading):
    """The state of reading: one document at a time."""

    crossing: Crossing = "error"
    _start = 0  # line in which the open document begins; 0 between documents

    def take(self, number: int, line: str) -> None:
        """Read a line."""
        if line.startswith("#begin document"):
            self.unended(f"another begins in line {number}")
            found = BEGIN.match(line)
            title, part = found.groups() if found else (line[15:].strip(), None)
            self.begin(title if part is None or not int(part) else f"{title}#{int(part)}")
            self._start = number
            # Number of opening, cluster, first word, line.
            self._open: dict[str, list[tuple[int, int, int]]] = {}
            self._spans: list[tuple[int, str, Span, int]] = []
            self._opened = 0
        elif line.startswith("#end document"):
            self._close()
        elif not line:
            self.is_new = True
        elif not line.startswith("#") and self._start:
            self._word(number, line.split())
        elif not line.startswith("#") and not self.problems:
            remedy = 'Put "#begin document (name); part 000" before it.'
            self.problem("There is a word outside any document.", number, remedy)

    def unended(self, until: str) -> None:
        """Report the document that is open."""
        if self._start:
            what = f"The document {self.name!r} does not end before {until}."
            self.problem(what, self._start, 'Put "#end document" after its last word.')
        self._start = 0

    def _word(self, number: int, columns: list[str]) -> None:
        if len(columns) < 2:
            what = f"The line has only one column: {columns[0]!r}."
            self.problem(what, number, "Give at least a word and its brackets, or '-'.")
            return
        here = self.word(columns[min(WORD_COLUMN, len(columns) - 2)], number)
        if columns[-1] in EMPTY:
            return
        rest = CHUNK.sub("", columns[-1]).replace("|", "")
        if rest:
            what = f"{columns[-1]!r} cannot be read as brackets: {rest!r} is left over."
            self.problem(what, number, "Write brackets such as (3|(1) or 3), or '-' for none.")
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
                self.problem(what, number, f"Open it with ({closed}, or remove the bracket.")
            self._opened += 1

    def _close(self) -> None:
        if not self._start:
            return
        self._start = 0
        for cluster, opened in self._open.items():
            for _, _, line in opened:
                what = f"The bracket ({cluster} is never closed."
                self.problem(what, line, f"Close it with {cluster}), or remove it.")
        named = [(s, f"({c}", f"{self.source}, line {n}") for _, c, s, n in self._spans]
        remedy = f"Check the brackets, or say {Option('crossing', 'keep')} if mentions may overlap."
        self.problems += crossings(named, self.crossing, remedy)
        if self.problems:
            return
        marks = Marks()
        clusters: dict[str, list[str]] = {}
        for order, cluster, span, _ in sorted(self._spans, key=lambda one: one[0]):
            if marks.add(f"m{order}", span):  # of copies, the one that was opened first
                clusters.setdefault(cluster, []).append(f"m{order}")
        genre = self.name.split("/")[0] if "/" in self.name else None
        self.end(marks.layer(self.coder, clusters.values()), genre)
