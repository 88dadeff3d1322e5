"""Projects of INCEpTION and WebAnno: chains in WebAnno TSV 3 or in UIMA CAS files."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from annomodels.data.document import Document
from annomodels.data.expressions import Span
from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, Option, Problem, Verb
from annomodels.io.archives import Members
from annomodels.io.coref.brat import WORD
from annomodels.io.coref.parts import Marks, Options, Part
from annomodels.io.reading import read_spans
from annomodels.io.span_builder import GOLD, Spans
from annomodels.io.span_builder import Span as Mark


def read(files: Members, name: str, coder: str, unnamed: str, options: Options) -> list[Part]:
    """Documents of a project, with the chains of every coder of each."""
    spans = read_spans(files.name, encoding=options.encoding)
    chosen = _chains(spans, options)
    alone = len(files.names) == 1 and not name.lower().endswith(".zip")
    parts: list[Part] = []
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
            layers[who] = _marks(mine, words, f"{files.name}, {document}, {one}").layer(
                who, _clusters(mine)
            )
        title = unnamed if unnamed and alone else document
        if layers:
            made = Document(title, tokens, (0,), None, layers, tuple(notes))
            parts.append(Part(made, files.name))
    return parts


def _chains(spans: Spans, options: Options) -> list[Mark]:
    """Take the marks in chains of one layer, each once whatever features it has."""
    marks = [mark for mark in spans.spans if mark.chain]
    layers = sorted({_layer(mark) for mark in marks})
    wanted = [layer for layer in layers if not options.relations or layer in options.relations]
    if not layers:
        what = "There are spans in it, but no chains."
        remedy = f"Give it to {Verb('am.read', 'annomodels run')} with {Option('units')}."
        raise AnnotationError(Problem(what, spans.source, remedy))
    if len(wanted) != 1:
        what = f"There are chains of {counted(len(layers), 'layer')}: {some(layers)}."
        remedy = f"Name one with {Option('relations')}."
        raise AnnotationError(Problem(what, spans.source, remedy))
    chosen = {
        (mark.document, mark.coder, mark.start, mark.end, mark.chain): mark
        for mark in marks
        if _layer(mark) == wanted[0]
    }
    return list(chosen.values())


def _layer(mark: Mark) -> str:
    """Layer of a mark, without the feature."""
    return mark.question.partition(".")[0]


def _marks(chosen: Sequence[Mark], words: Sequence[tuple[int, int]], where: str) -> Marks:
    """Markables of the words that each mark covers or touches."""
    starts, ends = [start for start, _ in words], [end for _, end in words]
    marks = Marks()
    for n, mark in enumerate(chosen):
        span = range(bisect_right(ends, mark.start), bisect_left(starts, mark.end))
        if not span:
            what = f"The mention at {mark.start}-{mark.end} contains no words."
            raise AnnotationError(Problem(what, where, "Mark at least one word."))
        marks.add(str(n), Span(tuple(span)))
    return marks


def _clusters(chosen: Sequence[Mark]) -> list[list[str]]:
    """Ids of the mentions of each chain."""
    clusters: dict[str, list[str]] = {}
    for n, mark in enumerate(chosen):
        clusters.setdefault(mark.chain, []).append(str(n))
    return list(clusters.values())
