"""Groups of overlapping marks; all marks of a coder in a group are one answer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from annomodels.data.validation import counted
from annomodels.errors import AnnotationError
from annomodels.io.span_builder import GOLD, NONE, MarkedSpan, Spans
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
    """Groups of overlapping marks as arrays."""

    labels: tuple[str, ...]  # labels have codes from 1, and 0 is "nothing"
    coders: tuple[str, ...]
    documents: tuple[str, ...]
    document: AnyArray  # document of each group
    # context of the class of each group: groups with the same text, or else of its document
    context: AnyArray
    answer_first: AnyArray  # first answer of each group, then the number of answers
    coder: AnyArray  # coder of each answer
    visit: AnyArray  # pair of coder and document of each answer
    visit_first: AnyArray  # first pair of each coder, then the number of pairs
    label: AnyArray  # label of the longest span of each answer, 0 for "nothing"
    shape: AnyArray  # candidate of each answer within its group, -1 for "nothing"
    marks: tuple[Sequence[Place], ...]  # of each group
    # borders of each candidate; the last candidate of a group is empty: unmarked borders
    shapes: tuple[Shape, ...]
    shape_first: AnyArray  # first candidate of each group, then the number of candidates
    longest: AnyArray  # longest span of each candidate
    other_labels: tuple[AnyArray | None, ...]  # P(label) of its spans; None if it has one span
    # log probability of the labels of all spans except the longest: for each candidate, and for
    # "nothing" in each group
    log_shape: AnyArray
    log_nothing: AnyArray
    log_other: AnyArray  # log probability of each wrong border in a group
    known: AnyArray  # class and candidate of each group if its truth is known, else -1
    known_shape: AnyArray
    nested: bool  # whether spans of the layer may be nested
    notes: tuple[str, ...] = ()  # sentences about omitted spans

    def __len__(self) -> int:
        return len(self.document)

    @cached_property
    def of_answer(self) -> AnyArray:
        """Group of each answer."""
        return np.repeat(np.arange(len(self)), np.diff(self.answer_first))

    @cached_property
    def votes(self) -> AnyArray:
        """Number of answers with each class, [group, class]."""
        classes = len(self.labels) + 1
        cells = self.of_answer * classes + self.label
        return np.bincount(cells, minlength=len(self) * classes).reshape(-1, classes)


def groups_of(
    spans: Spans,
    question: str | None = None,
    *,
    nested: bool | None = None,
    decisions: Iterable[MarkedSpan] = (),
) -> Groups:
    """Form the groups of one layer; those that overlap a decision have a known truth.

    The label of a decision is ``(none)`` or empty for "no span is here".
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
    decided: dict[str, list[MarkedSpan]] = {}
    for span in decisions:
        decided.setdefault(span.document, []).append(span)
    decided_labels = {s.label for found in decided.values() for s in found} - {NONE, ""}
    labels = tuple(sorted({span.label for span in marks} | decided_labels))
    by_document: dict[str, list[MarkedSpan]] = {name: [] for name in sorted(spans.seen)}
    for span in marks:
        by_document.setdefault(span.document, []).append(span)
    code = {name: n + 1 for n, name in enumerate(labels)}
    found: list[_Group] = []
    for place, (name, own) in enumerate(by_document.items()):
        seen = sorted(set(spans.seen.get(name, ())) - {GOLD})
        expert = decided.get(name, [])
        curated = GOLD in spans.seen.get(name, ())
        places = [(s.start, s.end, s.coder, s.label) for s in own]
        places += [(s.start, s.end, GOLD, s.label) for s in expert if s.label not in ("", NONE)]
        touched = None if curated else [(s.start, s.end) for s in expert]
        parts = _nested_parts(places) if nested else overlapping(places)
        found += [_group(place, part, seen, touched, code) for part in parts]
    names = labels, coders, tuple(by_document)
    return _coded(found, names, spans.texts, nested, tuple(notes))


def _is_nested(marks: Sequence[MarkedSpan]) -> bool:
    _, dropped = _flat([span for span in marks if span.coder != GOLD])
    return dropped >= max(NESTED * len(marks), 2)


def _flat(marks: Sequence[MarkedSpan]) -> tuple[list[MarkedSpan], int]:
    """Drop spans that overlap a longer span of the same coder; returns the rest and a count."""
    by_layer: dict[tuple[str, str], list[MarkedSpan]] = {}
    for span in marks:
        by_layer.setdefault((span.document, span.coder), []).append(span)
    out: list[MarkedSpan] = []
    for found in by_layer.values():
        found.sort(key=lambda span: (span.start, -span.end, span.label))
        if all(a.end <= b.start for a, b in pairwise(found)):
            out += found
            continue
        kept: list[MarkedSpan] = []
        for span in sorted(found, key=lambda span: (span.start - span.end, span.start)):
            if all(span.end <= other.start or other.end <= span.start for other in kept):
                kept.append(span)
        out += sorted(kept, key=lambda span: span.start)
    return out, len(marks) - len(out)


def overlapping(places: list[Place]) -> Iterable[list[Place]]:
    """Yield the places of each stretch of text that overlapping places cover."""
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
    for part in overlapping(places):
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


