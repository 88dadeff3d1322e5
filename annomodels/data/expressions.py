"""Positions of an expression: words of a document, with or without gaps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import index

from annomodels.errors import AnnotationError, Problem


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The words of an expression; expressions of two coders are the same if their words are.

    Parameters
    ----------
    tokens
        Positions of the words in the document, from 0, in any order; with a gap, the expression is
        discontinuous.

    Raises
    ------
    AnnotationError
        If there is no position, or a position is not a whole number of 0 or more.

    Examples
    --------
    >>> Span([7, 3, 4]), Span([7, 3, 4]).is_continuous, len(Span.between(2, 5))
    (Span(tokens=(3, 4, 7)), False, 4)
    """

    tokens: tuple[int, ...]

    def __post_init__(self) -> None:
        try:
            tokens = tuple(sorted({index(token) for token in self.tokens}))
        except TypeError:
            tokens = ()
        if not tokens or tokens[0] < 0:
            what = f"{self.tokens!r} are not positions of words."
            remedy = "Give at least one position, counted from 0, such as Span((3, 4))."
            raise AnnotationError(Problem(what, remedy=remedy))
        object.__setattr__(self, "tokens", tokens)

    @classmethod
    def between(cls, first: int, last: int) -> Span:
        """Return the span of all words from the first to the last, inclusive."""
        return cls(tuple(range(first, last + 1)))

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def start(self) -> int:
        """Position of the first word."""
        return self.tokens[0]

    @property
    def end(self) -> int:
        """Position of the last word."""
        return self.tokens[-1]

    @property
    def is_continuous(self) -> bool:
        """Return True if there is no gap."""
        return self.end - self.start + 1 == len(self.tokens)

    @property
    def name(self) -> str:
        """Positions in a short form: runs joined by "-", pieces by "+".

        Examples
        --------
        >>> Span((3, 4, 5, 8)).name
        '3-5+8'
        """
        pieces: list[list[int]] = []
        for token in self.tokens:
            if pieces and token == pieces[-1][-1] + 1:
                pieces[-1][1:] = [token]
            else:
                pieces.append([token])
        return "+".join("-".join(map(str, piece)) for piece in pieces)


Key = tuple[str, Span]
"""Key that names a markable across coders: its level and its words."""


@dataclass(frozen=True, slots=True)
class Markable:
    """Expression marked by a coder or in advance.

    Parameters
    ----------
    id
        Name within the layer of one coder; it is not used to compare coders.
    span
        Its words.
    level
        "phrase" for a mention. Other levels, such as "turn" or "segment", are for expressions that
        mentions can refer to but that are not mentions.
    head
        Position of the head word, or None.

    Raises
    ------
    AnnotationError
        If the head is not one of the words.
    """

    id: str
    span: Span
    level: str = "phrase"
    head: int | None = None

    def __post_init__(self) -> None:
        if self.head is not None and self.head not in self.span.tokens:
            what = f"The head of {self.id!r} is word {self.head}, which is not one of its words."
            remedy = f"Give one of {', '.join(map(str, self.span.tokens[:8]))}, or no head."
            raise AnnotationError(Problem(what, remedy=remedy))

    @property
    def key(self) -> Key:
        """Key of the markable, the same for all coders."""
        return self.level, self.span


def union(spans: Iterable[Span]) -> Span:
    """Return the union of several spans."""
    return Span(tuple({token for span in spans for token in span.tokens}))
