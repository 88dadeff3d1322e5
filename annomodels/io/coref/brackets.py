"""Read coreference from bracket columns: CoNLL-2012, and CorefUD in CoNLL-U."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from annomodels.data.expressions import Span
from annomodels.data.layers import Judgment
from annomodels.errors import Option
from annomodels.io.border import Members
from annomodels.io.coref.parts import (
    CorefOptions,
    Crossing,
    DocumentPart,
    Marks,
    ReadingState,
    crossings,
)

# -- CoNLL-2012: one word per line, clusters as numbered brackets in the last column ---------------


BEGIN = re.compile(r"#begin document \(?(.*?)\)?(?:; part (\d+))?\s*$")
NUMBER = re.compile(r"\((\d+)\)|\((\d+)|(\d+)\)")
EMPTY = frozenset({"-", "_", "*"})
WORD_COLUMN = 3


def read_conll(
    files: Members, name: str, coder: str, unnamed: str, options: CorefOptions
) -> list[DocumentPart]:
    reading = _Conll(files.where(name), coder)
    reading.crossing = options.crossing
    for number, line in enumerate(files.text(name, options.encoding).splitlines(), 1):
        reading.take(number, line.strip())
    reading.unended("the file ends")
    return reading.done("The file has no documents.", 'Start one with "#begin document".')


class _Conll(ReadingState):
    crossing: Crossing = "error"
    _start = 0  # first line of the open document; 0 between documents

    def take(self, number: int, line: str) -> None:
        if line.startswith("#begin document"):
            self.unended(f"another begins in line {number}")
            found = BEGIN.match(line)
            title, part = found.groups() if found else (line[15:].strip(), None)
            self.begin(title if part is None or not int(part) else f"{title}#{int(part)}")
            self._start = number
            # By cluster: order of opening, first word, line.
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
            self.problem("A word is outside any document.", number, remedy)

    def unended(self, until: str) -> None:
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
        rest = NUMBER.sub("", columns[-1]).replace("|", "")
        if rest:
            what = f"{columns[-1]!r} cannot be read as brackets: {rest!r} is left over."
            self.problem(what, number, "Write brackets such as (3|(1) or 3), or '-' for none.")
            return
        for single, opened, closed in NUMBER.findall(columns[-1]):
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
        remedy = f"Check the brackets, or use {Option('crossing', 'keep')} if mentions may overlap."
        self.problems += crossings(named, self.crossing, remedy)
        if self.problems:
            return
        marks = Marks()
        clusters: dict[str, list[str]] = {}
        for order, cluster, span, _ in sorted(self._spans, key=lambda one: one[0]):
            if marks.add(f"m{order}", span):  # of equal spans, keep the one opened first
                clusters.setdefault(cluster, []).append(f"m{order}")
        genre = self.name.split("/")[0] if "/" in self.name else None
        self.end(marks.layer(self.coder, clusters.values()), genre)


# -- CorefUD: mentions as brackets in ``Entity=`` of the last column -------------------------------


CHUNK = re.compile(r"\(([^()]+)\)|\(([^()]+)|([^()]+)\)")
PIECE = re.compile(r"(.+?)\[(\d+)/(\d+)\]$")
HEADER = "# global.Entity"
DEFAULT = ("eid", "etype", "head", "other")
COLUMNS = 10


@dataclass
class _Mention:
    entity: str
    head: int | None
    order: int
    line: int
    pieces: int
    words: list[int] = field(default_factory=list)
    seen: int = 0
    open_at: int | None = None


def read_corefud(
    files: Members, name: str, coder: str, unnamed: str, options: CorefOptions
) -> list[DocumentPart]:
    reading = _CorefUD(files.where(name), coder)
    reading.begin(unnamed)
    for number, line in enumerate(files.text(name, options.encoding).splitlines(), 1):
        reading.take(number, line)
    reading.end_document()
    return reading.done("The file has no word.", "Export it again.")


class _CorefUD(ReadingState):
    _fields: tuple[str, ...] = DEFAULT

    def begin(self, name: str) -> None:
        super().begin(name)
        self._mentions: list[_Mention] = []
        self._open: list[_Mention] = []
        self._unfinished: dict[tuple[str, int], list[_Mention]] = {}
        self._splits: dict[str, tuple[set[str], int]] = {}

    def take(self, number: int, line: str) -> None:
        if line.startswith("# newdoc"):
            self.end_document()
            self.begin(line.partition("=")[2].strip() or f"document {len(self.parts) + 1}")
        elif line.startswith(HEADER):
            self._fields = tuple(line.partition("=")[2].strip().split("-"))
            if self._fields[0] != "eid":
                what = f"The header names the fields {'-'.join(self._fields)!r}."
                self.problem(what, number, "The first field must be eid.")
        elif not line.strip():
            self._end_sentence()
        elif not line.startswith("#"):
            self._word(number, line.split("\t"))

    def _word(self, number: int, columns: list[str]) -> None:
        if len(columns) != COLUMNS:
            what = f"The line has {len(columns)} columns, not {COLUMNS}."
            self.problem(what, number, "CoNLL-U has ten columns separated by tabs.")
            return
        if "-" in columns[0]:  # surface form of a multiword token
            return
        here = self.word(columns[1], number)
        misc = dict(part.partition("=")[::2] for part in columns[9].split("|"))
        if "Entity" in misc:
            self._entities(misc["Entity"], here, number)
        for pair in filter(None, misc.get("SplitAnte", "").split(",")):
            part, _, whole = pair.partition("<")
            self._splits.setdefault(whole, (set(), number))[0].add(part)

    def _entities(self, text: str, here: int, number: int) -> None:
        if CHUNK.sub("", text):
            what = f"Entity={text} cannot be read as brackets."
            self.problem(what, number, "Write (e1-person-1-, e1) or (e1-person-1-).")
            return
        for single, opened, closed in CHUNK.findall(text):
            if single or opened:
                mention = self._opened(single or opened, here, number)
                if mention is not None and single:
                    self._closed(mention, here)
            else:
                piece = PIECE.match(closed)
                entity, part = (piece[1], int(piece[2])) if piece else (closed, 1)
                found = [m for m in self._open if m.entity == entity and part in (1, m.seen)]
                if found:
                    self._closed(found[-1], here)
                else:
                    what = f"The bracket {closed}) closes a mention that was never opened."
                    self.problem(what, number, f"Open it with ({closed}, or remove it.")

    def _opened(self, text: str, here: int, number: int) -> _Mention | None:
        values = text.split("-", len(self._fields) - 1)
        found = PIECE.match(values[0])
        entity, part, pieces = (
            (found[1], int(found[2]), int(found[3])) if found else (values[0], 1, 1)
        )
        named = dict(zip(self._fields, values, strict=False))
        head = named.get("head", "")
        if head and not head.isdigit():
            what = f"The head of {entity} is {head!r}, not the number of a word in the mention."
            self.problem(what, number, f"Write {'-'.join(self._fields)}; ids have no hyphens.")
            return None
        if part == 1:
            mention = _Mention(
                entity, int(head) if head else None, len(self._mentions), number, pieces
            )
            self._mentions.append(mention)
            if pieces > 1:
                self._unfinished.setdefault((entity, pieces), []).append(mention)
        else:
            waiting = self._unfinished.get((entity, pieces), [])
            fits = [m for m in waiting if m.seen == part - 1 and m.open_at is None]
            if not fits:
                what = f"Piece {part} of {pieces} of {entity} appears without piece {part - 1}."
                self.problem(what, number, "Number the pieces of a mention from 1.")
                return None
            mention = fits[0]
        mention.seen = part
        mention.open_at = here
        self._open.append(mention)
        return mention

    def _closed(self, mention: _Mention, here: int) -> None:
        mention.words += range(mention.open_at or 0, here + 1)
        mention.open_at = None
        self._open.remove(mention)
        if mention.seen == mention.pieces and mention.pieces > 1:
            self._unfinished[mention.entity, mention.pieces].remove(mention)

    def _end_sentence(self) -> None:
        for mention in self._open:
            what = f"The bracket ({mention.entity} is not closed in its sentence."
            self.problem(what, mention.line, f"Close it with {mention.entity}).")
        for waiting in self._unfinished.values():
            for mention in waiting:
                if mention.open_at is None:
                    what = (
                        f"A mention of {mention.entity} ends after piece {mention.seen} of "
                        f"{mention.pieces}."
                    )
                    self.problem(what, mention.line, "Mark all pieces within the sentence.")
        self._open, self._unfinished = [], {}
        self.is_new = True

    def end_document(self) -> None:
        self._end_sentence()
        if not self.tokens or self.problems:
            return
        marks = Marks()
        clusters: dict[str, list[str]] = {}
        for mention in self._mentions:
            words = sorted(mention.words)
            if mention.head is not None and not 1 <= mention.head <= len(words):
                what = f"The head of {mention.entity} is word {mention.head} of {len(words)}."
                self.problem(what, mention.line, "Count the words of the mention from 1.")
                return
            head = None if mention.head is None else words[mention.head - 1]
            one = f"{mention.entity}.{mention.order}"
            if marks.add(one, Span(tuple(words)), head=head):
                clusters.setdefault(mention.entity, []).append(one)
        judgments = self._split_antecedents(marks, clusters)
        self.end(marks.layer(self.coder, clusters.values(), judgments))

    def _split_antecedents(
        self, marks: Marks, clusters: dict[str, list[str]]
    ) -> dict[str, Judgment]:
        """Return plural readings: each part's last mention before the whole's first mention."""
        out = {}
        for whole, (parts, line) in self._splits.items():
            unknown = sorted(e for e in {whole, *parts} if e not in clusters)
            if unknown:
                what = f"SplitAnte names {unknown[0]}, but there is no such entity."
                self.problem(what, line, "Name entities that have mentions.")
                continue
            spans = {one: marks.markables[one].span for e in {whole, *parts} for one in clusters[e]}
            first = min(clusters[whole], key=lambda one: spans[one])
            reading = set()
            for entity in parts:
                before = [one for one in clusters[entity] if spans[one] < spans[first]]
                pool = before or clusters[entity]
                reading.add(max(pool, key=lambda one: spans[one]))
            out[first] = Judgment(first, "split", (frozenset(reading),))
        return out
