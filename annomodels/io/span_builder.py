"""Marked spans of text and their chains, turned into items on request."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from annomodels.data.annotations import Annotations, Scale
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Option, Problem, raise_all
from annomodels.io.tables.columns import Columns, Part, finished
from annomodels.io.tables.questions import choose_question

if TYPE_CHECKING:
    import pandas as pd


GOLD = ""  # coder name of the curated version


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """Span of text that a coder marked."""

    document: str
    coder: str
    question: str
    start: int
    end: int
    label: str
    chain: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Spans:
    """Spans of text that coders marked, and their chains.

    A span is not an item, because two coders may mark different spans: :meth:`units` makes items
    by a rule that you choose. Read spans with :func:`annomodels.read_spans`.

    Parameters
    ----------
    spans
        The spans, sorted by document, coder and position.
    seen
        Coders who read each document, including coders who marked nothing.
    texts
        Text of each document, if known.
    tokens
        Start and end of each token of a document, if the export has tokens.
    source
        Name of the file.
    notes
        Notes from reading the file.
    attributes
        Questions that describe the marks of another question, such as brat attributes.

    Examples
    --------
    >>> from annomodels.io.span_builder import MarkedSpan
    >>> spans = Spans((MarkedSpan("d", "ana", "NE", 0, 4, "PER"),), {"d": ("ana", "ben")})
    >>> spans
    1 span · 1 document · 2 coders
    >>> spans.table
      document coder question  start  end label chain
    0        d   ana       NE      0    4   PER
    """

    spans: tuple[MarkedSpan, ...]
    seen: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, str] = field(default_factory=dict)
    tokens: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    source: str = ""
    notes: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def coders(self) -> tuple[str, ...]:
        """Names of the coders, without the curated version."""
        return tuple(sorted({name for names in self.seen.values() for name in names} - {GOLD}))

    @property
    def questions(self) -> dict[str, int]:
        """Layers and features, with the number of their spans."""
        return dict(Counter(span.question for span in self.spans if span.coder != GOLD))

    @property
    def table(self) -> pd.DataFrame:
        """One row per span: document, coder, question, start, end, label, chain."""
        import pandas as pd

        names = ("document", "coder", "question", "start", "end", "label", "chain")
        columns = {name: [getattr(span, name) for span in self.spans] for name in names}
        return pd.DataFrame(columns, columns=list(names))

    def of(self, question: str | None) -> tuple[MarkedSpan, ...]:
        """Return the spans of one question."""
        found = self._asked(question)
        return tuple(span for span in self.spans if span.question == found)

    def _asked(self, question: str | None, counts: Mapping[str, int] | None = None) -> str | None:
        known = self.questions if counts is None else counts
        found, problems = choose_question(known, question, self.source, "span")
        raise_all(problems)
        return None if found is None else str(found)

    def only(self, question: str | None = None) -> Spans:
        """Return the spans of one layer, with notes on what is left out.

        Parameters
        ----------
        question
            Layer and feature; optional if there is only one besides attributes.

        Examples
        --------
        >>> from annomodels.io.span_builder import MarkedSpan
        >>> layers = ("type", "PER"), ("Sure", "yes")
        >>> marks = tuple(MarkedSpan("d", "ana", layer, 0, 4, label) for layer, label in layers)
        >>> spans = Spans(marks, {"d": ("ana",)}, attributes=("Sure",)).only()
        >>> len(spans.spans), spans.notes
        (1, ('Attributes are kept in your project and not modeled: Sure (1).',))
        """
        counts = self.questions or dict(Counter(span.question for span in self.spans))
        layers = {n: many for n, many in counts.items() if n not in self.attributes}
        offered = counts if question in self.attributes else layers or counts
        asked = self._asked(question, offered)
        kept = tuple(span for span in self.spans if span.question == asked)
        left = [f"{n} ({counts[n]:,})" for n in self.attributes if n in counts]
        told = f"Attributes are kept in your project and not modeled: {', '.join(left)}."
        notes = self.notes + (told,) * bool(left and asked not in self.attributes)
        return replace(self, spans=kept, notes=notes, attributes=())

    def units(
        self,
        by: str,
        *,
        question: str | None = None,
        labels: Sequence[Hashable] | None = None,
        scale: Scale = "nominal",
        sets: bool = False,
    ) -> Annotations:
        """Turn the spans into items.

        Parameters
        ----------
        by
            "exact": each distinct span. "token": each token. "overlap": each group of overlapping
            spans. "chain": each mention, labeled with the set of mentions in its chain.
        question
            Layer and feature; optional if there is only one.
        labels, scale
            As for :func:`annomodels.read`.
        sets
            Whether labels are frozensets, for set distances such as MASI. Otherwise several
            labels, or the mentions of a chain, are joined into one string.

        Returns
        -------
        Annotations
            Items are named ``document:start-end``; the document is their group. A coder who read
            the document but marked nothing there has the label ``(none)``, or the empty set.

        Raises
        ------
        AnnotationError
            If the unit or question does not exist.

        Examples
        --------
        >>> from annomodels.io.span_builder import MarkedSpan
        >>> ends = ("ana", 4), ("ben", 9)
        >>> marks = tuple(MarkedSpan("d", coder, "NE", 0, end, "PER") for coder, end in ends)
        >>> Spans(marks, {"d": ("ana", "ben")}).units("exact").to_frame()
            item coder   label
        0  d:0-4   ana     PER
        1  d:0-4   ben  (none)
        2  d:0-9   ana  (none)
        3  d:0-9   ben     PER
        """
        parts = parts_of_spans(self, by, sets)
        asked = self._asked(question)
        return finished(Columns() if asked is None else parts[asked](), self.source, labels, scale)

    def __repr__(self) -> str:
        sizes = [(len(self.spans), "span"), (len(self.seen), "document"), (len(self.coders), "")]
        parts = [counted(*size) for size in sizes[:2]] + [counted(len(self.coders), "coder")]
        chains = {(s.document, s.coder, s.question, s.chain) for s in self.spans if s.chain}
        if chains:
            parts.append(counted(len(chains), "chain"))
        return " · ".join(parts)


def utf_16(sign: str) -> int:
    """Return the number of UTF-16 units of a character."""
    return 1 + (sign > "\uffff")


def utf_8(sign: str) -> int:
    return len(sign.encode("utf-8", "surrogatepass"))


def to_code_points(text: str, units: Callable[[str], int] = utf_16) -> list[int]:
    """Return the code point position of each unit of a text, end included."""
    return [*(n for n, sign in enumerate(text) for _ in range(units(sign))), len(text)]


Quote = tuple[MarkedSpan, str]  # a span, and its words as quoted in the export
_UNITS_OF_TEXT = {"UTF-16 units": utf_16, "bytes of UTF-8": utf_8}


def in_code_points(
    spans: Sequence[MarkedSpan], texts: Mapping[str, str], quotes: Sequence[Quote]
) -> tuple[list[MarkedSpan], list[str]]:
    """Return the spans with offsets in code points, and notes on the original unit.

    The words that the export quotes reveal the unit. ASCII texts need no conversion.
    """

    def quoted(span: MarkedSpan, words: str, table: Sequence[int] | None) -> bool:
        start, end = span.start, span.end
        if table is not None:
            if end >= len(table):
                return False
            start, end = table[start], table[end]
        if end > len(texts[span.document]):
            return False
        return texts[span.document][start:end].split() == words.split()

    known = [(span, words) for span, words in quotes if span.document in texts]
    off = [(span, words) for span, words in known if not quoted(span, words, None)]
    if not off:
        return list(spans), []
    right = {"": len(known) - len(off)}
    tables: dict[str, dict[str, list[int]]] = {}
    for unit, size in _UNITS_OF_TEXT.items():
        named = {span.document for span in spans if not texts.get(span.document, "").isascii()}
        tables[unit] = {name: to_code_points(texts[name], size) for name in named}
        right[unit] = sum(quoted(s, words, tables[unit].get(s.document)) for s, words in known)
    best = max(right, key=lambda unit: right[unit])
    if not best:
        first, words = off[0]
        there = texts[first.document][first.start : first.end]
        told = (
            f"{counted(len(off), 'mark')} of {len(known):,} with quoted words that differ from the "
            f"text at the same place: first {words[:30]!r} at {first.document} "
            f"{first.start}-{first.end}, where the text has {there[:30]!r}."
        )
        return list(spans), [told]

    def moved(span: MarkedSpan) -> MarkedSpan:
        table = tables[best].get(span.document)
        if table is None or span.end >= len(table):
            return span
        return replace(span, start=table[span.start], end=table[span.end])

    told = f"The offsets count {best}, as the quoted words show; they are read as characters."
    return list(dict.fromkeys(map(moved, spans))), [told]


_LEFT_EMPTY = 3  # minimum documents that only others marked, and
_SHARE_EMPTY = 0.5  # minimum proportion of a coder's documents, to ask who read them


def who_read(
    spans: Sequence[MarkedSpan],
    seen: Mapping[str, tuple[str, ...]],
    said: str | None,
    is_listed: bool,
    source: str,
) -> tuple[Mapping[str, tuple[str, ...]], list[Problem]]:
    """Return who read each document; a problem if it is unclear whether an unmarked one was read.

    `said` is "all" if coders read all documents that list them (in a table, all documents), and
    "marked" if they read only documents with their marks. With `is_listed`, the export lists
    readers without marks.
    """
    marked = {(span.document, span.coder) for span in spans}
    people = sorted({coder for names in seen.values() for coder in names})
    if said == "marked":
        return {
            name: kept for name, names in seen.items()
            if (kept := tuple(one for one in names if (name, one) in marked))
        }, []  # fmt: skip
    empty = {(name, one) for name, names in seen.items() for one in names} - marked
    ways = (
        f"{Option('seen', 'all')} if these documents were read and contain nothing to mark, "
        f"{Option('seen', 'marked')} if they were never read"
    )
    if not is_listed and not empty:
        lacking = [(name, one) for name in seen for one in people if one not in seen[name]]
        if said == "all":
            return dict.fromkeys(seen, tuple(people)), []
        if lacking:
            what = (
                f"{len(lacking):,} of {len(seen) * len(people):,} pairs of document and coder have "
                f"no mark, such as {lacking[0][0]!r} by {lacking[0][1]!r}, and the file does not "
                "show who read the document without marking anything."
            )
            remedy = (
                f"Use {ways}. If both occur, add a row with empty start and end for each document "
                "that a coder read without marking anything."
            )
            return seen, [Problem(what, source, remedy, code="seen-or-not")]
        return seen, []
    if said is not None or not is_listed:
        return seen, []
    asked = []
    for coder in people:
        own = [name for name in seen if coder in seen[name]]
        left = [
            name for name in own
            if (name, coder) in empty and any((name, other) in marked for other in seen[name])
        ]  # fmt: skip
        if len(left) >= max(_LEFT_EMPTY, _SHARE_EMPTY * len(own)):
            asked.append(f"{coder or 'the curated version'} ({len(left):,} of {len(own):,})")
    if not asked:
        return seen, []
    what = (
        f"Documents that others marked have no mark by {', '.join(asked)}: were they not read, or "
        "was nothing found?"
    )
    return seen, [Problem(what, source, f"Use {ways}.", code="seen-or-not")]


# -- rules that turn spans into items ----------------------------------------------------------

NONE = "(none)"
WORD = re.compile(r"\w+|[^\w\s]")

Places = list[tuple[int, int]]


def _exact(spans: Sequence[MarkedSpan], document: str, _: Spans) -> Places:
    return sorted({(span.start, span.end) for span in spans})


def _tokens(spans: Sequence[MarkedSpan], document: str, every: Spans) -> Places:
    known = every.tokens.get(document)
    if known:
        return list(known)
    text = every.texts.get(document, "")
    if not text:
        what = f"The text of the document {document!r} is not in the export."
        remedy = (
            f"Use {Option('units', 'exact')} or {Option('units', 'overlap')}, or add the texts."
        )
        raise AnnotationError(what, every.source, remedy)
    return [found.span() for found in WORD.finditer(text)]


def _overlapping(spans: Sequence[MarkedSpan], document: str, _: Spans) -> Places:
    groups: Places = []
    for start, end in _exact(spans, document, _):
        if groups and start < groups[-1][1]:
            groups[-1] = (groups[-1][0], max(end, groups[-1][1]))
        else:
            groups.append((start, end))
    return groups


def _same(span: MarkedSpan, place: tuple[int, int]) -> bool:
    return (span.start, span.end) == place


def _touching(span: MarkedSpan, place: tuple[int, int]) -> bool:
    return (span.start < place[1] and place[0] < span.end) or _same(span, place)


Rule = tuple[Callable[[Sequence[MarkedSpan], str, Spans], Places], Callable[..., bool], str]
UNITS: dict[str, Rule] = {
    "exact": (_exact, _same, "every stretch that anybody marked, by its exact place"),
    "token": (_tokens, _touching, "every token of the text"),
    "overlap": (_overlapping, _touching, "every group of stretches that overlap"),
    "chain": (_exact, _same, "every mention; its label is the set of mentions in its chain"),
}


def described() -> str:
    return "; ".join(f"{name!r}: {rule[2]}" for name, rule in UNITS.items()) + "."


def parts_of_spans(spans: Spans, by: str, sets: bool) -> dict[str, Part]:
    if by not in UNITS:
        raise AnnotationError(f"Unknown unit {by!r}.", spans.source, described())
    return {name: partial(_columns, spans, name, by, sets) for name in spans.questions}


def _columns(spans: Spans, question: str, by: str, sets: bool) -> Columns:
    chosen = [s for s in spans.spans if s.question == question and (by != "chain" or s.chain)]
    if not chosen:
        what = "The spans belong to no chains."
        return Columns(problems=[Problem(what, spans.source, "Choose another unit or question.")])
    places_of, matches, words = UNITS[by]
    in_document: dict[str, list[MarkedSpan]] = {name: [] for name in spans.seen}
    for span in chosen:
        in_document.setdefault(span.document, []).append(span)
    chain_sets = _chains(chosen) if by == "chain" else {}
    texts: dict[str, str] | None = {} if any(spans.texts.values()) else None
    out = Columns(gold={}, group={}, texts=texts)
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
            if texts is not None:
                texts[name] = text[place[0] : place[1]]
            for coder, lookup in by_coder.items():
                hits = [span for span in lookup.near(place) if matches(span, place)]
                several += len({span.label for span in hits}) > 1
                # mentions in its chains; empty if it was not marked
                given = [
                    chain_sets[span.document, span.coder, span.chain] if by == "chain"
                    else {span.label} for span in hits
                ]  # fmt: skip
                names = set[str]().union(*given)
                label = frozenset(names) if sets else joiner.join(sorted(names)) or NONE
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
    if several and by != "chain" and not sets:
        out.notes.append(f"{counted(several, 'unit')} with several labels of a coder, joined by +.")
    return out


class _Lookup:
    """Index of one coder's spans in a document, to find those near a unit."""

    def __init__(self, spans: Iterable[MarkedSpan]) -> None:
        self._spans = sorted(spans, key=lambda span: span.start)
        self._longest = max((span.end - span.start for span in self._spans), default=0)
        self._starts = [span.start for span in self._spans]

    def near(self, place: tuple[int, int]) -> Sequence[MarkedSpan]:
        first = bisect_left(self._starts, place[0] - self._longest)
        return self._spans[first : bisect_right(self._starts, max(place))]


def _chains(spans: Sequence[MarkedSpan]) -> dict[tuple[str, str, str], frozenset[str]]:
    found: dict[tuple[str, str, str], set[str]] = {}
    for span in spans:
        key = (span.document, span.coder, span.chain)
        found.setdefault(key, set()).add(f"{span.start}-{span.end}")
    return {key: frozenset(places) for key, places in found.items()}
