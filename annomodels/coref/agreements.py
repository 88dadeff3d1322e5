"""Alpha and K over labels that are sets: chains, clusters, antecedents."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Literal

from annomodels.coefficients.catalogue import find
from annomodels.coefficients.distances import Empty, size_distance
from annomodels.coefficients.reasons import REASONS
from annomodels.coefficients.result import Agreement
from annomodels.coref.alphas import (
    FEWEST,
    Cut,
    Disagreement,
    LabelBuilder,
    SetLabels,
    chance_corrected_draws,
    pieces,
    together,
)
from annomodels.coref.conditions import condition_named, errors_of, labels_of
from annomodels.data.annotations import Annotations
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.expressions import Key, Span, union
from annomodels.data.validation import counted, is_missing
from annomodels.errors import AnnotationError, NotApplicable, Option, valid_seed

Which = Literal["alpha", "K"]
By = Literal["document", "genre"]
Labels = Mapping[Any, Any] | Iterable[Any]
SetFunction = Callable[[frozenset[Any], frozenset[Any]], float]


def alpha(
    labels: Labels,
    distance: str | SetFunction = "masi",
    *,
    observed: Labels | None = None,
    empty: Empty = "subset",
    coefficient: Which = "alpha",
) -> Agreement:
    r"""Compute Krippendorff's alpha (Passonneau 2004), or K, of labels that are sets.

    .. math:: \alpha = 1 - D_o / D_e

    D_o is the mean distance of two labels of the same item, D_e that of any two labels; for K,
    these are drawn with replacement and the distance is nominal.

    Parameters
    ----------
    labels
        Label of each item by coder: ``{coder: {item: label}}`` or a list of lists. A label is a
        set, list or tuple; a word, at distance 1 from all other labels; or None if missing.
    distance, empty
        See :func:`set_distance`; the distance can be a function of two frozensets.
    observed
        Other labels of the same items for D_o, as in the exclusive conditions of Poesio and
        Artstein (2005).
    coefficient
        "alpha" or "K" (Siegel and Castellan 1988), for which labels are equal or not.

    Returns
    -------
    Agreement
        The coefficient, with `observed` and `expected` disagreement.

    Raises
    ------
    NotApplicable
        If the distance or coefficient is unknown, or the distance is a function but labels are
        words or differ between D_o and D_e.
    AnnotationError
        If the labels are not a table of coders and items.

    Examples
    --------
    >>> a = [{3}, {4, 5}, {1}, {2, 5}, {2, 4}]   # Kopeć and Ogrodniczuk (2014), table 4
    >>> b = [set(), {4}, {5}, {2}, {3}]
    >>> round(alpha([a, b], "passonneau").value, 4), round(alpha([a, b], "masi").value, 4)
    (0.1818, 0.064)
    """
    table = _table(labels)
    if callable(distance):
        if observed is not None or coefficient == "K":
            raise NotApplicable("A function of two sets gives alpha of one table of labels only.")
        # from all label pairs, for a distance that is no function of sizes
        from annomodels.coefficients.agreement import agreement as coefficient_of

        rows = [(item, coder, label) for coder, row in table.items() for item, label in row.items()]
        words = [label for *_, label in rows if isinstance(label, str)]
        if words:
            raise NotApplicable(f"A function of two sets cannot take the word {words[0]!r}.")
        made = Annotations.from_records(rows)
        return coefficient_of(made, "alpha", distance=distance, draws=0)
    name = "nominal" if coefficient == "K" else distance
    apart = size_distance(name, empty)
    others: tuple[list[SetLabels], Cut] | None = None
    if observed is not None:
        others = [_coded(_table(observed))], "whole"
    found = together(pieces([_coded(table)], apart, observed=others), apart, coefficient == "K")
    return result(found, coefficient, name, len(table), "sets")


def agreement(
    corpus: Corpus,
    chain: str = "incl-",
    distance: str = "passonneau",
    *,
    coefficient: Which = "alpha",
    by: By | None = None,
    drop: Iterable[object] = (),
    empty: Empty = "subset",
    draws: int = 0,
    seed: int = 0,
) -> Agreement | dict[str, Agreement]:
    """Compute agreement on anaphoric chains (Poesio and Artstein 2005) or clusters.

    ========================  ======================================================================
    chain                     label of an expression
    ========================  ======================================================================
    ``none``                  its immediate antecedents, all readings together
    ``partial``               what precedes it in its chain, turns anywhere
    ``incl-``                 its full chain; a first mention has its category
    ``excl-``                 the same, the expression itself left out of it in D_o
    ``incl+``, ``excl+``      the same, and the first mention of a chain has the chain too
    ``cluster``               its cluster, one mention alone included
    ``cluster-own``           its cluster without itself (Kopeć and Ogrodniczuk 2014)
    ``cluster-own-observed``  the same in D_o only
    ========================  ======================================================================

    A full chain follows the pointers up to the first mention and includes everything that leads
    there. Categories are words, at distance 1 from each other and from chains. Expressions with an
    unfinished judgment are dropped for all coders; the conditions on clusters compare mentions that
    all coders of a document marked. Coders may differ between documents.

    Memory and time grow with the sum over mentions of the squared number of chains that contain the
    mention: a few seconds for 10,000 mentions and 20 coders.

    Parameters
    ----------
    coefficient
        "alpha", or "K", for which labels are equal or not.
    by
        "document" or "genre" gives a result for each; None combines all documents.
    drop
        Expressions to leave out: spans, or ids of markables.
    draws, seed
        Number and seed of the draws of alpha over texts like these, for ``interval`` of the result.
        This needs three texts, because the labels of a chain within a text change together.

    Returns
    -------
    Agreement or dict
        Result, whose title names the condition and the distance; by text or text type with `by`.

    Examples
    --------
    >>> from annomodels.coref import document_of_judgments
    >>> coders = {"ana": ({"m1": "none", "m2": "phrase", "m3": "phrase"}, {"m2": ["m1"],
    ...     "m3": ["m2"]}), "ben": ({"m1": "none", "m2": "phrase", "m3": "phrase"},
    ...     {"m2": ["m1"], "m3": ["m1"]})}
    >>> text = document_of_judgments("t", coders, order=["m1", "m2", "m3"])
    >>> round(agreement(text, "none", "dice").value, 4), agreement(text, "incl-", "dice").value
    (0.5455, 1.0)
    """
    documents = documents_of(corpus)
    condition, wanted = condition_named(chain), list(drop)
    name = "nominal" if coefficient == "K" else distance
    function = size_distance(name, empty)

    def of(group: Sequence[Document]) -> Agreement:
        parts, errors = [], 0
        for document in group:
            errors += len(errors_of(document)) if condition.chain != "cluster" else 0
            parts.append(labels_of(document, condition, _dropped(document, wanted)))
        apart = condition.observed != condition.expected and coefficient == "alpha"
        other = (parts, condition.observed) if apart else None
        added = pieces(parts, function, condition.expected, other)
        coders = len({coder for document in group for coder in document.layers})
        unfinished = f"Dropped: {counted(errors, 'expression')} with an unfinished judgment."
        notes = (unfinished,) if errors else ()
        nominal = coefficient == "K"
        found = together(added, function, nominal)
        whole = result(found, coefficient, name, coders, condition.title, notes)
        if draws < 1 or not math.isfinite(whole.value):
            return whole
        drawn = chance_corrected_draws(added, function, nominal, draws, valid_seed(seed))
        return replace(whole, draws=drawn, notes=notes if drawn is not None else (*notes, TOO_FEW))

    if by is None:
        return of(documents)
    return {part: of(group) for part, group in sorted(parts_of(documents, by).items())}


def parts_of(documents: Sequence[Document], by: By | None) -> dict[str, list[Document]]:
    if by not in (None, "document", "genre"):
        raise NotApplicable(f"{Option('by', by)} is unknown. Use 'document', 'genre' or None.")
    parts: dict[str, list[Document]] = {}
    for document in documents:
        name = "all texts" if by is None else document.id
        parts.setdefault(document.genre or "(none)" if by == "genre" else name, []).append(document)
    return parts


TOO_FEW = (
    f"No interval: it needs {FEWEST} texts, because the labels of a chain change together within a "
    "text."
)


def _dropped(document: Document, wanted: Sequence[object]) -> set[Key]:
    """Return the keys of expressions given as keys, spans or ids."""
    chosen = set(map(str, wanted)) if wanted else set()
    return {
        m.key
        for layer in document.layers.values()
        for m in layer.markables.values()
        if wanted and (m.id in chosen or m.span in wanted or m.key in wanted)
    }


def result(
    found: Disagreement,
    coefficient: Which,
    distance: str,
    n_coders: int,
    labels: str,
    notes: tuple[str, ...] = (),
) -> Agreement:
    """Build the result of a coefficient; its title describes the labels."""
    if coefficient not in ("alpha", "K"):
        raise NotApplicable(f"coefficient={coefficient!r} is unknown. Use 'alpha' or 'K'.")
    nominal = coefficient == "K"
    reason = "zero_expected_disagreement" if found.n_labels else "no_overlap"
    reason = reason if math.isnan(found.value) else ""
    title = "K" if nominal else f"Krippendorff's alpha, {distance}"
    return Agreement(
        name=find(coefficient).name,
        title=f"{title}, {labels}",
        value=found.value,
        observed=1 - found.observed if nominal else found.observed,
        expected=1 - found.expected if nominal else found.expected,
        kind="agreement" if nominal else "disagreement",
        n_items=found.n_items,
        n_coders=n_coders,
        n_labels=found.n_labels,
        convention="krippendorff",
        note=REASONS.get(reason, ""),
        reason=reason,
        distance=distance,
        draws=None,
        notes=notes,
    )


Table = dict[str, dict[Hashable, str | frozenset[Any]]]


def _table(labels: Labels) -> Table:
    if isinstance(labels, Mapping):
        rows = {str(coder): given for coder, given in labels.items()}
    else:
        rows = {f"{n:04}": given for n, given in enumerate(labels)}
    out: Table = {}
    for coder, given in rows.items():
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            what = f"The labels of a coder were expected, but this is {given!r}."
            remedy = "Give {coder: {item: label}}, or one list of labels for each coder."
            raise AnnotationError(what, f"coder {coder}", remedy)
        cells = given.items() if isinstance(given, Mapping) else enumerate(given)
        out[coder] = {
            item: frozenset(cell) if isinstance(cell, (Set, list, tuple)) else str(cell)
            for item, cell in cells
            if not is_missing(cell)
        }
    return out


def _coded(table: Table) -> SetLabels:
    sets = [x for row in table.values() for x in row.values() if isinstance(x, frozenset)]
    builder = LabelBuilder(dict.fromkeys(member for one in sets for member in one))
    for coder, row in table.items():
        for item, label in row.items():
            builder.add(item, coder, label)
    return builder.build()


Edge = Literal["begin", "end"]


def antecedent_agreement(
    corpus: Corpus, distance: str = "passonneau", *, empty: Empty = "subset"
) -> Agreement:
    """Compute alpha on antecedents as sets of words (Artstein and Poesio 2006).

    Parameters
    ----------
    corpus
        A document or several. The label of an expression is the set of all words of its
        antecedents; expressions without any have no label.

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
    apart = size_distance(distance, empty)
    found = together(pieces(parts, apart), apart)
    return result(found, "alpha", distance, coders, "words of the antecedents")


def antecedent_positions(
    corpus: Corpus, edge: Edge = "begin", *, relative: bool = False
) -> Annotations:
    """Return the positions where antecedents begin or end, on an interval scale.

    Positions of different expressions are so far apart that alpha of absolute positions is always
    near 1; relative positions count from the expression itself (Carpenter and Poesio 2010).

    Parameters
    ----------
    corpus
        A document or several; positions are word numbers within a document.
    edge, relative
        "begin" or "end"; and whether to count from the first word of the expression.

    Returns
    -------
    Annotations
        One item for each expression; give it to ``am.agreement(..., "alpha")``.

    Raises
    ------
    NotApplicable
        If `edge` is neither "begin" nor "end".
    AnnotationError
        If no expression has an antecedent.

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
        raise AnnotationError(what, remedy="Give judgments with readings.")
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
