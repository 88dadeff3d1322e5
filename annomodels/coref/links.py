"""Conversion for link models: judgments to candidates, fits to silver chains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from annomodels.coref.conditions import in_order
from annomodels.coref.readings import key_name, to_mpa_frame
from annomodels.data.candidates import Candidates, class_of
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.expressions import Key, Markable, Span
from annomodels.data.layers import Layer
from annomodels.data.validation import is_blank
from annomodels.errors import AnnotationError, NotApplicable, Problem
from annomodels.summaries.links import joined

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

COLUMNS = ("item", "coder", "label")


def pairs(data: Corpus | pd.DataFrame, always: Sequence[str] = ()) -> Candidates:
    """Collect mentions and their candidates from documents or a table, for a model.

    The candidates of a mention are the labels that its coders gave; so each coder of the mention
    decides on all of them. Pass the result to :func:`annomodels.fit`.

    Parameters
    ----------
    data
        Documents from :func:`read`, or a table with the columns `item`, `coder` and `label`, one
        row per judgment; rows of one coder on one item are several readings. A label is a class
        with its antecedent, `DN()` or `DO(3-4)`, see :func:`to_mpa_frame`.
    always
        Labels that are candidates of every mention, even if nobody gave them.

    Returns
    -------
    Candidates
        Candidates, whose order does not depend on the order of the rows.

    Raises
    ------
    AnnotationError
        If the table cannot be used; lists all problems.
    NotApplicable
        If `always` is a string instead of a list of labels.

    Examples
    --------
    >>> import pandas as pd, annomodels as am
    >>> said = {"ana": ["DN()", "DO(1)", "DO(1)"], "ben": ["DN()", "DO(1)", "DO(2)"]}
    >>> rows = [(f"t#{i}", who, x) for who, xs in said.items() for i, x in enumerate(xs, 1)]
    >>> made = am.coref.pairs(pd.DataFrame(rows, columns=["item", "coder", "label"]))
    >>> made
    3 mentions × 2 coders · 4 candidates · 8 decisions
    >>> am.fit(made, "single", draws=200, seed=1).mentions().table["silver"].tolist()[:2]
    ['DN()', 'DO(1)']
    """
    if isinstance(always, str):
        raise NotApplicable(f"always={always!r} should be a list of labels, [{always!r}].")
    rows = _rows(data)
    coders = sorted({coder for _, coder, _ in rows})
    code = {name: j for j, name in enumerate(coders)}
    said: dict[str, dict[int, set[str]]] = {}
    for item, coder, label in rows:
        said.setdefault(item, {}).setdefault(code[coder], set()).add(label)
    items = sorted(said)
    listed = [sorted({*always, *(x for given in said[i].values() for x in given)}) for i in items]
    classes = sorted({class_of(label) for labels in listed for label in labels})
    number = {name: h for h, name in enumerate(classes)}
    labels: list[str] = []
    firsts, starts, who, accepted, cls = [0], [0], [], [], []
    for item, options in zip(items, listed, strict=True):
        given = sorted(said[item].items())
        for option in options:
            who += [j for j, _ in given]
            accepted += [int(option in readings) for _, readings in given]
            starts.append(len(who))
            cls.append(number[class_of(option)])
        labels += options
        firsts.append(len(labels))
    names = tuple(items), tuple(coders), tuple(classes), tuple(labels)
    codes = [np.array(values, dtype=np.int64) for values in (firsts, starts, who, accepted, cls)]
    return Candidates(*names, *codes)


def _rows(data: Any) -> list[tuple[str, str, str]]:
    frame = data if hasattr(data, "columns") else to_mpa_frame(data)
    missing = [name for name in COLUMNS if name not in list(frame.columns)]
    if missing:
        raise AnnotationError(
            f"The table has no column {' and no column '.join(missing)}.",
            f"columns {', '.join(map(str, frame.columns))}",
            "Give one row per judgment, with the columns item, coder and label.",
        )
    columns = [list(frame[name]) for name in COLUMNS]
    problems = []
    for name, cells in zip(COLUMNS, columns, strict=True):
        if empty := [n for n, cell in enumerate(cells, 1) if is_blank(cell)]:
            where = f"row {', '.join(map(str, empty[:5]))}{' ...' if len(empty) > 5 else ''}"
            remedy = "Fill it in, or drop the row."
            problems.append(Problem(f"The column {name} is empty.", where, remedy))
    if not columns[0]:
        problems.append(Problem("No judgments were given.", "", "Give one row per judgment."))
    if problems:
        raise AnnotationError(problems)
    return sorted({(str(i), str(j), str(k)) for i, j, k in zip(*columns, strict=True)})


SILVER = "silver"


def silver(fit: Fit, corpus: Corpus, at_least: float = 0.5) -> list[Document]:
    """Return silver chains as documents with one layer, "silver", for :func:`write`.

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
        If these are not the documents of the fit.
    NotApplicable
        If the fit is not of links.

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
        keys = dict(named(document))
        own = [name for name in keys if name in mentions]
        known.update(keys)
        linked = {name: links[name][0] for name in own if name in links}
        used = {*own, *linked.values()}
        markables = {
            name: Markable(name, key[1], key[0]) for name, key in keys.items() if name in used
        }
        layer = Layer(SILVER, markables, clusters=tuple(map(frozenset, joined(linked).values())))
        out.append(document.with_layers({SILVER: layer}))
    strange = sorted(mentions - known)
    if strange:
        what = f"{len(strange):,} mentions of the fit are in none of the documents: {strange[0]!r}."
        remedy = "Give the documents that were fitted."
        raise AnnotationError(what, remedy=remedy)
    return out


def link_probabilities(
    fit: Fit, corpus: Corpus, column: Literal["p_link", "p_next"] = "p_link"
) -> dict[tuple[str, Span], float]:
    """Return the link probability of each linked mention, by document and span.

    Parameters
    ----------
    fit, corpus
        As for :func:`silver`.
    column
        "p_link", that the link is true, or "p_next", that one more reader makes it.
    """
    links = _links(fit, 0.0, column)
    return {
        (document.id, key[1]): links[name][1]
        for document in documents_of(corpus)
        for name, key in named(document)
        if name in links
    }


def _links(fit: Fit, at_least: float, column: str = "p_link") -> dict[str, tuple[str, float]]:
    """Return the antecedent and probability of each linked mention, by name ("text#3-4")."""
    table = fit.links(at_least).table
    pairs = zip(table["antecedent"], table[column], strict=True)
    return dict(zip(table["item"], pairs, strict=True))


def named(document: Document) -> Iterator[tuple[str, Key]]:
    """Yield name and key of each mention of a text, in order."""
    keys = {m.key for layer in document.layers.values() for m in layer.markables.values()}
    for key in in_order(keys):
        yield f"{document.id}#{key_name(key)}", key
