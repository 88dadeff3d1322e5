"""Tables of two columns beside the data: names and groups of coders, truths of items."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.validation import counted, is_blank, some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.border import decoded, name_of, raw_bytes
from annomodels.io.objects import json_value
from annomodels.io.tables.columns import Columns, matched, named_column
from annomodels.io.tables.delimited import records_of
from annomodels.io.tables.long import GOLD_WORDS


def names_from(given: Mapping[Any, Any] | str | os.PathLike[str] | None) -> dict[str, str]:
    """Names of coders by what the export calls them.

    Parameters
    ----------
    given
        A mapping, or a file: JSON ``{"uuid": "ana"}`` or a table with two columns.

    Raises
    ------
    AnnotationError
        When the file is no such table.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(key): str(name) for key, name in given.items()}
    source = name_of(given)
    text = decoded(raw_bytes(given), source)
    if text.lstrip()[:1] == "{":
        value = json_value(text, source)
        if all(isinstance(name, str) for name in value.values()):
            return dict(value)
    else:
        rows = [row for row in records_of(text, source, ",")[0] if any(row)]
        if rows and all(len(row) == 2 for row in rows):
            return dict(rows)
    what = "This is not a table of coder names."
    remedy = 'Write {"identifier": "name"} as JSON, or two columns as CSV.'
    raise AnnotationError(Problem(what, source, remedy))


def groups_from(path: str | os.PathLike[str]) -> dict[str, str]:
    """Group of each coder from a file: JSON ``{"ana": "person"}`` or a table with two columns.

    A first row ``coder,group`` is taken for a header.

    Raises
    ------
    AnnotationError
        When the file is no such table.
    """
    try:
        found = names_from(path)
    except AnnotationError as error:
        if not any("not a table of coder names" in problem.what for problem in error.problems):
            raise
        what = "This is not a table of coder groups."
        remedy = 'Write {"coder": "group"} as JSON, or two columns, coder and group, as CSV.'
        raise AnnotationError(Problem(what, name_of(path), remedy)) from error
    if found.get("coder") == "group":
        del found["coder"]
    return found


def rename_coders(columns: Columns, names: Mapping[str, str]) -> None:
    """Put names in the place of identifiers, and say what did not fit."""
    if not names or columns.problems:
        return
    before = dict.fromkeys(str(coder) for coder in columns.coders if not is_blank(coder))
    columns.coders = [names.get(str(coder), coder) for coder in columns.coders]
    unnamed = [coder for coder in before if coder not in names]
    if unnamed:
        columns.notes.append(f"{counted(len(unnamed), 'coder')} without a name: {some(unnamed)}.")
    after = {names.get(coder, coder) for coder in before}
    if len(after) < len(before):
        columns.notes.append(
            f"{len(before):,} identifiers belong to {len(after):,} coders according to the "
            "names given."
        )


def recode_labels(columns: Columns, new: Mapping[Any, Any], source: str) -> None:
    """Put labels in the place of others, also among known truths, and say what did not occur.

    Raises
    ------
    AnnotationError
        When all labels become one.
    """

    def recoded(label: Any) -> Any:
        if isinstance(label, frozenset):
            return frozenset(new.get(part, part) for part in label)
        return new.get(label, label)

    if columns.problems or any(isinstance(label, (list, dict)) for label in columns.labels):
        return
    if gone := [old for old, label in new.items() if label in ("", None)]:
        what = f"No label is left of {some(gone)}."
        remedy = f"Give it another name; if it means that there is no label, say missing={gone!r}."
        raise AnnotationError(Problem(what, source, remedy))
    before = dict.fromkeys(columns.labels)
    after = {label: recoded(label) for label in before}
    columns.labels = [after[label] for label in columns.labels]
    if columns.gold is not None:
        columns.gold = {item: recoded(truth) for item, truth in columns.gold.items()}
    if len(before) > 1 and len(set(after.values())) == 1:
        only = next(iter(after.values()))
        what = f"All {len(before):,} labels become {only!r}: {some(before)}."
        remedy = "Recode fewer labels, so that two are left at least: map=."
        where = (
            f"{source}, column {columns.names['label']!r}" if "label" in columns.names else source
        )
        raise AnnotationError(Problem(what, where, remedy))
    parts = {
        part for label in before for part in (label if isinstance(label, frozenset) else [label])
    }
    counts = {old: sum(label == old for label in parts) for old in new}
    absent = [old for old, n in counts.items() if not n]
    if absent:
        columns.notes.append(
            f"To be recoded, but nobody gave them: {some(absent)}. The labels are {some(before)}."
        )


