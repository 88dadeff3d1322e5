"""Marked stretches of text and chains of them, before anything is said about units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from annomodels.data.validation import counted
from annomodels.errors import AnnotationError
from annomodels.io.tables.questions import choose_question

if TYPE_CHECKING:
    import pandas as pd


GOLD = ""  # the coder of a curated, final version


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch of text that one coder marked."""

    document: str
    coder: str
    question: str
    start: int
    end: int
    label: str
    chain: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class SpanTable:
    """Fields of :class:`annomodels.io.span_builder.Spans` (see there), and tables made of them."""

    spans: tuple[Span, ...]
    seen: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, str] = field(default_factory=dict)
    tokens: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    source: str = ""
    notes: tuple[str, ...] = ()

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

    @property
    def chains(self) -> pd.DataFrame:
        """The rows of :attr:`table` that belong to a chain."""
        table = self.table
        return table[table["chain"] != ""].reset_index(drop=True)

    def of(self, question: str | None) -> tuple[Span, ...]:
        """Spans of one question."""
        found, problems = choose_question(self.questions, question, self.source, "span")
        if problems:
            raise AnnotationError(problems)
        return tuple(span for span in self.spans if span.question == found)

    def __repr__(self) -> str:
        sizes = [(len(self.spans), "span"), (len(self.seen), "document"), (len(self.coders), "")]
        parts = [counted(*size) for size in sizes[:2]] + [counted(len(self.coders), "coder")]
        chains = {(s.document, s.coder, s.question, s.chain) for s in self.spans if s.chain}
        if chains:
            parts.append(counted(len(chains), "chain"))
        return " · ".join(parts)


def to_code_points(text: str) -> list[int]:
    """Place in code points of each UTF-16 unit of a text, the end included."""
    places: list[int] = []
    for place, sign in enumerate(text):
        places += [place] * (2 if sign > "\uffff" else 1)
    return [*places, len(text)]
