"""Silver chains as a layer of their own, to be written, read and scored like those of a coder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from annomodels.coref.conditions import in_order
from annomodels.coref.readings import key_name
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.expressions import Key, Markable, Span
from annomodels.data.layers import Layer
from annomodels.errors import AnnotationError, Problem
from annomodels.summaries.links import joined

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

SILVER = "silver"


def silver(fit: Fit, corpus: Corpus, at_least: float = 0.5) -> list[Document]:
    """Silver chains as documents with one layer, "silver"; :func:`write` puts them in a file.

    Parameters
    ----------
    fit
        A fit of the mentions of these documents, see :func:`pairs`.
    corpus
        The documents that were fitted.
    at_least
        Smallest probability of a link.

    Raises
    ------
    AnnotationError
        When these are not the documents of the fit.
    NotApplicable
        When the fit is of something else than links.

    Examples
    --------
    >>> import annomodels as am
    >>> texts = am.coref.document("t", {who: [["a", "c"], ["b"]] for who in ("ana", "ben")})
    >>> fit = am.fit(am.coref.pairs(texts), draws=200, seed=1)
    >>> silver(fit, texts)[0].layers["silver"].groups == texts.layers["ana"].groups
    True
    """
    links = _links(fit, at_least)
    mentions = set(fit.data.items)
    out = []
    known: set[str] = set()
    for document in documents_of(corpus):
        named = dict(_named(document))
        own = [name for name in named if name in mentions]
        known.update(named)
        linked = {name: links[name][0] for name in own if name in links}
        used = {*own, *linked.values()}
        markables = {
            name: Markable(name, key[1], key[0]) for name, key in named.items() if name in used
        }
        layer = Layer(SILVER, markables, clusters=tuple(map(frozenset, joined(linked).values())))
        out.append(document.with_layers({SILVER: layer}))
    strange = sorted(mentions - known)
    if strange:
        what = f"{len(strange):,} mentions of the fit are in none of the documents: {strange[0]!r}."
        remedy = "Give the documents that were fitted."
        raise AnnotationError(Problem(what, remedy=remedy))
    return out


def link_probabilities(
    fit: Fit, corpus: Corpus, column: Literal["p_link", "p_next"] = "p_link"
) -> dict[tuple[str, Span], float]:
    """Probability of the link of each mention that has one, by document and span.

    Parameters
    ----------
    fit
        A fit of the mentions of these documents, see :func:`pairs`.
    corpus
        The documents that were fitted.
    column
        "p_link", that the link is true, or "p_next", that one more reader makes it.
    """
    links = _links(fit, 0.0, column)
    return {
        (document.id, key[1]): links[name][1]
        for document in documents_of(corpus)
        for name, key in _named(document)
        if name in links
    }


def _links(fit: Fit, at_least: float, column: str = "p_link") -> dict[str, tuple[str, float]]:
    """Antecedent and probability of each linked mention, by names such as "text#3-4"."""
    table = fit.links(at_least).table
    pairs = zip(table["antecedent"], table[column], strict=True)
    return dict(zip(table["item"], pairs, strict=True))


def _named(document: Document) -> Iterator[tuple[str, Key]]:
    """Names of mentions in tables, and keys."""
    keys = {m.key for layer in document.layers.values() for m in layer.markables.values()}
    for key in in_order(keys):
        yield f"{document.id}#{key_name(key)}", key
