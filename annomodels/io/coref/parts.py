"""Documents of one coder with their line numbers, and functions to merge them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Literal

from annomodels.data.document import Document
from annomodels.data.expressions import Key, Markable, Span
from annomodels.data.layers import Judgment, Layer
from annomodels.data.validation import SHOWN, counted
from annomodels.errors import AnnotationError, Note, Problem, Verb, raise_all

Crossing = Literal["error", "keep"]
ChainFrom = Literal["relations", "label"]


@dataclass(frozen=True)
class CorefOptions:
    encoding: str | None = None
    crossing: Crossing = "error"
    relations: frozenset[str] = frozenset()
    attributes: Mapping[str, str] = field(default_factory=dict)
    chain_from: ChainFrom = "relations"


@dataclass(frozen=True)
class DocumentPart:
    document: Document
    source: str
    lines: Sequence[int] = ()
    unlinked: Problem | None = None

    def at(self, token: int) -> str:
        if token < len(self.lines):
            return f"{self.source}, line {self.lines[token]}"
        return self.source


class ReadingState:
    """State of a file being read: finished documents, and words of the open document."""

    def __init__(self, source: str, coder: str) -> None:
        self.source = source
        self.coder = coder
        self.parts: list[DocumentPart] = []
        self.problems: list[Problem] = []
        self.begin("")

    def begin(self, name: str) -> None:
        self.name = name
        self.tokens: list[str] = []
        self.lines: list[int] = []
        self.sentences: list[int] = []
        self.is_new = True  # whether the next word begins a sentence

    def word(self, token: str, line: int) -> int:
        if self.is_new:
            self.sentences.append(len(self.tokens))
            self.is_new = False
        self.tokens.append(token)
        self.lines.append(line)
        return len(self.tokens) - 1

    def problem(self, what: str, line: int, remedy: str) -> None:
        self.problems.append(Problem(what, f"{self.source}, line {line}", remedy))

    def end(self, layer: Layer, genre: str | None = None) -> None:
        layers = {self.coder: layer}
        words, starts = tuple(self.tokens), tuple(self.sentences)
        made = Document(self.name, words, starts or (0,), genre, layers)
        self.parts.append(DocumentPart(made, self.source, self.lines))

    def done(self, what: str, remedy: str) -> list[DocumentPart]:
        if not self.parts and not self.problems:
            self.problems.append(Problem(what, self.source, remedy))
        raise_all(self.problems)
        return self.parts


class Marks:
    """Markables of one coder while a file is read; of equal markables, the first is kept."""

    def __init__(self) -> None:
        self.markables: dict[str, Markable] = {}
        self._by_key: dict[Key, str] = {}
        self._kept: dict[str, str] = {}
        self.repeated = 0

    def add(self, one: str, span: Span, level: str = "phrase", head: int | None = None) -> bool:
        """Add a markable; if its words are taken, map its id to the first and return False."""
        markable = Markable(one, span, level, head)
        first = self._by_key.setdefault(markable.key, one)
        self._kept[one] = first
        if first != one:
            self.repeated += 1
            return False
        self.markables[one] = markable
        return True

    def __contains__(self, one: str) -> bool:
        return one in self._kept

    def kept(self, one: str) -> str:
        return self._kept[one]

    def layer(
        self,
        coder: str,
        clusters: Iterable[Iterable[str]] | None = None,
        judgments: Mapping[str, Judgment] | None = None,
        near_identity: Iterable[frozenset[str]] = (),
        dominating: Mapping[frozenset[str], str] | None = None,
    ) -> Layer:
        """Return the layer; a mention in two clusters stays in the first."""
        sets: list[frozenset[str]] = []
        taken: set[str] = set()
        for cluster in clusters or ():
            sets.append(frozenset({self._kept[one] for one in cluster} - taken))
            taken |= sets[-1]
        notes = []
        if self.repeated:
            what = counted(self.repeated, "mention")
            text = f"{coder}: {what} on words that were already marked; the first is kept."
            notes.append(Note(text, f"repeated {coder}"))
        return Layer(
            coder,
            self.markables,
            judgments or {},
            None if clusters is None else tuple(sets),
            frozenset(near_identity),
            dominating or {},
            tuple(notes),
        )


def crossings(
    spans: Iterable[tuple[Span, str, str]], crossing: Crossing, remedy: str
) -> list[Problem]:
    """Return a problem for each span that overlaps another without nesting."""
    if crossing == "keep":
        return []
    problems = []
    open_: list[tuple[Span, str]] = []
    for span, name, where in sorted(spans, key=lambda one: (one[0].start, -one[0].end)):
        while open_ and open_[-1][0].end < span.start:
            open_.pop()
        across = next((other for other in reversed(open_) if other[0].end < span.end), None)
        if across is not None:
            what = f"The brackets of {across[1]} and {name} cross."
            problems.append(Problem(what, where, remedy))
        else:
            open_.append((span, name))
    return problems


def by_kind(problems: Iterable[Problem]) -> list[Problem]:
    """Merge problems that differ only in numbers, names and files, with a count."""
    kinds: dict[str, list[Problem]] = {}
    for one in problems:
        kinds.setdefault(re.sub(r"'[^']*'|\d[\d,]*|, (?=')", "", one.what), []).append(one)
    out: list[Problem] = []
    for first, *rest in kinds.values():
        files = {re.split(", (?:line|row) ", one.where)[0] for one in (first, *rest)}
        if rest and len(files) > len(rest):
            where = f"{first.where} and {counted(len(rest), 'more file')}"
            out.append(replace(first, where=where))
        else:
            out += [first, *rest]
    return out


def check_linked(parts: Sequence[DocumentPart]) -> None:
    """Raise if no mentions are linked, because chains are encoded differently."""
    said = [part.unlinked for part in parts if part.unlinked is not None]
    marked = [part for part in parts if part.document.keys]
    if said and len(said) == len(marked):
        raise AnnotationError(by_kind(dict.fromkeys(said))[:SHOWN])


def aligned(parts: Iterable[DocumentPart]) -> list[Document]:
    """Merge the layers of each document after checking that its words are equal."""
    first: dict[str, DocumentPart] = {}
    layers: dict[str, dict[str, Layer]] = {}
    sources: dict[tuple[str, str], str] = {}
    problems: list[Problem] = []
    for part in parts:
        document = part.document
        start = first.setdefault(document.id, part)
        if document.tokens != start.document.tokens:
            problems.append(_different(start, part))
        for coder, layer in document.layers.items():
            held = layers.setdefault(document.id, {})
            if coder in held:
                what = f"The coder {coder!r} has the document {document.id!r} twice."
                where = f"{sources[document.id, coder]} and {part.source}"
                remedy = "Name the coders: read({'ana': 'a.conll', 'ben': 'b.conll'})."
                problems.append(Problem(what, where, remedy))
            held[coder] = layer
            sources[document.id, coder] = part.source
    raise_all(problems)
    out = []
    for name, part in first.items():
        notes = [note for layer in layers[name].values() for note in layer.notes]
        document = replace(part.document, layers=layers[name])
        apart = len(document.keys) - len(document.shared())
        if apart:
            unaligned = Verb("unaligned()", "unaligned.csv of -o FOLDER")
            text = (
                f"{apart:,} of {len(document.keys):,} mentions were not marked by all coders; see "
                f"{unaligned}."
            )
            notes.append(Note(text, "unaligned"))
        out.append(replace(document, notes=(*document.notes, *notes)))
    return out


def _different(one: DocumentPart, other: DocumentPart) -> Problem:
    pairs = zip_longest(one.document.tokens, other.document.tokens)
    place, (a, b) = next((n, pair) for n, pair in enumerate(pairs) if pair[0] != pair[1])
    names = "/".join(other.document.layers) or "a coder", "/".join(one.document.layers) or "another"
    said = ["the text ends" if word is None else f"it is {word!r}" for word in (b, a)]
    what = (
        f"The words of {other.document.id!r} differ between coders: at word {place}, {said[0]} "
        f"for {names[0]} and {said[1]} for {names[1]}."
    )
    where = f"{other.at(place)} and {one.at(place)}"
    return Problem(what, where, "Give every coder the same text, split into the same words.")
