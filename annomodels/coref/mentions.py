"""Matching of mentions; agreement on mentions, heads and dominating expressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from annomodels.coefficients.agreement import agreement as coefficient_of
from annomodels.coefficients.result import Agreement
from annomodels.coref.clusterings import Clusters, groups_of
from annomodels.coref.tables import harmonic, share
from annomodels.data.annotations import Annotations
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.expressions import Key, Markable, Span
from annomodels.data.layers import Layer
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, NotApplicable

Match = Literal["exact", "head", "partial"]
Mention = Markable | Span | Mapping[str, Any] | Iterable[int]


class MentionOverlap(NamedTuple):
    """Counts of mentions that two codings share; not corrected for chance.

    Parameters
    ----------
    shared
        Number of mentions that both have.
    key, response
        Number of mentions of each.

    Examples
    --------
    >>> found = MentionOverlap(17530, 20420, 20560)  # Kopeć and Ogrodniczuk 2014, section 3
    >>> [round(100 * share, 2) for share in (found.precision, found.recall, found.f1)]
    [85.26, 85.85, 85.55]
    """

    shared: int
    key: int
    response: int

    @property
    def recall(self) -> float:
        """Share of the key's mentions that the response has."""
        return share(self.shared, self.key)

    @property
    def precision(self) -> float:
        """Share of the response's mentions that the key has."""
        return share(self.shared, self.response)

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision."""
        return harmonic(self.recall, self.precision)


def match_mentions(
    key: Iterable[Mention], response: Iterable[Mention], how: Match = "exact"
) -> dict[int, int]:
    """Match the mentions of a response with those of a key, one to one.

    Parameters
    ----------
    key, response
        Mentions: :class:`Markable` or :class:`Span`, a mapping with `words` and `head`, or the
        words alone.
    how
        "exact": the same words. "head": the same head word, the first mention of each head.
        "partial": all words of the response lie in the mention of the key and its head is among
        them, exact matches first, then those with most words.

    Returns
    -------
    dict
        Index of a response mention -> index of its key mention.

    Raises
    ------
    NotApplicable
        If the matching method is unknown.
    AnnotationError
        If a head is needed and missing.

    Examples
    --------
    >>> key = [{"words": range(2, 14), "head": 10}]
    >>> match_mentions(key, [range(5, 13)], "partial"), match_mentions(key, [[11, 12]], "partial")
    ({0: 0}, {})
    """
    if how not in ("exact", "head", "partial"):
        raise NotApplicable(f"how={how!r} is unknown. Use 'exact', 'head' or 'partial'.")
    keys, responses = [_span_and_head(m) for m in key], [_span_and_head(m) for m in response]
    if how == "head":
        heads: dict[int, int] = {}
        for n, mention in enumerate(keys):
            heads.setdefault(_head(mention), n)
        found: dict[int, int] = {}
        for n, mention in enumerate(responses):
            place = heads.pop(_head(mention), None)
            if place is not None:
                found[n] = place
        return found
    where = {span: n for n, (span, _) in enumerate(keys)}
    out = {n: where.pop(span) for n, (span, _) in enumerate(responses) if span in where}
    if how == "partial":
        taken = set(out.values())
        by_head: dict[int, list[int]] = {}
        for n, mention in enumerate(keys):
            if n not in taken:
                by_head.setdefault(_head(mention), []).append(n)
        rest = [n for n in range(len(responses)) if n not in out]
        rest.sort(key=lambda n: -len(responses[n][0]))
        for n in rest:
            words = set(responses[n][0].tokens)
            fits = [k for word in words for k in by_head.get(word, ()) if k not in taken]
            fits = [k for k in fits if words <= set(keys[k][0].tokens)]
            if fits:
                out[n] = min(fits, key=lambda k: (len(keys[k][0]), k))
                taken.add(out[n])
    return out


def renamed(key: Clusters, response: Clusters, how: Match) -> list[list[Hashable]]:
    """Return response clusters, with matched mentions named as in the key."""
    own, other = groups_of(key, "key"), groups_of(response, "response", keep_first=True)
    keys = [m for group in own for m in group]
    responses = [m for group in other for m in group]
    places = match_mentions(_only_mentions(keys), _only_mentions(responses), how)
    names = {responses[n]: keys[k] for n, k in places.items()}
    return [[names.get(m, ("response only", m)) for m in group] for group in other]


def _only_mentions(mentions: list[Any]) -> list[Mention]:
    wrong = [m for m in mentions if not isinstance(m, (Markable, Span, tuple, frozenset))]
    if wrong:
        what = f"{wrong[0]!r} has no words, so it can only match exactly."
        raise AnnotationError(what, remedy="Give mentions as Markable or Span.")
    # The keys of a layer are (level, span).
    return [m[1] if isinstance(m, tuple) and isinstance(m[-1], Span) else m for m in mentions]


def _span_and_head(mention: Mention) -> tuple[Span, int | None]:
    match mention:
        case Markable():
            return mention.span, mention.head
        case Span():
            return mention, None
        case Mapping():
            return Span(tuple(mention["words"])), mention.get("head")
    return Span(tuple(mention)), None


def _head(mention: tuple[Span, int | None]) -> int:
    span, head = mention
    if head is not None:
        return head
    if len(span) == 1:
        return span.start
    what = f"The mention on the words {span.name} has no head."
    raise AnnotationError(what, remedy="Give heads, or match exactly.")


def mention_agreement(
    corpus: Corpus, key: str | None = None, response: str | None = None, *, match: Match = "exact"
) -> MentionOverlap:
    """Count the mentions that two coders share, over all texts; not corrected for chance.

    Parameters
    ----------
    match
        "exact": the same words, gaps included. "head": the same head; mentions with the same head
        count once. "partial": see :func:`match_mentions`.

    Raises
    ------
    AnnotationError
        If a coder is unknown, or heads are needed and missing.

    Examples
    --------
    >>> from annomodels.coref import Span, document
    >>> one, two, three = Span((0, 1)), Span((1,)), Span((4,))
    >>> text = document("t", {"a": [[one], [three]], "b": [[two], [three]]})
    >>> mention_agreement(text)
    MentionOverlap(shared=1, key=2, response=2)
    """
    documents, coders = _of_two(corpus, key, response)
    counts = [(0, 0, 0)]
    for document in documents:
        layers = [document.layers[coder] for coder in coders]
        if match == "head":
            x, y = (set(_heads(document, layer).values()) for layer in layers)
            counts.append((len(x & y), len(x), len(y)))
        else:
            own, other = ([each.markables[m] for m in each.mentions] for each in layers)
            counts.append((len(match_mentions(own, other, match)), len(own), len(other)))
    return MentionOverlap(*map(sum, zip(*counts, strict=True)))


def _of_two(
    corpus: Corpus, key: str | None, response: str | None
) -> tuple[list[Document], tuple[str, str]]:
    """Return the documents that two coders worked on, and their names."""
    documents = documents_of(corpus)
    coders = sorted({coder for document in documents for coder in document.layers})
    chosen = [c for c in (key, response) if c is not None] or coders
    strange = [c for c in chosen if c not in coders]
    if len(chosen) == 2 and not strange:
        both = [document for document in documents if set(chosen) <= set(document.layers)]
        return both, (chosen[0], chosen[1])
    what = (
        f"Unknown coder {strange[0]!r}."
        if strange
        else f"The documents have {len(coders)} coders, but a comparison needs two."
    )
    remedy = f"Name two of {', '.join(coders[:12])}."
    raise AnnotationError(what, remedy=remedy)


def _heads(document: Document, layer: Layer) -> dict[Key, int]:
    missing = [key for key, head in layer.heads.items() if head is None]
    if missing:
        text = document.text(missing[0][1])
        number = counted(len(missing), "mention")
        what = f"{number} of {layer.coder} without a head, such as {text!r}."
        remedy = "Give heads, or compare whole mentions."
        raise AnnotationError(what, f"document {document.id}", remedy)
    return {key: head for key, head in layer.heads.items() if head is not None}


def head_agreement(
    corpus: Corpus, first: str | None = None, second: str | None = None
) -> Agreement:
    """Compute agreement on semantic heads, over mentions that both coders marked.

    The coefficient is ``s_item``: chance agreement on a mention is one over the number of its
    words, so mentions of one word change observed and expected agreement but not S.

    Raises
    ------
    AnnotationError
        If a coder is unknown, a head is missing, or the coders share no mention.
    """
    documents, coders = _of_two(corpus, first, second)
    rows, chance = [], {}
    for document in documents:
        heads = {coder: _heads(document, document.layers[coder]) for coder in coders}
        for key in document.shared(*coders):
            name = f"{document.id}#{key[0]}:{key[1].name}"
            chance[name] = 1 / len(key[1])
            rows += [(name, coder, heads[coder][key]) for coder in coders]
    if not rows:
        what = "The two coders have no mention in common."
        raise AnnotationError(what, remedy="Compare coders of the same mentions.")
    data = Annotations.from_records(rows)
    return coefficient_of(data, "s_item", chance=chance, draws=0)


@dataclass(frozen=True)
class SameExpression:
    """Agreement on dominating expressions; not corrected for chance.

    Parameters
    ----------
    mentions, same_mentions
        Number of shared mentions for which both coders gave an expression, and number of equal
        ones.
    clusters, same_clusters
        Number of clusters with such a mention, compared by their first one, and number of equal
        ones.
    representatives
        Coder whose clusters were counted: "first" or "second".

    Examples
    --------
    >>> found = SameExpression(6162, 4115, 1818, 1146, "A")  # Kopeć and Ogrodniczuk 2014
    >>> round(100 * found.by_mention, 2), round(100 * found.by_cluster, 2)
    (66.78, 63.04)
    """

    mentions: int
    same_mentions: int
    clusters: int
    same_clusters: int
    representatives: str

    @property
    def by_mention(self) -> float:
        """Share of the mentions with the same dominating expression."""
        return self.same_mentions / self.mentions if self.mentions else math.nan

    @property
    def by_cluster(self) -> float:
        """Share of the clusters with the same dominating expression."""
        return self.same_clusters / self.clusters if self.clusters else math.nan


def dominating_agreement(
    corpus: Corpus,
    first: str | None = None,
    second: str | None = None,
    *,
    representatives: str = "first",
    normalise: Callable[[str], str] = str.strip,
) -> SameExpression:
    """Compute agreement on dominating expressions, over mentions that both coders marked.

    Parameters
    ----------
    representatives
        Coder whose clusters are counted: "first" or "second". The paper does not say; report both
        if they differ.
    normalise
        Normalization of the texts before comparison.

    Raises
    ------
    NotApplicable
        If `representatives` is neither "first" nor "second".
    """
    if representatives not in ("first", "second"):
        raise NotApplicable(f"representatives={representatives!r}: use 'first' or 'second'.")
    documents, coders = _of_two(corpus, first, second)
    chosen = coders[representatives == "second"]
    mentions: list[bool] = []
    clusters: dict[tuple[str, int], bool] = {}
    for document in documents:
        x, y = (
            {
                layer.markables[one].key: normalise(text)
                for cluster, text in layer.dominating.items()
                for one in cluster
            }
            for layer in (document.layers[coder] for coder in coders)
        )
        owner = document.layers[chosen].cluster_of
        for key in document.shared(*coders):
            if key in x and key in y:
                mentions.append(x[key] == y[key])
                clusters.setdefault((document.id, owner[key]), mentions[-1])
    same = sum(mentions), sum(clusters.values())
    return SameExpression(len(mentions), same[0], len(clusters), same[1], chosen)
