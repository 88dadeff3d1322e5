"""Matching of the mentions of two coders: by all words, by the head, or in part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from annomodels.coref.clusterings import Clusters, groups_of
from annomodels.coref.tables import harmonic, share
from annomodels.data.expressions import Markable, Span
from annomodels.errors import AnnotationError, NotApplicable, Problem

Match = Literal["exact", "head", "partial"]
Mention = Markable | Span | Mapping[str, Any] | Iterable[int]


class MentionOverlap(NamedTuple):
    """Numbers of mentions that two codings share; no chance is taken out.

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
    """Match mentions of a response one to one with those of a key.

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
        Place of a response mention -> place of its key mention.

    Raises
    ------
    NotApplicable
        When there is no such way to match.
    AnnotationError
        When a head is needed and missing.

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


def renamed(key: Clusters, response: Clusters, how: Match) -> list[list[Any]]:
    """Response clusters with matched mentions named as in the key."""
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
        raise AnnotationError(Problem(what, remedy="Give mentions as Markable or Span."))
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
    raise AnnotationError(Problem(what, remedy="Give heads, or match exactly."))
