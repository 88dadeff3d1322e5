"""Groups of overlapping marks; all marks of a coder in a group are one answer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from annomodels.data.validation import counted
from annomodels.errors import AnnotationError
from annomodels.io.span_builder import GOLD, NONE, Span, Spans
from annomodels.types import AnyArray

# probability that two coders with the same borders agree on the label of a span that is not the
# longest of its answer; too few answers have several spans to estimate it for each coder
SAME_LABEL = 0.9
# number of wrong borders that a coder may give: one word more or less on either side
OTHER_BORDERS = 4
# minimum share of spans inside another span of the same coder for a nested layer; below it, these
# spans are slips in a flat layer
NESTED = 0.01
# minimum share of common characters at which two marks are the same nested span
SAME_SPAN = 0.5

Piece = tuple[int, int, str]
Shape = tuple[tuple[int, int], ...]
Place = tuple[int, int, str, str]


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of overlapping marks as arrays.

    Parameters
    ----------
    labels, coders, documents
        Names behind the codes; labels have codes from 1, and 0 is "nothing".
    document, context
        Codes of the document of each group, and of the context of its class: groups with the same
        text, or else the groups of its document.
    answer_first
        Index of the first answer of each group, then the number of answers.
    coder, label, shape
        Coder of each answer, label of its longest span (0 for "nothing"), and candidate within
        the group (-1 for "nothing").
    visit, visit_first
        Pair of coder and document of each answer; index of the first pair of each coder, then the
        number of pairs.
    marks
        Start, end, coder and label of the marks of each group.
    shapes
        Borders of each candidate. The last candidate of a group is empty: unmarked borders.
    shape_first
        Index of the first candidate of each group, then the number of candidates.
    longest
        Index of the longest span of each candidate.
    other_labels
        P(label) of the spans of each candidate; None if it has one span.
    log_shape, log_nothing
        Log probability of the labels of all spans except the longest, for each candidate and for
        "nothing".
    log_other
        Log probability of each wrong border in a group.
    known, known_shape
        Class and candidate if the truth is known, else -1.
    nested
        Whether spans of the layer may be nested.
    notes
        Sentences about omitted spans.
    """

    labels: tuple[str, ...]
    coders: tuple[str, ...]
    documents: tuple[str, ...]
    document: AnyArray
    context: AnyArray
    answer_first: AnyArray
    coder: AnyArray
    visit: AnyArray
    visit_first: AnyArray
    label: AnyArray
    shape: AnyArray
    marks: tuple[Sequence[Place], ...]
    shapes: tuple[Shape, ...]
    shape_first: AnyArray
    longest: AnyArray
    other_labels: tuple[AnyArray | None, ...]
    log_shape: AnyArray
    log_nothing: AnyArray
    log_other: AnyArray
    known: AnyArray
    known_shape: AnyArray
    nested: bool
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.document)


def groups_of(
    spans: Spans,
    question: str | None = None,
    *,
    nested: bool | None = None,
    decisions: Iterable[Span] = (),
) -> Groups:
    """Form the groups of one layer.

    Parameters
    ----------
    spans
        The spans of all coders.
    question
        Layer and feature; not needed if there is only one.
    nested
        Whether spans may be nested [default: if a coder marked nested spans].
    decisions
        Spans that an expert decided; label ``(none)`` or empty for "no span is here". Groups that
        overlap a decision have a known truth.

    Raises
    ------
    AnnotationError
        If there are no spans, or fewer than two coders.

    Examples
    --------
    >>> marks = (Span("d", "ana", "NE", 0, 4, "PER"), Span("d", "ben", "NE", 0, 9, "PER"))
    >>> groups = groups_of(Spans(marks, {"d": ("ana", "ben", "eva")}))
    >>> groups.shapes, groups.label.tolist(), groups.shape.tolist()
    ((((0, 4),), ((0, 9),), ()), [1, 1, 0], [0, 1, -1])
    """
    marks = [span for span in dict.fromkeys(spans.of(question)) if span.end > span.start]
    coders = spans.coders
    if not any(span.coder != GOLD for span in marks) or len(coders) < 2:
        what = "The spans have fewer than two coders." if marks else "No coder marked a span."
        remedy = "Add the spans of another coder." if marks else "Check that the file has spans."
        raise AnnotationError(what, spans.source, remedy)
    notes = []
    if nested is None:
        nested = _is_nested(marks)
    if not nested:
        marks, dropped = _flat(marks)
        if dropped:
            inside = counted(dropped, "span")
            notes.append(f"{inside} overlapped a longer span of the same coder and were left out.")
    decided: dict[str, list[Span]] = {}
    for span in decisions:
        decided.setdefault(span.document, []).append(span)
    decided_labels = {s.label for found in decided.values() for s in found} - {NONE, ""}
    labels = tuple(sorted({span.label for span in marks} | decided_labels))
    by_document: dict[str, list[Span]] = {name: [] for name in sorted(spans.seen)}
    for span in marks:
        by_document.setdefault(span.document, []).append(span)
    builder = _Builder(labels, {name: n for n, name in enumerate(coders)})
    for code, (name, found) in enumerate(by_document.items()):
        seen = sorted(set(spans.seen.get(name, ())) - {GOLD})
        expert = decided.get(name, [])
        curated = GOLD in spans.seen.get(name, ())
        places = [(s.start, s.end, s.coder, s.label) for s in found]
        places += [(s.start, s.end, GOLD, s.label) for s in expert if s.label not in ("", NONE)]
        touched = None if curated else [(s.start, s.end) for s in expert]
        for part in _nested_parts(places) if nested else _parts(places):
            builder.add(code, part, seen, touched)
    return builder.finished(spans.texts, coders, tuple(by_document), nested, tuple(notes))