_TABLE = "Write a table with a header, one row for each item (CSV, TSV)."
_REMEDY = 'Write a table with the columns item and truth (CSV, TSV), or {"item": "truth"} as JSON.'


def truths_from(path: str | os.PathLike[str]) -> dict[str, str]:
    """Truth by name of item, as texts, from a file.

    The file is a table whose columns are called item and truth (or gold, or label; see the words
    that :func:`annomodels.read` knows), a table of two columns without such names, or a JSON
    object. Items without a truth are passed over.

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
            raise AnnotationError(Problem("This is not a table of truths.", source, _REMEDY))
        pairs = [(str(item), "" if t is None else label_text(t)) for item, t in value.items()]
        column = "The truth"
    else:
        pairs, column = _pairs(text, source)
    found: dict[str, str] = {}
    twice = []
    for item, truth in pairs:
        if not is_blank(truth) and found.setdefault(item, truth) != truth:
            twice.append(item)
    if twice:
        what = f"{counted(len(set(twice)), 'item')} with more than one truth: {some(twice)}."
        raise AnnotationError(Problem(what, source, "Keep one row for each item."))
    if not found:
        what, remedy = "The file contains no truths.", _REMEDY
        if pairs:
            what = f"{column} of {source} is empty: 0 of {len(pairs):,} judged."
            remedy = "Fill it in, then run this again."
        raise AnnotationError(Problem(what, source, remedy))
    return found


def truths_of(path: str | os.PathLike[str], data: Annotations) -> dict[Hashable, Hashable]:
    """Truth of items of these data from a file, under the names that the data have.

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
        what = f"None of the items in the file is in the data: {some(list(given))}."
        remedy = f"Use the names that the items have in the data, such as {some(list(items)[:3])}."
        raise AnnotationError(Problem(what, source, remedy))
    found: dict[Hashable, Hashable] = {
        items[item]: labels.get(truth, truth) for item, truth in given.items() if item in items
    }
    told = np.zeros(data.n_items, bool) if data.gold is None else data.gold >= 0
    tests = data.with_gold(found).gold
    if not ((np.asarray(tests) >= 0) & ~told).any():
        what = "The data contain the truth of all these items, so the fit has already seen it."
        remedy = "Fit without the truth that you want to hold back: leave out gold=."
        raise AnnotationError(Problem(what, source, remedy))
    return found


def items_from(path: str | os.PathLike[str], item: str | None = None) -> list[str]:
    """Items of a table, each once: its column with the item, or the only one that it has.

    Raises
    ------
    AnnotationError
        When the file cannot be read, or it is not clear which column holds the item.
    """
    source = name_of(path)
    records, _, _ = records_of(decoded(raw_bytes(path), source), source)
    rows = [row for row in records if any(row)]
    if not rows:
        raise AnnotationError(Problem("The file is empty.", source, _TABLE))
    header = rows[0]
    named = matched(header)["item"] if item is None else [item]
    if len(header) == 1:
        cells = [row[0] for row in (rows[1:] if named else rows)]
    elif len(named) == 1 and named[0] in header:
        place = header.index(named[0])
        cells = [row[place] for row in rows[1:] if len(row) > place]
    else:
        what = f"Which column holds the item is not clear: the columns are {some(header)}."
        raise AnnotationError(Problem(what, source, "Call it item."))
    return list(dict.fromkeys(cell for cell in cells if not is_blank(cell)))


