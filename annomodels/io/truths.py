"""Truth of items from a file, to judge gold labels by: never told to a fit."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.validation import counted, is_blank, some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.columns import matched
from annomodels.io.delimited import records_of
from annomodels.io.documents import json_value
from annomodels.io.files import decoded, name_of, raw_bytes
from annomodels.io.long import GOLD_WORDS

__all__ = ["truths_from", "truths_of"]

_REMEDY = 'Write a table with the columns item and truth (CSV, TSV), or {"item": "truth"} as JSON.'


def truths_from(path: str | os.PathLike[str]) -> dict[str, str]:
    """Truth by name of item, as texts, from a file.

    The file is a table whose columns are called item and truth (or gold, or label; see the words
    that :func:`annomodels.read` knows), a table of two columns without such names, or a JSON
    object. Items without a truth are passed over.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    AnnotationError
        When the file cannot be read, is no such table, or says two things of one item.
    """
    source = name_of(path)
    text = decoded(raw_bytes(path), source)
    if text.lstrip()[:1] == "{":
        value = json_value(text, source)
        if any(isinstance(truth, (dict, list)) for truth in value.values()):
            raise AnnotationError(Problem("This is no table of truths.", source, _REMEDY))
        pairs = [(str(item), "" if t is None else label_text(t)) for item, t in value.items()]
    else:
        pairs = _pairs(text, source)
    found: dict[str, str] = {}
    twice = []
    for item, truth in pairs:
        if not is_blank(truth) and found.setdefault(item, truth) != truth:
            twice.append(item)
    if twice:
        what = f"{counted(len(set(twice)), 'item')} with more than one truth: {some(twice)}."
        raise AnnotationError(Problem(what, source, "Keep one row for each item."))
    if not found:
        raise AnnotationError(Problem("There is no truth in the file.", source, _REMEDY))
    return found


def truths_of(path: str | os.PathLike[str], data: Annotations) -> dict[Hashable, Hashable]:
    """Truth of items of these data from a file, under the names that the data have.

    Parameters
    ----------
    path
        As for :func:`truths_from`.
    data
        What was, or will be, fitted.

    Raises
    ------
    AnnotationError
        Also when no item of the file is in the data, when a truth is not in the label set, or when
        the data themselves hold the truth of all these items.
    """
    given, source = truths_from(path), name_of(path)
    items = {label_text(item): item for item in data.items}
    labels = {label_text(label): label for label in data.labels}
    if not any(item in items for item in given):
        what = f"No item of the file is in the data: {some(list(given))}."
        remedy = f"Use the names that items have there, such as {some(list(items)[:3])}."
        raise AnnotationError(Problem(what, source, remedy))
    found: dict[Hashable, Hashable] = {
        items[item]: labels.get(truth, truth) for item, truth in given.items() if item in items
    }
    told = np.zeros(data.n_items, bool) if data.gold is None else data.gold >= 0
    tests = data.with_gold(found).gold
    if not ((np.asarray(tests) >= 0) & ~told).any():
        what = "The data hold the truth of all these items, so the fit was told it."
        remedy = "Fit without the truth that you hold back: leave out --gold-column."
        raise AnnotationError(Problem(what, source, remedy))
    return found


def _pairs(text: str, source: str) -> list[tuple[str, str]]:
    """Item and truth of each row of a table."""
    records, _, _ = records_of(text, source)
    rows = [row for row in records if any(row)]
    if not rows:
        raise AnnotationError(Problem("The file is empty.", source, _REMEDY))
    places = _places(rows[0])
    if places is None:
        if any(len(row) != 2 for row in rows):
            raise AnnotationError(Problem("This is no table of truths.", source, _REMEDY))
        return [(row[0], row[1]) for row in rows]
    item, truth = places
    ragged = [row for row in rows if len(row) <= max(places)]
    if ragged:
        what = f"{counted(len(ragged), 'row')} with fewer cells than the header."
        raise AnnotationError(Problem(what, source, "Fill in the missing cells."))
    return [(row[item], row[truth]) for row in rows[1:]]


def _places(header: Sequence[str]) -> tuple[int, int] | None:
    """Columns of the item and of the truth, where the header names them."""
    names = matched(header)
    truths = [name for name in header if name.strip().casefold() in GOLD_WORDS] or names["label"]
    if len(names["item"]) != 1 or len(truths) != 1:
        return None
    return list(header).index(names["item"][0]), list(header).index(truths[0])
