"""Antecedents as stretches of text: the set of their words, or where they begin and end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from annomodels.coefficients.result import Agreement
from annomodels.coefficients.sets import Empty, size_distance
from annomodels.coref.agreements import result
from annomodels.coref.alphas import disagreement
from annomodels.coref.conditions import errors_of
from annomodels.coref.setlabels import LabelBuilder, SetLabels
from annomodels.data.annotations import Annotations
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.expressions import Key, Span, union
from annomodels.errors import AnnotationError, NotApplicable, Problem

Edge = Literal["begin", "end"]


def antecedent_agreement(
    corpus: Corpus, distance: str = "passonneau", *, empty: Empty = "subset"
) -> Agreement:
    """Alpha on antecedents as sets of words (Artstein and Poesio 2006).

    Parameters
    ----------
    corpus
        A document or several. The label of an expression is the set of all words of its
        antecedents; expressions without any have no label.
    distance, empty
        See :func:`set_distance`.

    Raises
    ------
    NotApplicable
        When there is no such distance.
    AnnotationError
        When the corpus holds no document.

    Examples
    --------
    >>> from annomodels.coref import document_of_judgments
    >>> kinds = {"a": "none", "b": "none", "it": "phrase", "its": "phrase"}
    >>> said = {"ana": {"it": ["a"], "its": ["b"]}, "ben": {"it": [{"a", "b"}], "its": ["b"]}}
    >>> coders = {who: (kinds, pointers) for who, pointers in said.items()}
    >>> text = document_of_judgments("t", coders, order=list(kinds))
    >>> antecedent_agreement(text, "jaccard").observed
    0.25
    """
    documents = documents_of(corpus)
    coders = len({coder for document in documents for coder in document.layers})
    parts = [_words(document) for document in documents]
    found = disagreement(parts, size_distance(distance, empty))
    return result(found, "alpha", distance, coders, "words of the antecedents")


def antecedent_positions(
    corpus: Corpus, edge: Edge = "begin", *, relative: bool = False
) -> Annotations:
    """Positions at which antecedents begin or end, on an interval scale.

    Positions of different expressions lie so far apart that alpha of absolute positions is near 1
    whatever the coders do; relative positions count from the expression itself (Carpenter and
    Poesio 2010).

    Parameters
    ----------
    corpus
        A document or several; positions are word numbers within a document.
    edge
        "begin" or "end".
    relative
        Whether to count from the first word of the expression.

    Returns
    -------
    Annotations
        One item for each expression; give it to ``am.agreement(..., "alpha")``.

    Raises
    ------
    NotApplicable
        When `edge` is neither "begin" nor "end".
    AnnotationError
        When no expression has an antecedent.

    Examples
    --------
    >>> import annomodels as am
    >>> kinds = {"a": "none", "b": "none", "it": "phrase", "its": "phrase"}
    >>> said = {"ana": {"it": ["a"], "its": ["b"]}, "ben": {"it": ["b"], "its": ["b"]}}
    >>> coders = {who: (kinds, pointers) for who, pointers in said.items()}
    >>> text = am.coref.document_of_judgments("t", coders, order=list(kinds))
    >>> antecedent_positions(text, "end").labels
    (0, 1)
    """
    if edge not in ("begin", "end"):
        raise NotApplicable(f"edge={edge!r} is unknown. Use 'begin' or 'end'.")
    rows = []
    for document in documents_of(corpus):
        for key, coder, words in _spans(document):
            position = words.start if edge == "begin" else words.end
            position -= key[1].start if relative else 0
            rows.append((f"{document.id}#{key[1].name}", coder, position))
    if not rows:
        what = "No expression has an antecedent."
        raise AnnotationError(Problem(what, remedy="Give judgments with readings."))
    return Annotations.from_records(rows, scale="interval")


def _spans(document: Document) -> Iterator[tuple[Key, str, Span]]:
    """Yield the words of the antecedents of each expression and coder."""
    bad = errors_of(document)
    for coder in document.coders:
        layer = document.layers[coder]
        for one, key in layer.mentions.items():
            keys = frozenset().union(*layer.antecedent_keys(one))
            if keys and key not in bad:
                yield key, coder, union(span for _, span in keys)


def _words(document: Document) -> SetLabels:
    builder = LabelBuilder(range(len(document.tokens)))
    for key, coder, words in _spans(document):
        builder.add((document.id, key), coder, frozenset(words.tokens))
    return builder.build()