def _is_nested(marks: Sequence[Span]) -> bool:
    _, dropped = _flat([span for span in marks if span.coder != GOLD])
    return dropped >= max(NESTED * len(marks), 2)


def _flat(marks: Sequence[Span]) -> tuple[list[Span], int]:
    """Drop spans that overlap a longer span of the same coder; returns the rest and a count."""
    by_layer: dict[tuple[str, str], list[Span]] = {}
    for span in marks:
        by_layer.setdefault((span.document, span.coder), []).append(span)
    out: list[Span] = []
    for found in by_layer.values():
        found.sort(key=lambda span: (span.start, -span.end, span.label))
        if all(a.end <= b.start for a, b in pairwise(found)):
            out += found
            continue
        kept: list[Span] = []
        for span in sorted(found, key=lambda span: (span.start - span.end, span.start)):
            if all(span.end <= other.start or other.end <= span.start for other in kept):
                kept.append(span)
        out += sorted(kept, key=lambda span: span.start)
    return out, len(marks) - len(out)


def _parts(places: list[Place]) -> Iterable[list[Place]]:
    """Yield connected components of overlapping marks."""
    part: list[Place] = []
    end = -1
    for place in sorted(places):
        if part and place[0] >= end:
            yield part
            part = []
        end = max(end, place[1]) if part else place[1]
        part.append(place)
    if part:
        yield part


def _nested_parts(places: list[Place]) -> Iterable[list[Place]]:
    """Yield the marks of each nested span, with at most one mark per coder."""
    for part in _parts(places):
        votes = Counter((start, end) for start, end, _, _ in part)
        clusters: list[tuple[tuple[int, int], set[str], list[Place]]] = []
        order = sorted(part, key=lambda p: (-votes[p[:2]], p[0] - p[1], p))
        for place in order:
            best, most = None, SAME_SPAN
            for cluster in clusters:
                share = _overlap(place[:2], cluster[0])
                if place[2] not in cluster[1] and share >= most:
                    best, most = cluster, share + 1e-9
            if best is None:
                clusters.append((place[:2], {place[2]}, [place]))
            else:
                best[1].add(place[2])
                best[2].append(place)
        yield from (sorted(cluster[2]) for cluster in clusters)


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> float:
    common = max(0, min(a[1], b[1]) - max(a[0], b[0]))
    return common / (a[1] - a[0] + b[1] - b[0] - common)


