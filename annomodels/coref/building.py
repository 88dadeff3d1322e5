"""Documents from clusters or judgments in memory, for small examples and custom readers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from annomodels.coref.clusterings import Clusters, groups_of
from annomodels.data.document import Document
from annomodels.data.expressions import Markable, Span
from annomodels.data.layers import Judgment, Layer
from annomodels.errors import AnnotationError


def document(
    name: str,
    clusters: Mapping[str, Clusters],
    *,
    order: Sequence[Hashable] | None = None,
    genre: str | None = None,
    letters: bool = False,
) -> Document:
    """Create a document from the clusters of each coder.

    Parameters
    ----------
    clusters
        Clusters by coder: sets of mentions, or a mapping from mention to cluster. A mention is a
        :class:`Span`, or anything that names it, such as "A" or (3, 7); names become
        separate words.
    order
        Names in text order [default: sorted].
    letters
        Treat a string such as "ABGI" as the cluster of the mentions A, B, G and I.

    Examples
    --------
    >>> document("t1", {"ana": [{1, 2}, {3}], "ben": {1: "x", 2: "y", 3: "y"}}).shared()[0][1]
    Span(tokens=(0,))
    """
    partitions = {
        coder: groups_of(
            # clusters written as strings, one letter per mention
            [list(cluster) for cluster in given]
            if letters and not isinstance(given, (Layer, Mapping))
            else given,
            f"coder {coder}",
        )
        for coder, given in clusters.items()
    }
    mentions = {m for groups in partitions.values() for group in groups for m in group}
    spans = _spans(mentions, order)
    layers = {}
    for coder, groups in partitions.items():
        markables = {str(m): Markable(str(m), spans[m]) for group in groups for m in group}
        sets = tuple(frozenset(map(str, group)) for group in groups)
        layers[coder] = Layer(coder, markables, clusters=sets)
    words = ["_"] * (1 + max((span.end for span in spans.values()), default=-1))
    for mention, span in spans.items():
        if not isinstance(mention, Span):
            words[span.start] = str(mention)
    return Document(name, tuple(words), genre=genre, layers=layers)


def document_of_judgments(
    name: str,
    coders: Mapping[str, tuple[Mapping[str, str | None], Mapping[str, Iterable[object]]]],
    *,
    order: Sequence[str],
    turns: Sequence[str] = (),
    genre: str | None = None,
) -> Document:
    """Create a document from the categories and pointers of each coder.

    Parameters
    ----------
    coders
        For each coder, the category of each markable and its antecedents: with several, the
        markable is ambiguous; a set among them is plural.
    order, turns
        The markables in text order, and antecedents on the level of turns.

    Raises
    ------
    AnnotationError
        If a markable or an antecedent is in neither `order` nor `turns`.

    Examples
    --------
    >>> made = document_of_judgments(
    ...     "t", {"ana": ({"m1": "none", "m2": "phrase"}, {"m2": ["m1"]})}, order=["m1", "m2"])
    >>> made.layers["ana"].judgments["m2"].antecedents
    frozenset({'m1'})
    """
    names = [*order, *turns]
    spans = {one: Span((n,)) for n, one in enumerate(names)}
    level = {one: "turn" if one in set(turns) else "phrase" for one in names}
    layers = {}
    for coder, (categories, pointers) in coders.items():
        judged = [one for one in names if one in categories or one in pointers]
        strange = [one for one in [*categories, *pointers] if one not in spans]
        if strange:
            what = f"{strange[0]!r} is judged, but is not a markable."
            remedy = "Name it in `order`, or in `turns`."
            raise AnnotationError(what, f"coder {coder}", remedy)
        judgments = {
            one: Judgment(
                one,
                categories.get(one),
                tuple(
                    frozenset(
                        map(str, [r] if isinstance(r, str) or not isinstance(r, Iterable) else r)
                    )
                    for r in pointers.get(one, ())
                ),
            )
            for one in judged
        }
        markables = {one: Markable(one, spans[one], level[one]) for one in names}
        layers[coder] = Layer(coder, markables, judgments)
    return Document(name, tuple(names), genre=genre, layers=layers)


def _spans(mentions: set[Hashable], order: Sequence[Hashable] | None) -> dict[Hashable, Span]:
    """Return spans unchanged, anything else as a separate word."""
    if all(isinstance(m, Span) for m in mentions):
        return {m: m for m in mentions if isinstance(m, Span)}
    listed = list(dict.fromkeys(order)) if order is not None else []
    rest = mentions.difference(listed)
    try:
        listed += sorted(rest)  # type: ignore[type-var]
    except TypeError:
        listed += sorted(rest, key=repr)
    return {m: Span((n,)) for n, m in enumerate(listed)}