class _Candidate(NamedTuple):
    borders: Shape
    longest: int
    other_labels: AnyArray | None
    log_p: float


class _Group(NamedTuple):
    document: int
    marks: Sequence[Place]
    answers: list[tuple[str, int, int]]  # coder, label of the longest span, candidate
    candidates: list[_Candidate]
    log_nothing: float
    log_other: float
    known: int
    known_shape: int

    @property
    def most_marked(self) -> tuple[int, int]:
        votes = Counter((start, end) for start, end, _, _ in self.marks)
        return max(votes, key=lambda place: (votes[place], place))


def _group(
    document: int,
    part: Sequence[Place],
    seen: Sequence[str],
    touched: Sequence[tuple[int, int]] | None,
    code: Mapping[str, int],
) -> _Group:
    """Make a group; `touched` lists the places that an expert decided, None for all places."""
    pieces: dict[str, list[Piece]] = {}
    for start, end, coder, label in part:
        pieces.setdefault(coder, []).append((start, end, label))
    shapes = sorted({tuple(p[:2] for p in own) for own in pieces.values()})
    longest = [max(range(len(s)), key=lambda n: (s[n][1] - s[n][0], -n)) for s in shapes]
    said = {
        coder: (shapes.index(tuple(p[:2] for p in own)), [code[p[2]] for p in own])
        for coder, own in pieces.items()
    }

    def answer(coder: str) -> tuple[int, int]:
        """Return the label of the longest span of a coder, and the candidate."""
        if coder not in said:
            return 0, -1
        shape, labels = said[coder]
        return labels[longest[shape]], shape

    given = [said[coder] for coder in seen if coder in said]
    several = sum(len(labels) - 1 for _, labels in given)
    uniform = -math.log(len(code))
    others = max(OTHER_BORDERS, len(shapes))
    candidates = []
    for n, shape in enumerate(shapes):
        value, chances = several * uniform, None
        if len(shape) > 1:
            same = [labels for s, labels in given if s == n]
            value -= len(same) * (len(shape) - 1) * uniform
            chances = np.full((len(shape), len(code)), 1 / len(code))
            for piece in range(len(shape)):
                if piece != longest[n]:
                    value += _label_chances(chances[piece], [labels[piece] for labels in same])
        candidates.append(_Candidate(shape, longest[n], chances, value - math.log(others + 1)))
    unmarked = several * uniform + math.log((others + 1 - len(shapes)) / (others + 1))
    first, last = min(p[0] for p in part), max(p[1] for p in part)
    decided = touched is None or any(a < last and first < b for a, b in touched)
    known, known_shape = answer(GOLD)
    return _Group(
        document,
        part,
        [(coder, *answer(coder)) for coder in seen],
        [*candidates, _Candidate((), 0, None, unmarked)],
        several * uniform - len(given) * math.log(others + 1),
        -math.log(others),
        known if decided else -1,
        known_shape,
    )


def _coded(
    found: Sequence[_Group],
    names: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]],
    texts: Mapping[str, str],
    nested: bool,
    notes: tuple[str, ...],
) -> Groups:
    labels, coders, documents = names
    place = {name: n for n, name in enumerate(coders)}
    rows = [(place[who], label, shape) for group in found for who, label, shape in group.answers]
    coder, label, shape = np.array(rows, np.int32).reshape(-1, 3).T.copy()
    candidates = [each for group in found for each in group.candidates]
    document = np.array([group.document for group in found], np.int32)
    answers = np.array([len(group.answers) for group in found])
    pairs = coder.astype(np.int64) * max(len(documents), 1) + np.repeat(document, answers)
    visits, visit = np.unique(pairs, return_inverse=True)
    first = np.searchsorted(visits, np.arange(len(coders) + 1) * max(len(documents), 1))
    marked = [(documents[group.document], group.most_marked) for group in found]
    named = [texts.get(name, "")[start:end].casefold() for name, (start, end) in marked]
    times = Counter(named)
    contexts: dict[Hashable, int] = {}
    context = [
        contexts.setdefault(text if text and times[text] > 1 else group.document, len(contexts))
        for group, text in zip(found, named, strict=True)
    ]
    sizes = [len(group.candidates) for group in found]
    return Groups(
        labels=labels, coders=coders, documents=documents,
        document=document, context=np.array(context, np.int32),
        answer_first=np.append(0, np.cumsum(answers)),
        coder=coder, visit=visit, visit_first=first, label=label, shape=shape,
        marks=tuple(group.marks for group in found),
        shapes=tuple(each.borders for each in candidates),
        shape_first=np.append(0, np.cumsum(sizes)),
        longest=np.array([each.longest for each in candidates], np.int32),
        other_labels=tuple(each.other_labels for each in candidates),
        log_shape=np.array([each.log_p for each in candidates]),
        log_nothing=np.array([group.log_nothing for group in found]),
        log_other=np.array([group.log_other for group in found]),
        known=np.array([group.known for group in found], np.int32),
        known_shape=np.array([group.known_shape for group in found], np.int32),
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
