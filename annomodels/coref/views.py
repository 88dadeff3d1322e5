"""A document as tables that other parts of the package take."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

from annomodels.coref.conditions import condition_named, labels_of
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.layers import Layer

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["chain_labels", "key_name", "to_mpa_frame"]

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
    """Give place and name of each mention, and its labels."""
    if layer.clusters is not None:
        for group in layer.groups:
            before = ""
            for key in sorted(group, key=lambda key: (key[1], key[0])):
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
