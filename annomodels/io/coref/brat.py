"""brat standoff: a text, and a file of mentions by character and relations between them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable

from annomodels.data.document import Document
from annomodels.data.expressions import Span
from annomodels.data.layers import components
from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, Note, Option, Problem
from annomodels.io.archives import Members
from annomodels.io.coref.parts import Marks, Options, Part, Reading
from annomodels.io.tools.brat import Mark, standoff

RELATIONS = frozenset({"coref", "coreference", "ident", "identity", "equiv"})
WORD = re.compile(r"\w+|[^\w\s]")
NUMBERED = (re.compile(r".*[-_#:.]\d+"), re.compile(r".*\d"))  # chains such as Anne-8, or chain8


def read(files: Members, name: str, coder: str, unnamed: str, options: Options) -> list[Part]:
    """Document of an .ann file and the .txt file beside it."""
    text = files.text(name[:-4] + ".txt", options.encoding)
    return [_Reading(files, name, text, coder, options).part(unnamed)]


class _Reading(Reading):
    """The state of reading a file."""

    def __init__(self, files: Members, name: str, text: str, coder: str, options: Options) -> None:
        super().__init__(files.where(name), coder)
        self.text = text
        self.wanted = {name.lower() for name in options.relations or RELATIONS}
        self.said = standoff(files.text(name, options.encoding))
        words = list(WORD.finditer(text))
        self.starts = [word.start() for word in words]
        self.ends = [word.end() for word in words]
        self.tokens = [word[0] for word in words]
        self.marks = Marks()
        self.links: list[tuple[str, str]] = []
        self.unused: Counter[str] = Counter()
        self.labels: dict[str, str] = {}
        self.by_label = options.chain_from == "label"

    def part(self, unnamed: str) -> Part:
        """Read mentions first, then relations, which may stand before them."""
        for line, row in self.said.unread:
            word, remedy = "a relation", "Write R1<tab>Coref Arg1:T5 Arg2:T2 or *<tab>Equiv T1 T4."
            if row.startswith("T"):
                word, remedy = "a mention", "Write T1<tab>Type 0 4<tab>text."
            self.problem(f"{row!r} cannot be read as {word}.", line, remedy)
        for mark in self.said.marks:
            self._mention(mark)
        for line, kind, ids in self.said.links:
            self._relation(line, kind, ids)
        if self.problems:
            raise AnnotationError(self.problems)
        if self.by_label:
            self._chains()
        clusters = components(self.marks.markables, self.links)
        layer = self.marks.layer(self.coder, clusters)
        breaks = [m.end() for m in re.finditer("\n", self.text)]
        starts = {bisect_left(self.starts, place) for place in [0, *breaks]}
        sentences = tuple(sorted(start for start in starts if start < len(self.tokens)))
        notes = self._said() if self.by_label else []
        for kind, times in sorted(self.unused.items()):
            text = f"{self.coder}: {times:,} relation(s) of the type {kind!r} were not used."
            notes.append(Note(text, f"unused {self.coder} {kind}"))
        layers = {self.coder: layer}
        document = Document(unnamed, tuple(self.tokens), sentences, None, layers, tuple(notes))
        return Part(document, self.source, unlinked=self._unlinked())

    def _said(self) -> list[Note]:
        """Say which labels were taken for chains, and which were not."""
        names = chain_labels(self.labels.values())
        others = sorted(set(self.labels.values()) - names)
        marked = {self.marks.kept(one) for one, label in self.labels.items() if label in names}
        said = f"{self.coder}: {counted(len(marked), 'mention')} in {counted(len(names), 'chain')}."
        text = f"{said} Labels that name no chain: {some(others)}." if others else said
        return [Note(text, f"chains {self.coder} {others}")]

    def _unlinked(self) -> Problem | None:
        """Say that no relation links mentions, so that each would be a chain of its own."""
        if self.links or len(self.labels) < 2:
            return None
        named = sorted(chain_labels(self.labels.values()))
        if self.by_label:
            what = f"No two mentions have the same label ({some(named)}), so there is no chain."
            return Problem(what, self.source, f"Leave out {Option('chain_from', 'label')}.")
        mentions = counted(len(self.marks.markables), "mention")
        what = (
            f"No relation of coreference was found among {mentions}, so every mention would be a "
            "singleton."
        )
        if self.unused:
            listed = ", ".join(f"{kind} ({n:,})" for kind, n in sorted(self.unused.items()))
            what += f" There are relations of other types: {listed}."
        kind = min(self.unused, default="Coref")
        remedy = (
            f"If the label of a mention names its chain (the labels are {some(named)}), say "
            f"{Option('chain_from', 'label')}. If a relation means coreference, name it: "
            f"{Option('relations', [kind])}. For marked stretches without chains, use "
            "annomodels agree --units exact."
        )
        return Problem(what, self.source, remedy)

    def _mention(self, mark: Mark) -> None:
        line, one, label, pieces, said = mark
        text = " ".join(self.text[start:end] for start, end in pieces)
        words = {
            word
            for start, end in pieces
            for word in range(bisect_right(self.ends, start), bisect_left(self.starts, end))
        }
        together = "Check that text and mentions belong together."
        if any(start >= end or end > len(self.text) for start, end in pieces):
            offsets = ";".join(f"{start} {end}" for start, end in pieces)
            what = f"{one} is at {offsets}, but the text has {len(self.text):,} characters."
            self.problem(what, line, together)
        elif said is not None and text.split() != said.split():
            what = f"{one} says {said!r}, but the text has {text!r} there."
            self.problem(what, line, together)
        elif not words:
            self.problem(f"{one} holds no word.", line, "Mark at least one word.")
        elif one in self.marks:
            self.problem(f"The id {one} is used twice.", line, "Give each mention its own id.")
        else:
            self.labels[one] = label
            self.marks.add(one, Span(tuple(words)))

    def _chains(self) -> None:
        """Link the mentions whose label names the same chain."""
        names = chain_labels(self.labels.values())
        first: dict[str, str] = {}
        chain_of: dict[str, str] = {}
        # a chain and a form on the same words are one mention, marked twice on purpose
        self.marks.repeated = 0
        for one, label in self.labels.items():
            kept = self.marks.kept(one)
            if label not in names:
                continue
            if chain_of.setdefault(kept, label) != label:
                self.marks.repeated += 1
            elif first.setdefault(label, kept) != kept:
                self.links.append((first[label], kept))

    def _relation(self, line: int, kind: str, ids: list[str]) -> None:
        if self.by_label or kind.lower() not in self.wanted:
            self.unused[kind] += 1
            return
        unknown = [one for one in ids if one not in self.marks]
        if unknown:
            what = f"{kind} names {unknown[0]}, but there is no such mention."
            self.problem(what, line, "Relate mentions of the same file.")
            return
        kept = [self.marks.kept(one) for one in ids]
        self.links += [(kept[0], other) for other in kept[1:]]


def chain_labels(labels: Iterable[str]) -> frozenset[str]:
    """Labels that may name chains: those that end in a number, if any do; else all."""
    every = frozenset(labels)
    for pattern in NUMBERED:
        found = frozenset(label for label in every if pattern.fullmatch(label))
        if found:
            return found
    return every
