"""Places with several readings and their coders; documents as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

import pandas as pd

from annomodels.coref.alphas import SetLabels
from annomodels.coref.conditions import (
    Condition,
    condition_named,
    errors_of,
    in_order,
    judgments_of,
    labels_of,
)
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.expressions import Key, Span
from annomodels.data.layers import Layer
from annomodels.data.summary import Summary

WORDS = {
    (True, True): "explicit and implicit",
    (True, False): "explicit",
    (False, True): "implicit",
}


OF_PLACES = (
    *("document", "span", "text", "kind", "explicit", "implicit"),
    *("coders", "multiple", "chains", "first", "second"),
)


def category_table(
    corpus: Corpus, counts: Sequence[int] | None = None, *, agreed: int | None = None
) -> Summary:
    """Count expressions by the number of coders per category (Poesio and Artstein 2005).

    Parameters
    ----------
    counts
        Numbers of coders to count [default: all, all but one, all but two, and none].
    agreed
        Minimum number of agreeing coders in the last row [default: smallest positive count].

    Returns
    -------
    Summary
        One row per category, one column per count; the row "(any)" has, in the column of `agreed`,
        the number of expressions on whose category at least `agreed` coders agree.

    Examples
    --------
    >>> from annomodels.coref import document_of_judgments
    >>> coders = {c: ({"a": "none", "b": "place" if c == "z" else "none"}, {}) for c in "xyz"}
    >>> table = category_table(document_of_judgments("t", coders, order=["a", "b"])).table
    >>> table.loc["none"].to_dict(), int(table.loc["(any)"].max())
    ({3: 1, 2: 1, 1: 0, 0: 0}, 2)
    """
    documents = documents_of(corpus)
    per_item: list[Counter[str]] = []
    for document in documents:
        bad = errors_of(document)
        votes: dict[Hashable, Counter[str]] = {}
        for _, _, key, judgment in judgments_of(document):
            if key not in bad and judgment is not None and judgment.category is not None:
                votes.setdefault(key, Counter())[judgment.category] += 1
        per_item += votes.values()
    most = max((len(document.layers) for document in documents), default=0)
    usual = (n for n in (most, most - 1, most - 2, 0) if n >= 0)
    asked = list(dict.fromkeys(usual if counts is None else counts))
    names = sorted({category for votes in per_item for category in votes})
    rows = {name: [sum(votes[name] == n for votes in per_item) for n in asked] for name in names}
    least = agreed if agreed is not None else min((n for n in asked if n > 0), default=0)
    together = sum(max(votes.values()) >= least for votes in per_item)
    rows["(any)"] = [together if n == least else 0 for n in asked]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=asked).rename_axis("category")
    return Summary("Expressions by number of coders of each category", table)


def explicit_ambiguity(corpus: Corpus) -> Summary:
    """List judgments with several readings.

    Returns
    -------
    Summary
        One row per judgment: `document`, `span`, `text`, `coder`, `category` and number of
        `readings`.
    """
    rows = []
    for document in documents_of(corpus):
        bad = errors_of(document)
        for coder, _, key, judgment in judgments_of(document):
            if judgment is not None and judgment.is_ambiguous and key not in bad:
                place = document.id, key[1].name, document.text(key[1])
                rows.append((*place, coder, judgment.category, len(judgment.readings)))
    columns = ["document", "span", "text", "coder", "category", "readings"]
    return Summary("Judgments with several readings", pd.DataFrame(rows, columns=columns))


def ambiguous_places(
    corpus: Corpus,
    chain: str = "incl-",
    *,
    outlier_max: int = 1,
    min_support: int = 2,
    drop: Iterable[Hashable] = (),
) -> Summary:
    """Classify expressions as agreed on, or explicitly or implicitly ambiguous.

    *Explicit*: a coder gave several readings. *Implicit*: among coders with one reading, two or
    more chains have `min_support` coders each. *Outlier*: at most `outlier_max` coders do not
    choose the chain that all others chose. *Scattered*: coders disagree, but no second chain has
    support.

    Parameters
    ----------
    outlier_max, min_support
        Maximum number of outlying coders, and minimum number of coders for a second reading.
    drop
        Keys (level, span) of expressions to leave out.

    Returns
    -------
    Summary
        One row for each expression in the order of the text: `document`, `span`, `text`, `kind`,
        `explicit`, `implicit`, numbers of `coders`, of coders with `multiple` readings, of
        different `chains` among the others, and of coders who chose the `first` and the `second`
        chain.

    Examples
    --------
    >>> from annomodels.coref import document_of_judgments
    >>> said = [["E2", "boxcar"]] * 9 + [["E2"]] * 6 + [["boxcar"]] * 3
    >>> coders = {f"c{n:02}": ({"E2": "none", "boxcar": "none", "it": "phrase"}, {"it": one})
    ...     for n, one in enumerate(said)}
    >>> text = document_of_judgments("3.2", coders, order=["E2", "boxcar", "it"])
    >>> row = ambiguous_places(text, "none").table.iloc[2]
    >>> row.text, row.kind, int(row.multiple), int(row["first"]), int(row.second)
    ('it', 'explicit and implicit', 9, 6, 3)
    """
    condition = condition_named(chain)
    rows = []
    for document in documents_of(corpus):
        labels = labels_of(document, condition, [k for k in drop if isinstance(k, tuple)])
        several = {
            (coder, layer.markables[one].key)
            for coder, layer in document.layers.items()
            for one, judgment in layer.judgments.items()
            if judgment.is_ambiguous
        }
        votes = votes_of(labels)
        for key, given in sorted(votes.items(), key=lambda pair: pair[0][1]):
            multiple = sum((coder, key) in several for coder, _ in given)
            single = Counter(label for coder, label in given if (coder, key) not in several)
            most = [times for _, times in single.most_common(2)] + [0, 0]
            supported = sum(times >= min_support for times in single.values())
            explicit, implicit = multiple > 0, supported > 1
            left = sum(single.values()) - most[0]
            kind = WORDS.get((explicit, implicit))
            if kind is None:
                kind = (
                    "agreement" if not left else "outlier" if left <= outlier_max else "scattered"
                )
            place = document.id, key[1].name, document.text(key[1]), kind
            numbers = len(given), multiple, len(single), *most[:2]
            rows.append((*place, explicit, implicit, *numbers))
    return Summary("Expressions by kind", pd.DataFrame(rows, columns=list(OF_PLACES)))


def votes_of(labels: SetLabels) -> dict[Key, list[tuple[str, Hashable]]]:
    """Return the coders and labels of each item; equal base sets and words are equal labels."""
    out: dict[Key, list[tuple[str, Hashable]]] = {}
    for n, item in enumerate(labels.item):
        coder = labels.coders[int(labels.coder[n])]
        label = (int(labels.word[n]), int(labels.base[n]))
        out.setdefault(labels.items[int(item)][1], []).append((coder, label))
    return out


Written = dict[str, dict[str, str | frozenset[Hashable]]]


def chain_labels(document: Document, chain: str = "incl-") -> tuple[Written, Written]:
    """Return the labels under a chain condition, in full.

    Returns
    -------
    tuple
        Labels by coder and expression, for the expected and for the observed disagreement. A label
        is a word or a set of names; names are positions of words.

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
    """Return the word positions of a key, and its level unless it is a phrase."""
    if not isinstance(key, tuple):
        return str(key)
    level, span = key
    return span.name if level == "phrase" else f"{level}:{span.name}"


