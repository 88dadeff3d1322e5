"""Read coreference with character offsets: brat, INCEpTION and WebAnno projects."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

from annomodels.data.document import Document
from annomodels.data.expressions import Span
from annomodels.data.layers import Layer, components
from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, Note, Option, Problem, Verb, raise_all
from annomodels.io import span_builder
from annomodels.io.border import Members
from annomodels.io.coref.parts import CorefOptions, DocumentPart, Marks, ReadingState
from annomodels.io.reading import read_spans
from annomodels.io.span_builder import GOLD, WORD, Spans
from annomodels.io.tools.brat import Mark, standoff

RELATIONS = frozenset({"coref", "coreference", "ident", "identity", "equiv"})
NUMBERED = (re.compile(r".*[-_#:.]\d+"), re.compile(r".*\d"))  # chains such as Anne-8, or chain8


def read_brat(
    files: Members, name: str, coder: str, unnamed: str, options: CorefOptions
) -> list[DocumentPart]:
    text = files.text(name[:-4] + ".txt", options.encoding)
    return [_Brat(files, name, text, coder, options).part(unnamed)]


class _Brat(ReadingState):
    def __init__(
        self, files: Members, name: str, text: str, coder: str, options: CorefOptions
    ) -> None:
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

    def part(self, unnamed: str) -> DocumentPart:
        """Read mentions first, then relations, which may precede them in the file."""
        for line, row in self.said.unread:
            word, remedy = "a relation", "Write R1<tab>Coref Arg1:T5 Arg2:T2 or *<tab>Equiv T1 T4."
            if row.startswith("T"):
                word, remedy = "a mention", "Write T1<tab>Type 0 4<tab>text."
            self.problem(f"{row!r} cannot be read as {word}.", line, remedy)
        for mark in self.said.marks:
            self._mention(mark)
        for line, kind, ids in self.said.links:
            self._relation(line, kind, ids)
        raise_all(self.problems)
        if self.by_label:
            self._chains()
        clusters = components(self.marks.markables, self.links)
        layer = self.marks.layer(self.coder, clusters)
        breaks = [m.end() for m in re.finditer("\n", self.text)]
        starts = {bisect_left(self.starts, place) for place in [0, *breaks]}
        sentences = tuple(sorted(start for start in starts if start < len(self.tokens)))
        notes = self._said() if self.by_label else []
        for kind, times in sorted(self.unused.items()):
            text = f"{self.coder}: {counted(times, 'relation')} of the type {kind!r} not used."
            notes.append(Note(text, f"unused {self.coder} {kind}"))
        layers = {self.coder: layer}
        document = Document(unnamed, tuple(self.tokens), sentences, None, layers, tuple(notes))
        return DocumentPart(document, self.source, unlinked=self._unlinked())

    def _said(self) -> list[Note]:
        names = chain_labels(self.labels.values())
        others = sorted(set(self.labels.values()) - names)
        marked = {self.marks.kept(one) for one, label in self.labels.items() if label in names}
        said = f"{self.coder}: {counted(len(marked), 'mention')} in {counted(len(names), 'chain')}."
        text = f"{said} Labels that do not name a chain: {some(others)}." if others else said
        return [Note(text, f"chains {self.coder} {others}")]

    def _unlinked(self) -> Problem | None:
        """Return a problem if no relation links mentions, so that all would be singletons."""
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
            what += f" Relations of other types: {listed}."
        kind = min(self.unused, default="Coref")
        remedy = (
            f"If the label of a mention names its chain (the labels are {some(named)}), use "
            f"{Option('chain_from', 'label')}. If a relation means coreference, name it: "
            f"{Option('relations', [kind])}. For marked stretches without chains, use annomodels "
            "agree --units exact."
        )
        return Problem(what, self.source, remedy)

    def _mention(self, mark: Mark) -> None:
        line, one, label, pieces, said = mark
        text = " ".join(self.text[start:end] for start, end in pieces)
        words = {n for place in pieces for n in _words_at(place, self.starts, self.ends)}
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
        names = chain_labels(self.labels.values())
        first: dict[str, str] = {}
        chain_of: dict[str, str] = {}
        # a chain label and a form label on the same words are one mention
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


def _words_at(place: tuple[int, int], starts: Sequence[int], ends: Sequence[int]) -> range:
    """Return the words that a span of text overlaps."""
    return range(bisect_right(ends, place[0]), bisect_left(starts, place[1]))


def chain_labels(labels: Iterable[str]) -> frozenset[str]:
    """Return labels that may name chains: those that end in a number, or all if none does."""
    every = frozenset(labels)
    for pattern in NUMBERED:
        found = frozenset(label for label in every if pattern.fullmatch(label))
        if found:
            return found
    return every


# -- projects: chains in WebAnno TSV 3 or in UIMA CAS files ----------------------------------------


def read_inception(
    files: Members, name: str, coder: str, unnamed: str, options: CorefOptions
) -> list[DocumentPart]:
    spans = read_spans(files.name, encoding=options.encoding)
    chosen = _chains(spans, options)
    alone = len(files.names) == 1 and not name.lower().endswith(".zip")
    parts: list[DocumentPart] = []
    for document, coders in spans.seen.items():
        words = spans.tokens.get(document) or [
            found.span() for found in WORD.finditer(spans.texts.get(document, ""))
        ]
        text = spans.texts.get(document, "")
        tokens = tuple(text[start:end] for start, end in words)
        notes = list(spans.notes) if not parts else []
        if GOLD in coders:
            notes.append("The curated version is left out.")
        layers = {}
        for one in coders:
            if one == GOLD:
                continue
            mine = [mark for mark in chosen if (mark.document, mark.coder) == (document, one)]
            who = coder if coder and alone else one
            layers[who] = _layer_of(who, mine, words, f"{files.name}, {document}, {one}")
        title = unnamed if unnamed and alone else document
        if layers:
            made = Document(title, tokens, (0,), None, layers, tuple(notes))
            parts.append(DocumentPart(made, files.name))
    return parts


def _chains(spans: Spans, options: CorefOptions) -> list[span_builder.MarkedSpan]:
    """Return the chain marks of one layer, each once for all its features."""
    marks = [mark for mark in spans.spans if mark.chain]
    layers = sorted({_layer(mark) for mark in marks})
    wanted = [layer for layer in layers if not options.relations or layer in options.relations]
    if not layers:
        what = "It has spans, but no chains."
        remedy = f"Give it to {Verb('am.read', 'annomodels run')} with {Option('units')}."
        raise AnnotationError(what, spans.source, remedy)
    if len(wanted) != 1:
        what = f"It has chains of {counted(len(layers), 'layer')}: {some(layers)}."
        remedy = f"Name one with {Option('relations')}."
        raise AnnotationError(what, spans.source, remedy)
    chosen = {
        (mark.document, mark.coder, mark.start, mark.end, mark.chain): mark
        for mark in marks
        if _layer(mark) == wanted[0]
    }
    return list(chosen.values())


def _layer(mark: span_builder.MarkedSpan) -> str:
    """Return the layer of a mark, without the feature."""
    return mark.question.partition(".")[0]


def _layer_of(
    who: str,
    chosen: Sequence[span_builder.MarkedSpan],
    words: Sequence[tuple[int, int]],
    where: str,
) -> Layer:
    starts, ends = [start for start, _ in words], [end for _, end in words]
    marks = Marks()
    chains: dict[str, list[str]] = {}
    for n, mark in enumerate(chosen):
        span = _words_at((mark.start, mark.end), starts, ends)
        if not span:
            what = f"The mention at {mark.start}-{mark.end} contains no words."
            raise AnnotationError(what, where, "Mark at least one word.")
        marks.add(str(n), Span(tuple(span)))
        chains.setdefault(mark.chain, []).append(str(n))
    return marks.layer(who, chains.values())