class _Builder:
    def __init__(self, labels: Sequence[str], coders: Mapping[str, int]) -> None:
        self._label = {name: n + 1 for n, name in enumerate(labels)}
        self._labels, self._coders = tuple(labels), coders
        self._document: list[int] = []
        self._answer_first, self._shape_first = [0], [0]
        self._marks: list[Sequence[Place]] = []
        self._most_marked: list[tuple[int, int]] = []
        self._coder: list[int] = []
        self._label_of: list[int] = []
        self._shape: list[int] = []
        self._shapes: list[Shape] = []
        self._longest: list[int] = []
        self._other_labels: list[AnyArray | None] = []
        self._log_shape: list[float] = []
        self._log_nothing: list[float] = []
        self._log_other: list[float] = []
        self._known: list[int] = []
        self._known_shape: list[int] = []

    def add(
        self,
        document: int,
        part: Sequence[Place],
        seen: Sequence[str],
        touched: Sequence[tuple[int, int]] | None,
    ) -> None:
        """Add a group; `touched` lists the places that an expert decided, None for all places."""
        answers: dict[str, list[Piece]] = {}
        for start, end, coder, label in part:
            answers.setdefault(coder, []).append((start, end, label))
        ordered = sorted({tuple(p[:2] for p in pieces) for pieces in answers.values()})
        shapes = {shape: n for n, shape in enumerate(ordered)}
        longest = [max(range(len(s)), key=lambda n: (s[n][1] - s[n][0], -n)) for s in ordered]
        coded: dict[str, tuple[int, list[int]]] = {
            coder: (shapes[tuple(p[:2] for p in pieces)], [self._label[p[2]] for p in pieces])
            for coder, pieces in answers.items()
        }
        for coder in seen:
            shape, said = coded.get(coder, (-1, []))
            self._coder.append(self._coders[coder])
            self._shape.append(shape)
            self._label_of.append(said[longest[shape]] if said else 0)
        votes = Counter((start, end) for start, end, _, _ in part)
        self._most_marked.append(max(votes, key=lambda place: (votes[place], place)))
        self._document.append(document)
        self._marks.append(part)
        self._answer_first.append(len(self._coder))
        self._add_shapes(ordered, longest, [coded[c] for c in seen if c in coded])
        self._shape_first.append(len(self._shapes))
        first, last = min(p[0] for p in part), max(p[1] for p in part)
        decided = touched is None or any(a < last and first < b for a, b in touched)
        shape, said = coded.get(GOLD, (-1, [0]))
        self._known.append(-1 if not decided else said[longest[shape]])
        self._known_shape.append(shape)

    def _add_shapes(
        self,
        shapes: Sequence[Shape],
        longest: Sequence[int],
        answers: Sequence[tuple[int, list[int]]],
    ) -> None:
        n_labels = len(self._labels)
        several = sum(len(said) - 1 for _, said in answers)
        uniform = -math.log(n_labels)
        others = max(OTHER_BORDERS, len(shapes))
        for n, shape in enumerate(shapes):
            value, chances = several * uniform, None
            if len(shape) > 1:
                same = [said for s, said in answers if s == n]
                value -= len(same) * (len(shape) - 1) * uniform
                chances = np.full((len(shape), n_labels), 1 / n_labels)
                for piece in range(len(shape)):
                    if piece != longest[n]:
                        value += _label_chances(chances[piece], [said[piece] for said in same])
            self._shapes.append(shape)
            self._longest.append(longest[n])
            self._other_labels.append(chances)
            self._log_shape.append(value - math.log(others + 1))
        self._shapes.append(())
        self._longest.append(0)
        self._other_labels.append(None)
        unmarked = math.log((others + 1 - len(shapes)) / (others + 1))
        self._log_shape.append(several * uniform + unmarked)
        self._log_nothing.append(several * uniform - len(answers) * math.log(others + 1))
        self._log_other.append(-math.log(others))

    def finished(
        self,
        texts: Mapping[str, str],
        coders: tuple[str, ...],
        documents: tuple[str, ...],
        nested: bool,
        notes: tuple[str, ...],
    ) -> Groups:
        document = np.array(self._document, dtype=np.int32)
        group = np.repeat(np.arange(len(document)), np.diff(self._answer_first))
        coder = np.array(self._coder, np.int32)
        pairs = coder.astype(np.int64) * max(len(documents), 1) + document[group]
        visits, visit = np.unique(pairs, return_inverse=True)
        first = np.searchsorted(visits, np.arange(len(coders) + 1) * max(len(documents), 1))
        named = [
            texts.get(documents[d], "")[start:end].casefold()
            for d, (start, end) in zip(self._document, self._most_marked, strict=True)
        ]
        times = Counter(named)
        contexts: dict[Hashable, int] = {}
        context = [
            contexts.setdefault(text if text and times[text] > 1 else d, len(contexts))
            for d, text in zip(self._document, named, strict=True)
        ]
        return Groups(
            labels=self._labels, coders=coders, documents=documents,
            document=document, context=np.array(context, np.int32),
            answer_first=np.array(self._answer_first), coder=coder, visit=visit, visit_first=first,
            label=np.array(self._label_of, np.int32), shape=np.array(self._shape, np.int32),
            marks=tuple(self._marks), shapes=tuple(self._shapes),
            shape_first=np.array(self._shape_first),
            longest=np.array(self._longest, np.int32), other_labels=tuple(self._other_labels),
            log_shape=np.array(self._log_shape), log_nothing=np.array(self._log_nothing),
            log_other=np.array(self._log_other),
            known=np.array(self._known, np.int32),
            known_shape=np.array(self._known_shape, np.int32),
            nested=nested, notes=notes,
        )  # fmt: skip


def _label_chances(chances: AnyArray, said: Sequence[int]) -> float:
    """Fill in P(label) of a span, given the coders' labels; returns log P(labels)."""
    k = len(chances)
    if k == 1:
        return 0.0
    logs = np.full(k, -math.log(k))
    for label in said:
        other = np.full(k, math.log((1 - SAME_LABEL) / (k - 1)))
        other[label - 1] = math.log(SAME_LABEL)
        logs += other
    top = float(logs.max())
    chances[:] = np.exp(logs - top)
    total = float(chances.sum())
    chances /= total
    return top + math.log(total)
