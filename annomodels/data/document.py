"""Document: a text with the layers of its coders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.data.expressions import Key, Span
from annomodels.data.html import Html
from annomodels.data.layers import Layer
from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, Problem

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Document(Html):
    """A text and the annotations of each coder.

    Parameters
    ----------
    id
        Name of the document.
    tokens
        Its words.
    sentence_starts
        Positions of the first words of sentences.
    genre
        Text type, or None.
    layers
        Layers by coder.
    notes
        Notes from reading.

    Raises
    ------
    AnnotationError
        If a span ends after the last word, or a layer is stored under the name of another coder;
        lists all problems.

    Examples
    --------
    >>> from annomodels.coref.building import document
    >>> text = document("trains", {"CA1": ["ABDGI", "CEF", "HJ"], "CA2": ["ABGI", "CDEF", "HJ"]},
    ...     letters=True)
    >>> text
    Document trains: 10 words, 2 coders, 10 mentions
    """

    id: str
    tokens: tuple[str, ...]
    sentence_starts: tuple[int, ...] = (0,)
    genre: str | None = None
    layers: Mapping[str, Layer] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tuple(self.tokens))
        object.__setattr__(self, "sentence_starts", tuple(self.sentence_starts))
        object.__setattr__(self, "layers", dict(self.layers))
        problems = list(_problems(self))
        if problems:
            raise AnnotationError(problems)

    @property
    def coders(self) -> tuple[str, ...]:
        """Names of the coders, sorted."""
        return tuple(sorted(self.layers))

    def coder_pairs(self) -> Iterator[tuple[str, str]]:
        """All pairs of coders."""
        return combinations(self.coders, 2)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """Mentions of all coders in the order of the text."""
        held = {key for layer in self.layers.values() for key in layer.mentions.values()}
        return tuple(sorted(held, key=lambda key: (key[1], key[0])))

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """Cluster of each mention of :attr:`keys` for each coder; -1 if the coder did not mark it.

        Shape [coder, mention].
        """
        out = np.full((len(self.layers), len(self.keys)), -1, dtype=np.int64)
        for row, coder in zip(out, self.coders, strict=True):
            held = self.layers[coder].cluster_of
            row[:] = [held.get(key, -1) for key in self.keys]
        return out

    def shared(self, *coders: str) -> tuple[Key, ...]:
        """Mentions that all given coders marked with exactly the same words.

        Parameters
        ----------
        coders
            Names of coders [default: all].
        """
        chosen = [self.layers[coder] for coder in coders or self.coders]
        marked = [set(layer.mentions.values()) for layer in chosen]
        return tuple(key for key in self.keys if all(key in one for one in marked))

    def text(self, span: Span) -> str:
        """Words of a span; "…" where words in between are left out."""
        out: list[str] = []
        for before, token in zip((span.start, *span.tokens), span.tokens, strict=False):
            out += ["…"] * (token > before + 1) + [self.tokens[token]]
        return " ".join(out)

    def unaligned(self) -> pd.DataFrame:
        """Mentions that some coders marked and others did not.

        Returns
        -------
        pandas.DataFrame
            One row per mention: `document`, `span`, `text`, `level`, the coders who `marked` it,
            and those whose layer is `missing` it.
        """
        import pandas as pd

        rows = []
        for level, span in self.keys:
            by = {c: (level, span) in layer.cluster_of for c, layer in self.layers.items()}
            if not all(by.values()):
                marked = [coder for coder in self.coders if by[coder]]
                missing = [coder for coder in self.coders if not by[coder]]
                text = self.text(span)
                rows.append(
                    (self.id, span.name, text, level, ", ".join(marked), ", ".join(missing))
                )
        columns = ["document", "span", "text", "level", "marked", "missing"]
        return pd.DataFrame(rows, columns=columns)

    def with_layers(self, layers: Mapping[str, Layer], notes: Iterable[str] = ()) -> Document:
        """Copy with these layers; the notes given are added."""
        return replace(self, layers=layers, notes=(*self.notes, *notes))

    def __repr__(self) -> str:
        numbers = (
            f"{len(self.tokens):,} words, {len(self.layers):,} coders, {len(self.keys):,} mentions"
        )
        return f"Document {self.id}: {numbers}"


Corpus = Document | Iterable[Document]


def documents_of(corpus: Corpus) -> Sequence[Document]:
    """Return the documents of a corpus, also of a single one."""
    found: list[object] = [corpus] if isinstance(corpus, Document) else list(corpus)
    others = [type(one).__name__ for one in found if not isinstance(one, Document)]
    names = [one.id for one in found if isinstance(one, Document)]
    problems = []
    if others:
        what = f"A Document was expected, but this is {others[0]!r}."
        remedy = "Use am.coref.read for files and am.coref.document for clusters in memory."
        problems.append(Problem(what, remedy=remedy))
    if not found:
        problems.append(Problem("No documents were given.", remedy="Give at least one."))
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        what = f"Documents have the same name: {some(twice)}."
        remedy = "Put all coders of a document into one Document, or rename it."
        problems.append(Problem(what, remedy=remedy))
    if problems:
        raise AnnotationError(problems)
    return [one for one in found if isinstance(one, Document)]


def _problems(document: Document) -> Iterator[Problem]:
    length = len(document.tokens)
    for name, layer in document.layers.items():
        where = f"document {document.id}, coder {name}"
        if name != layer.coder:
            remedy = "Give the layers by the names of their coders."
            yield Problem(f"The layer of {layer.coder!r} is filed under {name!r}.", where, remedy)
        beyond = [m for m in layer.markables.values() if m.span.end >= length]
        if beyond:
            one = beyond[0]
            what = (
                f"Beyond the last word: {counted(len(beyond), 'markable')}; {one.id!r} has word "
                f"{one.span.end}, but the words are 0 to {length - 1}."
            )
            yield Problem(what, where, "Check that text and markables belong together.")
