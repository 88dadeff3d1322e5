"""A document as tables that other parts take, and its ambiguous places with who read what."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from annomodels.coref.ambiguity import ambiguous_places
from annomodels.coref.conditions import Condition, condition_named, in_order, labels_of
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.expressions import Key, Span
from annomodels.data.layers import Layer

if TYPE_CHECKING:
    import pandas as pd

Written = dict[str, dict[str, str | frozenset[Hashable]]]


def chain_labels(document: Document, chain: str = "incl-") -> tuple[Written, Written]:
    """Labels under a chain condition, written out.

    Parameters
    ----------
    document
        The document.
    chain
        The condition, see :func:`agreement`.

    Returns
    -------
    tuple
        Coder -> name of the expression -> label, for the expected and for the observed
        disagreement. A label is a word or a set of names; names are positions of words.

    Examples
    --------
    >>> from annomodels.coref import document_of_judgments
    >>> said = ({"B": "phrase", "A": "none"}, {"B": ["A"]})
    >>> labels, _ = chain_labels(document_of_judgments("t", {"x": said}, order=["A", "B"]), "incl-")
    >>> labels["x"]["0"], sorted(labels["x"]["1"])
    ('none', ['0', '1'])
    """
    condition = condition_named(chain)
    labels = labels_of(document, condition)
    out: tuple[Written, Written] = ({}, {})
    for made, cut in zip(out, (condition.expected, condition.observed), strict=True):
        for n in range(len(labels.item)):
            label = labels.label(n, cut)
            if not isinstance(label, str):
                label = frozenset(key_name(key) for key in label)
            key = labels.items[int(labels.item[n])][1]
            made.setdefault(labels.coders[int(labels.coder[n])], {})[key_name(key)] = label
    return out


def key_name(key: object) -> str:
    """Positions of the words of a key; its level too, unless it is a phrase."""
    if not isinstance(key, tuple):
        return str(key)
    level, span = key
    return span.name if level == "phrase" else f"{level}:{span.name}"


def to_mpa_frame(corpus: Corpus) -> pd.DataFrame:
    """Judgments as a long table for the mention-pair model (Paun et al. 2018).

    A label is a class with its antecedent, "DN()" or "DO(3-4)"; an antecedent is named by the
    positions of its words, so that it is the same for all coders. A judgment with several readings
    gives a row for each. From clusters, the antecedent is the nearest mention before.

    Parameters
    ----------
    corpus
        A document or several.

    Returns
    -------
    pandas.DataFrame
        Columns `document`, `item`, `coder`, `label`; doi:10.18653/v1/D18-1218.

    Examples
    --------
    >>> from annomodels.coref import document
    >>> to_mpa_frame(document("t", {"ana": [["a", "c"], ["b"]]}))["label"].tolist()
    ['DN()', 'DN()', 'DO(0)']
    """
    import pandas as pd

    rows = []
    for document in documents_of(corpus):
        for coder in document.coders:
            for item, label in sorted(_decisions(document.layers[coder])):
                rows.append((document.id, f"{document.id}#{item[1]}", coder, label))
    return pd.DataFrame(rows, columns=["document", "item", "coder", "label"])


def _decisions(layer: Layer) -> Iterator[tuple[tuple[tuple[int, ...], str], str]]:
    """Yield place and name of each mention, and its labels."""
    if layer.clusters is not None:
        for group in layer.groups:
            before = ""
            for key in in_order(group):
                yield (key[1].tokens, key_name(key)), f"DO({before})" if before else "DN()"
                before = key_name(key)
        return
    for one, key in layer.mentions.items():
        judgment = layer.judgments.get(one)
        if judgment is None:
            continue
        place = key[1].tokens, key_name(key)
        readings = layer.antecedent_keys(one)
        category = {"phrase": "DO", "segment": "DO", "none": "DN", None: "DO" if readings else "DN"}
        word = category.get(judgment.category, judgment.category)
        for reading in readings:
            yield place, f"{word}({'&'.join(sorted(key_name(k) for k in reading))})"
        if not readings:
            yield place, f"{word}()"


KINDS = ("explicit and implicit", "explicit", "implicit", "scattered", "outlier")
COLUMNS = (
    *("document", "span", "kind", "before", "text", "after", "reading", "coders", "n", "of"),
    "several",
)
MOST_NAMED = 3


def reading_table(
    corpus: Corpus,
    chain: str = "incl-",
    *,
    kinds: Sequence[str] = KINDS,
    window: int = 12,
    most: int | None = None,
    drop: Iterable[Hashable] = (),
) -> pd.DataFrame:
    """Places where coders differ, in context, with every reading and its coders.

    Parameters
    ----------
    corpus
        A document or several.
    chain
        The condition that makes the labels, see :func:`agreement`.
    kinds
        Kinds of places, see :func:`ambiguous_places`.
    window
        Words of context on either side.
    most
        At most so many places: those with most coders behind a second reading, or who gave several.
    drop
        Keys (level, span) of expressions to leave out.

    Returns
    -------
    pandas.DataFrame
        One row for each reading of each place, most coders first: `document`, `span`, `kind`, the
        words `before`, the `text` of the expression and the words `after`, what the `reading` is,
        the names of the `coders`, their number `n` `of` all who judged it, and whether these coders
        gave `several` readings.

    Examples
    --------
    >>> from annomodels.coref import document_of_judgments
    >>> said = {"ana": ["boxcar"], "ben": ["engine"], "cho": ["engine"], "dan": ["boxcar"]}
    >>> kinds = {"engine": "none", "boxcar": "none", "it": "phrase"}
    >>> text = document_of_judgments("3.1", {c: (kinds, {"it": r}) for c, r in said.items()},
    ...     order=["engine", "boxcar", "it"])
    >>> reading_table(text, "none")[["before", "text", "reading", "coders"]].values.tolist()
    ... # doctest: +NORMALIZE_WHITESPACE
    [['engine boxcar', 'it', 'boxcar [1]', 'ana, dan'],
     ['engine boxcar', 'it', 'engine [0]', 'ben, cho']]
    """
    import pandas as pd

    condition = condition_named(chain)
    documents = documents_of(corpus)
    keys = [key for key in drop if isinstance(key, tuple)]
    places = ambiguous_places(documents, chain, drop=keys)
    if len(places):
        places = places[places["kind"].isin(list(kinds))]
    if most is not None and len(places) > most:
        weight = places["second"] + places["multiple"]
        places = places.loc[weight.sort_values(ascending=False, kind="stable").index[:most]]
    rows: list[tuple[object, ...]] = []
    for document in documents:
        own = places[places["document"] == document.id] if len(places) else places
        if len(own):
            kind = dict(zip(own["span"], own["kind"], strict=True))
            rows += _rows(document, condition, kind, window, keys)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(
    document: Document,
    condition: Condition,
    kind: dict[str, str],
    window: int,
    drop: Sequence[Key],
) -> Iterator[tuple[object, ...]]:
    labels = labels_of(document, condition, drop)
    ids = {c: {k: one for one, k in layer.mentions.items()} for c, layer in document.layers.items()}
    said: dict[Key, dict[tuple[bool, str, str], list[str]]] = {}
    for n, item in enumerate(labels.item):
        key = labels.items[int(item)][1]
        if key[1].name not in kind:
            continue
        coder = labels.coders[int(labels.coder[n])]
        several = _alternatives(document, coder, ids[coder].get(key, ""))
        label = labels.label(n, condition.expected)
        # labels are told apart by what they are, and shown by what can be read
        same = label if isinstance(label, str) else " ".join(sorted(map(key_name, label)))
        shown = several or (label if isinstance(label, str) else _shown(document, label, key))
        said.setdefault(key, {}).setdefault((bool(several), shown, same), []).append(coder)
    for key in in_order(said):
        before, after = _context(document, key[1], window)
        readings = said[key]
        total = sum(map(len, readings.values()))
        order = sorted(readings.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        for (several_given, shown, _), coders in order:
            yield (
                document.id,
                key[1].name,
                kind[key[1].name],
                before,
                words_of(document, key[1]),
                after,
                shown,
                ", ".join(coders),
                len(coders),
                total,
                several_given,
            )


def _alternatives(document: Document, coder: str, one: str) -> str:
    """Return the readings of a coder who saw several; else nothing."""
    readings = document.layers[coder].antecedent_keys(one)
    if len(readings) < 2:
        return ""
    parts = [" + ".join(_named(document, k) for k in sorted(r)) for r in readings]
    return " or ".join(sorted(parts))


def _shown(document: Document, label: Iterable[Hashable], own: Key) -> str:
    """Write what a label holds besides the expression itself, the nearest before it first."""
    others = [key for key in label if isinstance(key, tuple) and key != own]
    if not others:
        return "nothing else"
    before = sorted((k for k in others if k[1] < own[1]), key=lambda k: k[1], reverse=True)
    after = sorted((k for k in others if not k[1] < own[1]), key=lambda k: k[1])
    listed = [*before, *after]
    parts = [_named(document, key) for key in listed[:MOST_NAMED]]
    more = len(listed) - MOST_NAMED
    return "; ".join(parts) + (f"; {more} more" if more > 0 else "")


def _named(document: Document, key: Key) -> str:
    """Words of an expression with their positions."""
    words = words_of(document, key[1])
    return words if words.startswith("words ") else f"{words} [{key[1].name}]"


def words_of(document: Document, span: Span) -> str:
    """Words of a span; its positions where a text has no words."""
    text = document.text(span)
    return text if set(text) - {"_", " ", "…"} else f"words {span.name}"


def _context(document: Document, span: Span, window: int) -> tuple[str, str]:
    tokens = document.tokens
    sides = tokens[max(0, span.start - window) : span.start], tokens[span.end + 1 :][:window]
    before, after = (" ".join(side) if set(side) - {"_"} else "" for side in sides)
    return before, after
