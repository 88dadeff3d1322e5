"""Rules that make items of spans, so that labels can be compared; the user chooses one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.source import Options
from annomodels.io.spans import GOLD, Span, SpanTable
from annomodels.io.tables.columns import Columns

NONE = "(none)"
_WORD = re.compile(r"\w+|[^\w\s]")

Places = list[tuple[int, int]]


def _exact(spans: Sequence[Span], document: str, _: SpanTable) -> Places:
    return sorted({(span.start, span.end) for span in spans})


def _tokens(spans: Sequence[Span], document: str, every: SpanTable) -> Places:
    known = every.tokens.get(document)
    if known:
        return list(known)
    text = every.texts.get(document, "")
    if not text:
        what = f"The text of the document {document!r} is not in the export."
        remedy = (
            f"Use {Option('units', 'exact')} or {Option('units', 'overlap')}, or add the texts."
        )
        raise AnnotationError(Problem(what, every.source, remedy))
    return [found.span() for found in _WORD.finditer(text)]


def _overlapping(spans: Sequence[Span], document: str, _: SpanTable) -> Places:
    groups: Places = []
    for start, end in _exact(spans, document, _):
        if groups and start < groups[-1][1]:
            groups[-1] = (groups[-1][0], max(end, groups[-1][1]))
        else:
            groups.append((start, end))
    return groups


def _same(span: Span, place: tuple[int, int]) -> bool:
    return (span.start, span.end) == place


def _touching(span: Span, place: tuple[int, int]) -> bool:
    return (span.start < place[1] and place[0] < span.end) or _same(span, place)


Rule = tuple[Callable[[Sequence[Span], str, SpanTable], Places], Callable[..., bool], str]
UNITS: dict[str, Rule] = {
    "exact": (_exact, _same, "every stretch that anybody marked, by its exact place"),
    "token": (_tokens, _touching, "every token of the text"),
    "overlap": (_overlapping, _touching, "every group of stretches that overlap"),
    "chain": (_exact, _same, "every mention; its label is the set of mentions in its chain"),
}


def described() -> str:
    """Name the rules."""
    return "; ".join(f"{name!r}: {rule[2]}" for name, rule in UNITS.items()) + "."


def columns_of_spans(spans: SpanTable, by: str, options: Options) -> Columns:
    """Items and labels of spans by one of the rules in ``UNITS``."""
    if by not in UNITS:
        what = f"There is no unit {by!r}."
        return Columns(problems=[Problem(what, spans.source, described())])
    if options.every:
        each = {
            name: partial(columns_of_spans, spans, by, replace(options, question=name, every=False))
            for name in spans.questions
        }
        return Columns(parts=each)
    try:
        chosen = spans.of(options.question)
        if by == "chain":
            chosen = tuple(span for span in chosen if span.chain)
            if not chosen:
                what = "The spans belong to no chains."
                problem = Problem(what, spans.source, "Choose another unit or question.")
                raise AnnotationError(problem)
        return _columns(spans, chosen, by, options)
    except AnnotationError as error:
        return Columns(problems=list(error.problems))


def _columns(spans: SpanTable, chosen: Sequence[Span], by: str, options: Options) -> Columns:
    places_of, matches, words = UNITS[by]
    in_document: dict[str, list[Span]] = {name: [] for name in spans.seen}
    for span in chosen:
        in_document.setdefault(span.document, []).append(span)
    chain_sets = _chains(chosen) if by == "chain" else {}
    out = Columns(gold={}, group={}, texts={})
    several, joiner = 0, "|" if by == "chain" else "+"
    items, coders, labels = [], [], []
    for document, found in in_document.items():
        if not found and by != "token":
            continue
        by_coder = {
            coder: _Lookup(span for span in found if span.coder == coder)
            for coder in spans.seen.get(document, ())
        }
        text = spans.texts.get(document, "")
        for place in places_of(found, document, spans):
            name = f"{document}:{place[0]}-{place[1]}"
            out.group[name] = document  # type: ignore[index]
            out.texts[name] = text[place[0] : place[1]]  # type: ignore[index]
            for coder, lookup in by_coder.items():
                hits = [span for span in lookup.near(place) if matches(span, place)]
                several += len({span.label for span in hits}) > 1
                names = (
                    _in_chains(hits, chain_sets) if by == "chain" else {span.label for span in hits}
                )
                label = frozenset(names) if options.sets else joiner.join(sorted(names)) or NONE
                if coder == GOLD:
                    out.gold[name] = label  # type: ignore[index]
                else:
                    items.append(name)
                    coders.append(coder)
                    labels.append(label)
    out.items, out.coders, out.labels = items, coders, labels
    out.rows = range(1, len(items) + 1)
    out.gold = out.gold or None
    out.notes = [*spans.notes, f"Units: {words}. A coder without a label there gave {NONE!r}."]
    if by == "token" and not spans.tokens:
        out.notes.append("The export holds no tokens; words and punctuation signs are the tokens.")
    if several and by != "chain" and not options.sets:
        out.notes.append(f"{counted(several, 'unit')} with several labels of a coder, joined by +.")
    return out


class _Lookup:
    """Spans of one coder in a document by their place, to find those near a unit quickly."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = sorted(spans, key=lambda span: span.start)
        self._longest = max((span.end - span.start for span in self._spans), default=0)
        self._starts = [span.start for span in self._spans]

    def near(self, place: tuple[int, int]) -> Sequence[Span]:
        from bisect import bisect_left, bisect_right

        first = bisect_left(self._starts, place[0] - self._longest)
        return self._spans[first : bisect_right(self._starts, max(place))]


def _chains(spans: Sequence[Span]) -> dict[tuple[str, str, str], frozenset[str]]:
    """Places of the mentions of each chain of a document and coder."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for span in spans:
        key = (span.document, span.coder, span.chain)
        found.setdefault(key, set()).add(f"{span.start}-{span.end}")
    return {key: frozenset(places) for key, places in found.items()}


def _in_chains(
    spans: Sequence[Span], chains: dict[tuple[str, str, str], frozenset[str]]
) -> frozenset[str]:
    """Mentions of the chains that a mention belongs to; empty where it was not marked."""
    sets = [chains[span.document, span.coder, span.chain] for span in spans]
    return frozenset().union(*sets)
