"""Categories and ambiguity, place by place: who saw several readings, and who read differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from annomodels.coref.conditions import condition_named, errors_of, judgments_of, labels_of
from annomodels.coref.setlabels import SetLabels
from annomodels.data.document import Corpus, documents_of
from annomodels.data.expressions import Key

if TYPE_CHECKING:
    import pandas as pd


WORDS = {
    (True, True): "explicit and implicit",
    (True, False): "explicit",
    (False, True): "implicit",
}


def category_table(
    corpus: Corpus, counts: Sequence[int] | None = None, *, agreed: int | None = None
) -> pd.DataFrame:
    """Count expressions by the number of coders of each category (Poesio and Artstein 2005).

    Parameters
    ----------
    corpus
        A document or several.
    counts
        The numbers of coders asked about; by default all, all but one, all but two, and none.
    agreed
        How many coders have to agree for the last row; by default the smallest of `counts` above 0.

    Returns
    -------
    pandas.DataFrame
        One row for each category, one column for each count; in the row "(any)", expressions that
        at least `agreed` coders put in one category, in the column of `agreed`.

    Examples
    --------
    >>> from annomodels.coref import document_of_judgments
    >>> coders = {c: ({"a": "none", "b": "place" if c == "z" else "none"}, {}) for c in "xyz"}
    >>> table = category_table(document_of_judgments("t", coders, order=["a", "b"]))
    >>> table.loc["none"].to_dict(), int(table.loc["(any)"].max())
    ({3: 1, 2: 1, 1: 0, 0: 0}, 2)
    """
    import pandas as pd

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
    asked = (
        list(counts) if counts is not None else [n for n in (most, most - 1, most - 2, 0) if n >= 0]
    )
    asked = list(dict.fromkeys(asked))
    names = sorted({category for votes in per_item for category in votes})
    rows = {name: [sum(votes[name] == n for votes in per_item) for n in asked] for name in names}
    least = agreed if agreed is not None else min((n for n in asked if n > 0), default=0)
    together = sum(max(votes.values()) >= least for votes in per_item)
    rows["(any)"] = [together if n == least else 0 for n in asked]
    return pd.DataFrame.from_dict(rows, orient="index", columns=asked).rename_axis("category")


def explicit_ambiguity(corpus: Corpus) -> pd.DataFrame:
    """Judgments with several readings.

    Parameters
    ----------
    corpus
        A document or several.

    Returns
    -------
    pandas.DataFrame
        One row for each: `document`, `span`, `text`, `coder`, `category` and number of `readings`.
        Its length is the number of ambiguous judgments, its different spans are the expressions.
    """
    import pandas as pd

    rows = []
    for document in documents_of(corpus):
        bad = errors_of(document)
        for coder, _, key, judgment in judgments_of(document):
            if judgment is not None and judgment.is_ambiguous and key not in bad:
                place = document.id, key[1].name, document.text(key[1])
                rows.append((*place, coder, judgment.category, len(judgment.readings)))
    columns = ["document", "span", "text", "coder", "category", "readings"]
    return pd.DataFrame(rows, columns=columns)


def ambiguous_places(
    corpus: Corpus,
    chain: str = "incl-",
    *,
    outlier_max: int = 1,
    min_support: int = 2,
    drop: Iterable[Hashable] = (),
) -> pd.DataFrame:
    """Classify expressions: agreed on, explicitly ambiguous, or implicitly.

    *Explicit*: somebody gave several readings. *Implicit*: among those with one reading, two chains
    or more have `min_support` coders each. *Outlier*: at most `outlier_max` coders leave the chain
    that all others chose. *Scattered*: they disagree, but no second chain has support.

    Parameters
    ----------
    corpus
        A document or several.
    chain
        The condition that makes the labels, see :func:`agreement`.
    outlier_max
        Most coders that count as outliers.
    min_support
        Fewest coders that make a second chain a reading.
    drop
        Keys (level, span) of expressions to leave out.

    Returns
    -------
    pandas.DataFrame
        One row for each expression in the order of the text: `document`, `span`, `text`, the
        `kind`, whether it is `explicit` and `implicit`, number of `coders`, of `multiple` (several
        readings), of different `chains` among the others, and how many chose the `first` and the
        `second` most frequent chain.

    Examples
    --------
    >>> from annomodels.coref import document_of_judgments
    >>> said = [["E2", "boxcar"]] * 9 + [["E2"]] * 6 + [["boxcar"]] * 3
    >>> coders = {f"c{n:02}": ({"E2": "none", "boxcar": "none", "it": "phrase"}, {"it": one})
    ...     for n, one in enumerate(said)}
    >>> text = document_of_judgments("3.2", coders, order=["E2", "boxcar", "it"])
    >>> row = ambiguous_places(text, "none").iloc[2]
    >>> row.text, row.kind, int(row.multiple), int(row["first"]), int(row.second)
    ('it', 'explicit and implicit', 9, 6, 3)
    """
    import pandas as pd

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
            rows.append(
                {
                    "document": document.id,
                    "span": key[1].name,
                    "text": document.text(key[1]),
                    "kind": kind,
                    "explicit": explicit,
                    "implicit": implicit,
                    "coders": len(given),
                    "multiple": multiple,
                    "chains": len(single),
                    "first": most[0],
                    "second": most[1],
                }
            )
    return pd.DataFrame(rows)


def votes_of(labels: SetLabels) -> dict[Key, list[tuple[str, Hashable]]]:
    """Coders and labels of each item; equal base sets and words are equal labels."""
    out: dict[Key, list[tuple[str, Hashable]]] = {}
    for n, item in enumerate(labels.item):
        coder = labels.coders[int(labels.coder[n])]
        label = (int(labels.word[n]), int(labels.base[n]))
        out.setdefault(labels.items[int(item)][1], []).append((coder, label))
    return out