def to_mpa_frame(corpus: Corpus) -> pd.DataFrame:
    """Return judgments as a long table for the mention-pair model (Paun et al. 2018).

    A label is a class with its antecedent, "DN()" or "DO(3-4)". An antecedent is named by the
    positions of its words, so its name is the same for all coders. A judgment has a row for each of
    its readings. In clusters, the antecedent is the nearest preceding mention.

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
) -> Summary:
    """List places in context where coders differ, with all readings and their coders.

    Parameters
    ----------
    corpus, chain, kinds, drop
        As in :func:`ambiguous_places`; `kinds` are the kinds of places to show.
    window
        Words of context on either side.
    most
        Maximum number of places; those with most coders for a second reading, or with several, come
        first.

    Returns
    -------
    Summary
        One row per reading of a place, most coders first: `document`, `span`, `kind`, `before`,
        `text`, `after`, the `reading`, the names of its `coders`, their number `n`, the number `of`
        coders who judged the place, and whether these coders gave `several` readings.

    Examples
    --------
    >>> from annomodels.coref import document_of_judgments
    >>> said = {"ana": ["boxcar"], "ben": ["engine"], "cho": ["engine"], "dan": ["boxcar"]}
    >>> kinds = {"engine": "none", "boxcar": "none", "it": "phrase"}
    >>> text = document_of_judgments("3.1", {c: (kinds, {"it": r}) for c, r in said.items()},
    ...     order=["engine", "boxcar", "it"])
    >>> table = reading_table(text, "none").table
    >>> table[["before", "text", "reading", "coders"]].values.tolist()
    ... # doctest: +NORMALIZE_WHITESPACE
    [['engine boxcar', 'it', 'boxcar [1]', 'ana, dan'],
     ['engine boxcar', 'it', 'engine [0]', 'ben, cho']]
    """
    condition = condition_named(chain)
    documents = documents_of(corpus)
    keys = [key for key in drop if isinstance(key, tuple)]
    places = ambiguous_places(documents, chain, drop=keys).table
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
    return Summary("Places where coders differ", pd.DataFrame(rows, columns=list(COLUMNS)))


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
        read = document.layers[coder].antecedent_keys(ids[coder].get(key, ""))
        parts = [" + ".join(_named(document, k) for k in sorted(r)) for r in read]
        several = " or ".join(sorted(parts)) if len(read) > 1 else ""
        label = labels.label(n, condition.expected)
        # labels are compared by value, and shown as readable text
        same = label if isinstance(label, str) else " ".join(sorted(map(key_name, label)))
        shown = several or (label if isinstance(label, str) else _shown(document, label, key))
        said.setdefault(key, {}).setdefault((bool(several), shown, same), []).append(coder)
    for key in in_order(said):
        start, end, tokens = key[1].start, key[1].end, document.tokens
        sides = tokens[max(0, start - window) : start], tokens[end + 1 :][:window]
        before, after = (" ".join(side) if set(side) - {"_"} else "" for side in sides)
        readings = said[key]
        total = sum(map(len, readings.values()))
        order = sorted(readings.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        for (several_given, shown, _), coders in order:
            place = document.id, key[1].name, kind[key[1].name]
            context = before, words_of(document, key[1]), after
            who = ", ".join(coders), len(coders), total, several_given
            yield (*place, *context, shown, *who)


def _shown(document: Document, label: Iterable[Hashable], own: Key) -> str:
    """Write the members of a label except the expression itself, the nearest before it first."""
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
    """Return the words of an expression with their positions."""
    words, place = words_of(document, key[1]), position(key[1].name)
    return words if words == place else f"{words} [{key[1].name}]"


def words_of(document: Document, span: Span) -> str:
    """Return the words of a span; its positions if a text has no words."""
    text = document.text(span)
    return text if set(text) - {"_", " ", "…"} else position(span.name)


def position(span: str) -> str:
    """Name the position of a span in a text.

    >>> position("88"), position("88-90")
    ('word 88', 'words 88-90')
    """
    return f"{'word' if span.isdecimal() else 'words'} {span}"
