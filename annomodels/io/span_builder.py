"""Spans as people meet them: gathered from an export, and made into items when asked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from annomodels.data.annotations import Annotations, Scale
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Problem
from annomodels.io.source import Options
from annomodels.io.spans import Span, SpanTable
from annomodels.io.tables.columns import finished
from annomodels.io.units import columns_of_spans


@dataclass(frozen=True, eq=False, repr=False)
class Spans(SpanTable):
    """Stretches of text that coders marked, and chains of them.

    A span is no item, for two coders may mark different stretches: :meth:`units` makes items of
    them by a rule that you choose. Get it with :func:`annomodels.read_spans`.

    Parameters
    ----------
    spans
        The spans, in the order of documents, coders and places.
    seen
        Who worked on each document, also those who marked nothing in it.
    texts
        Text of each document, where it is known.
    tokens
        Start and end of each token of a document, where the export holds tokens.
    source
        Name of the file.
    notes
        What reading found worth saying.

    Examples
    --------
    >>> from annomodels.io.spans import Span
    >>> spans = Spans((Span("d", "ana", "NE", 0, 4, "PER"),), {"d": ("ana", "ben")})
    >>> spans
    1 span · 1 document · 2 coders
    >>> spans.table
      document coder question  start  end label chain
    0        d   ana       NE      0    4   PER
    """

    def units(
        self,
        by: str,
        *,
        question: str | None = None,
        labels: Sequence[Hashable] | None = None,
        scale: Scale = "nominal",
        sets: bool = False,
    ) -> Annotations:
        """Make items of the spans.

        Parameters
        ----------
        by
            "exact": every stretch that anybody marked, by its exact place. "token": every token.
            "overlap": every group of stretches that overlap. "chain": every mention, and its label
            is the set of the mentions in its chain.
        question
            Which layer and feature; not needed where there is one.
        labels, scale
            As for :func:`annomodels.read`.
        sets
            Whether labels are frozensets, for distances between sets such as MASI; else several
            labels, or the mentions of a chain, are joined to one text.

        Returns
        -------
        Annotations
            Items are named ``document:start-end``; the document is their group. A coder who worked
            on the document but gave no label there has the label ``(none)``, or the empty set.

        Raises
        ------
        AnnotationError
            When there is no such unit or question.

        Examples
        --------
        >>> from annomodels.io.spans import Span
        >>> marks = (Span("d", "ana", "NE", 0, 4, "PER"), Span("d", "ben", "NE", 0, 9, "PER"))
        >>> Spans(marks, {"d": ("ana", "ben")}).units("exact").to_frame()
            item coder   label
        0  d:0-4   ana     PER
        1  d:0-4   ben  (none)
        2  d:0-9   ana  (none)
        3  d:0-9   ben     PER
        """
        columns = columns_of_spans(self, by, Options(question=question, sets=sets))
        return finished(columns, self.source, labels, scale)


class SpanBuilder:
    """Gathers the spans of an export."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.notes: list[str] = []
        self._spans: dict[Span, None] = {}
        self._seen: dict[str, dict[str, None]] = {}
        self._texts: dict[str, str] = {}
        self._tokens: dict[str, Sequence[tuple[int, int]]] = {}
        self._wrong: list[str] = []

    def document(
        self, name: str, coder: str, text: str = "", tokens: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Note that a coder worked on a document."""
        self._seen.setdefault(name, {})[coder] = None
        if text and self._texts.setdefault(name, text) != text:
            self.note(f"The coders saw different texts of the document {name!r}.")
        if tokens:
            self._tokens.setdefault(name, tuple(tokens))

    def add(self, span: Span) -> None:
        """Take a span; one that is out of order is reported."""
        if 0 <= span.start <= span.end:
            self._spans[span] = None
        else:
            self._wrong.append(f"{span.document} {span.start}-{span.end}")

    @property
    def empty(self) -> bool:
        """Whether no span was taken yet."""
        return not self._spans

    def note(self, text: str) -> None:
        """Say something once."""
        if text not in self.notes:
            self.notes.append(text)

    def spans(self) -> Spans:
        """Give the spans."""
        if self._wrong:
            what = f"{counted(len(self._wrong), 'span')} that end before they begin."
            where = f"{self.source}, {', '.join(self._wrong[:5])}"
            raise AnnotationError(Problem(what, where, "Export the annotations again."))
        if not self._spans:
            what = "It contains no spans."
            remedy = "Export the annotations of all coders, in a format with spans."
            raise AnnotationError(Problem(what, self.source, remedy))
        ordered = sorted(
            self._spans, key=lambda s: (s.document, s.coder, s.question, s.start, s.end)
        )
        seen = {name: tuple(sorted(coders)) for name, coders in sorted(self._seen.items())}
        return Spans(
            tuple(ordered), seen, self._texts, self._tokens, self.source, tuple(self.notes)
        )
