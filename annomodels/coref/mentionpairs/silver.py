"""Silver chains as a layer of their own, to be written, read and scored like those of a coder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annomodels.coref.readings import key_name
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.expressions import Key, Markable, Span
from annomodels.data.layers import Layer
from annomodels.errors import AnnotationError, Problem

SILVER = "silver"
Links = Mapping[str, tuple[str, float]]


def silver_documents(
    corpus: Corpus, links: Links, mentions: frozenset[str], coder: str = SILVER
) -> list[Document]:
    """Copy documents with the silver chains as their only layer.

    Parameters
    ----------
    corpus
        The documents that the links come from.
    links
        Antecedent and probability of each linked mention, by names such as "text#3-4".
    mentions
        Names of all mentions of the fit; those without a link are clusters of their own.
    coder
        Name of the layer.

    Raises
    ------
    AnnotationError
        When the documents are not those of the fit.
    """
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
        clusters = _joined(linked)
        out.append(document.with_layers({coder: Layer(coder, markables, clusters=clusters)}))
    strange = sorted(mentions - known)
    if strange:
        what = f"{len(strange):,} mentions of the fit are in none of the documents: {strange[0]!r}."
        remedy = "Give the documents that were fitted."
        raise AnnotationError(Problem(what, remedy=remedy))
    return out


def link_probabilities(corpus: Corpus, links: Links) -> dict[tuple[str, Span], float]:
    """Probability of the link of each linked mention, by document and span."""
    return {
        (document.id, key[1]): links[name][1]
        for document in documents_of(corpus)
        for name, key in _named(document)
        if name in links
    }


def _named(document: Document) -> Iterator[tuple[str, Key]]:
    """Names of mentions in tables, and keys."""
    keys = {m.key for layer in document.layers.values() for m in layer.markables.values()}
    for key in sorted(keys, key=lambda key: (key[1], key[0])):
        yield f"{document.id}#{key_name(key)}", key


def _joined(linked: Mapping[str, str]) -> tuple[frozenset[str], ...]:
    root: dict[str, str] = {}

    def top(name: str) -> str:
        while root.setdefault(name, name) != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    for name, antecedent in linked.items():
        root[top(name)] = top(antecedent)
    groups: dict[str, set[str]] = {}
    for name in list(root):
        groups.setdefault(top(name), set()).add(name)
    return tuple(frozenset(group) for group in groups.values())