def item_columns(
    path: str | os.PathLike[str], columns: Sequence[str], item: str | None = None
) -> dict[str, dict[str, str]]:
    """Cells of some columns of a table, by item.

    Rows of an item may repeat, as those of labels do, if they agree; empty cells are passed over.

    Parameters
    ----------
    path
        A table with a header (CSV, TSV).
    columns
        Names of the columns.
    item
        Name of the column with the item; found by the words for it where it is not named.

    Raises
    ------
    AnnotationError
        When the file cannot be read, a column is not there, or rows of an item differ.
    """
    source = name_of(path)
    records, _, _ = records_of(decoded(raw_bytes(path), source), source)
    rows = [(n, row) for n, row in enumerate(records, 1) if any(row)]
    if not rows:
        raise AnnotationError(Problem("The file is empty.", source, _TABLE))
    header = rows[0][1]
    problems = [p for name in columns for p in named_column(header, name, "column", source)]
    found = matched(header)["item"] if item is None else [item]
    if item is not None:
        problems += named_column(header, item, "item", source)
    elif len(found) != 1:
        what = f"Which column holds the item is not clear: the columns are {some(header)}."
        problems.append(Problem(what, source, "Name it: item=."))
    if problems:
        raise AnnotationError(problems)
    at, places = header.index(found[0]), [header.index(name) for name in columns]
    out: dict[str, dict[str, str]] = {name: {} for name in columns}
    for number, row in rows[1:]:
        cells = [*row, *[""] * (len(header) - len(row))]
        for name, place in zip(columns, places, strict=True):
            if is_blank(cells[place]) or is_blank(cells[at]):
                continue
            if out[name].setdefault(cells[at], cells[place]) != cells[place]:
                what = (
                    f"Item {cells[at]!r} has {out[name][cells[at]]!r} and {cells[place]!r} in "
                    f"column {name!r}."
                )
                where = f"{source}, row {number}"
                problems.append(Problem(what, where, "Give each item one value."))
    if problems:
        raise AnnotationError(problems)
    return out


def rows_about(path: str | os.PathLike[str]) -> tuple[str, list[dict[str, Any]]]:
    """Rows about coders or items from a table with a header: of whom they are, and the rows.

    A column of which every cell that holds something is a number is one of numbers.

    Raises
    ------
    AnnotationError
        When the file cannot be read, or has no column "coder" or "item", or both.
    """
    source = name_of(path)
    records, _, _ = records_of(decoded(raw_bytes(path), source), source)
    rows = [row for row in records if any(row)]
    header = [cell.strip() for cell in rows[0]] if rows else []
    keys = [key for key in ("coder", "item") if key in header]
    if len(keys) != 1 or len(set(header)) < len(header):
        what = "This is not a table about coders or items."
        if len(keys) == 2:
            what = (
                "The table holds a column coder and a column item, so of whom it is is not clear."
            )
        remedy = "Give a header with either coder or item in it, and one name for each column."
        raise AnnotationError(Problem(what, source, remedy))
    cells = [[*row, *[""] * len(header)][: len(header)] for row in rows[1:]]
    columns = {
        name: column if name in keys else _numbers(column)
        for name, column in zip(header, zip(*cells, strict=True), strict=bool(cells))
    }
    return keys[0], [
        dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ]


def _numbers(cells: Sequence[str]) -> Sequence[Any]:
    """Turn a column into numbers, None where it is empty; texts stay."""
    kept = [None if is_blank(cell) else cell for cell in cells]
    try:
        return [None if cell is None else float(cell) for cell in kept]
    except ValueError:
        return kept


def _pairs(text: str, source: str) -> tuple[list[tuple[str, str]], str]:
    """Item and truth of each row of a table, and what to call the column of truths."""
    records, _, _ = records_of(text, source)
    rows = [row for row in records if any(row)]
    if not rows:
        raise AnnotationError(Problem("The file is empty.", source, _REMEDY))
    places = _places(rows[0])
    if places is None:
        if any(len(row) != 2 for row in rows):
            raise AnnotationError(Problem("This is not a table of truths.", source, _REMEDY))
        return [(row[0], row[1]) for row in rows], "Column 2"
    item, truth = places
    ragged = [row for row in rows if len(row) <= max(places)]
    if ragged:
        what = f"{counted(len(ragged), 'row')} with fewer cells than the header."
        raise AnnotationError(Problem(what, source, "Fill in the missing cells."))
    return [(row[item], row[truth]) for row in rows[1:]], f"Column {rows[0][truth]!r}"


def _places(header: Sequence[str]) -> tuple[int, int] | None:
    """Columns of the item and of the truth, where the header names them."""
    names = matched(header)
    truths = [name for name in header if name.strip().casefold() in GOLD_WORDS] or names["label"]
    if len(names["item"]) != 1 or len(truths) != 1:
        return None
    return list(header).index(names["item"][0]), list(header).index(truths[0])
