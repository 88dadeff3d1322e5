"""Tables next to the data: coder names and groups, true labels, decisions on items."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import permutations
from typing import Any, cast

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.validation import counted, is_blank, some
from annomodels.errors import AnnotationError, Option, Problem, raise_all
from annomodels.io.border import guarded, name_of
from annomodels.io.source import Source
from annomodels.io.span_builder import NONE as NO_SPAN
from annomodels.io.tables.columns import Columns, matched, named_column
from annomodels.io.tables.keys import Key, Names, key_cells, parts_of, said_key
from annomodels.io.tables.table import stripped
from annomodels.io.words import is_truth

_NAMES = 'Write {"identifier": "name"} as JSON, or two columns as CSV.'


def names_from(
    given: Mapping[Any, Any] | str | os.PathLike[str] | None, of: str = "names", way: str = _NAMES
) -> dict[str, str]:
    """Return the name or group of each coder by its identifier in the export."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(key): str(name) for key, name in given.items()}
    said = _object_in(given)
    pairs = [row for _, row in rows_of(given).rows] if said is None else [*said.items()]
    if pairs and all(len(pair) == 2 and isinstance(pair[1], str) for pair in pairs):
        return {key: str(name) for key, name in pairs}
    source = name_of(given)
    raise AnnotationError(f"This is not a table of coder {of}.", source, way, code="no-mapping")


def _object_in(path: str | os.PathLike[str]) -> Mapping[str, object] | None:
    """Return the object of a JSON file; None for a table."""
    source = Source(path)
    with guarded(source.name):
        found = source.documents if source.is_json else None
    return found if isinstance(found, Mapping) else None


def groups_from(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the group of each coder: JSON ``{"ana": "person"}`` or a table with two columns."""
    way = 'Write {"coder": "group"} as JSON, or two columns, coder and group, as CSV.'
    found = names_from(path, "groups", way)
    if found.get("coder") == "group":
        del found["coder"]
    return found


def rename_coders(columns: Columns, names: Mapping[str, str]) -> None:
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
    """Recode labels, including true labels, and note codes that do not occur."""

    def recoded(label: object) -> object:
        if isinstance(label, frozenset):
            return frozenset(new.get(part, part) for part in label)
        return new.get(label, label)

    if columns.problems or any(isinstance(label, (list, dict)) for label in columns.labels):
        return
    if gone := [old for old, label in new.items() if label in ("", None)]:
        what = f"The new name of {some(gone)} is empty."
        remedy = (
            "Give it another name; if it means that there is no label, use "
            f"{Option('missing', gone)}."
        )
        raise AnnotationError(what, source, remedy, code="no-label-left")
    before = dict.fromkeys(columns.labels)
    after = {label: recoded(label) for label in before}
    columns.labels = [after[label] for label in columns.labels]
    if columns.gold is not None:
        columns.gold = {item: recoded(truth) for item, truth in columns.gold.items()}
    if len(before) > 1 and len(set(after.values())) == 1:
        only = next(iter(after.values()))
        what = f"All {len(before):,} labels become {only!r}: {some(before)}."
        remedy = f"Recode fewer labels, so that at least two are left: {Option('map')}."
        where = (
            f"{source}, column {columns.names['label']!r}" if "label" in columns.names else source
        )
        raise AnnotationError(what, where, remedy, code="one-label-left")
    parts = {
        part for label in before for part in (label if isinstance(label, frozenset) else [label])
    }
    absent = [old for old in new if old not in parts]
    if absent:
        columns.notes.append(
            f"Not recoded, because nobody gave them: {some(absent)}. The labels are {some(before)}."
        )


_REMEDY = 'Write a table with the columns item and truth (CSV, TSV), or {"item": "truth"} as JSON.'
_WIDEST = 4  # maximum columns that identify an item together if none is given


@dataclass(frozen=True)
class NumberedRows:
    """Numbered rows of a table next to the data; the first row is the header."""

    source: str
    rows: Sequence[tuple[int, list[str]]]

    @property
    def header(self) -> list[str]:
        return stripped(self.rows[0][1]) if self.rows else []

    def cells(self, name: str) -> list[str]:
        columns = [
            [row[place] if place < len(row) else "" for _, row in self.rows[1:]]
            for place in map(self.header.index, parts_of(name))
        ]
        return key_cells(columns) if isinstance(name, Key) else columns[0]

    def item(self, said: Names | None, items: frozenset[str] = frozenset()) -> str | None:
        """Return the item column: as given, by a known name, or by its cells."""
        if said is not None:
            return said_key(said, self.header)
        known = matched(self.header)["item"]
        if len(known) == 1 and (not items or not items.isdisjoint(self.cells(known[0]))):
            return known[0]
        for width in range(1, _WIDEST + 1) if items else ():
            for names in permutations(self.header[:8], width):
                name = names[0] if width == 1 else Key(names)
                if sum(cell in items for cell in self.cells(name)) > 0.5 * (len(self.rows) - 1):
                    return name
        return known[0] if len(known) == 1 else None

    def checked_item(
        self, said: Names | None, items: Iterable[object], remedy: str
    ) -> tuple[str, list[Problem]]:
        name = self.item(said, frozenset(map(label_text, items)))
        if name is not None:
            return name, named_column(self.header, name, "item", self.source)
        what = f"Which column holds the item is not clear: the columns are {some(self.header)}."
        return "", [Problem(what, self.source, remedy)]


def rows_of(given: object, name: str = "audit") -> NumberedRows:
    """Read the rows of a delimited text, an Excel sheet or a data frame."""
    if hasattr(given, "columns"):
        from annomodels.io.tables.workbooks import frame_table

        table = frame_table(given)
        texts = [
            ["" if is_blank(c) else label_text(c) for c in row]
            for row in zip(*table.columns.values(), strict=True)
        ]
        return NumberedRows(name, list(enumerate([[*table.header], *texts], 1)))
    source = Source(cast("str", given))
    with guarded(source.name):
        read = source.rows
        rows = [(n, row) for n, row in zip(read.lines, read.rows, strict=True) if any(row)]
    return NumberedRows(source.name, rows)


def _filled(path: str | os.PathLike[str]) -> NumberedRows:
    table = rows_of(path)
    if not table.rows:
        remedy = "Write a table with a header, one row for each item (CSV, TSV)."
        raise AnnotationError("The file is empty.", table.source, remedy)
    return table


def truths_from(given: Any, items: Iterable[Any] = ()) -> dict[str, str]:
    """Return true labels by item from a table, JSON, a data frame or a pandas series."""
    is_path = isinstance(given, (str, os.PathLike))
    source, names = name_of(given) if is_path else "audit", frozenset(map(label_text, items))
    said = _object_in(given) if is_path else None
    if said is not None:
        column = "The truth"
        if any(isinstance(truth, (dict, list)) for truth in said.values()):
            raise AnnotationError("This is not a table of truths.", source, _REMEDY)
    elif is_path or hasattr(given, "columns"):
        return _once(*_pairs(_filled(given) if is_path else rows_of(given), names), source)
    elif hasattr(given, "items"):
        said, column = given, "The series"
    else:
        what = f"Truths were expected, but this is {type(given).__name__!r}."
        raise AnnotationError(what, source, _REMEDY)
    pairs = [tuple("" if is_blank(c) else label_text(c) for c in pair) for pair in said.items()]
    return _once(pairs, column, source)


def _once(pairs: Iterable[tuple[str, ...]], column: str, source: str) -> dict[str, str]:
    """Return the true label of each item; raise if an item has two."""
    found: dict[str, str] = {}
    pairs = list(pairs)
    twice = {i: x for i, x in pairs if not is_blank(x) and found.setdefault(i, x) != x}
    if twice:
        what = f"{counted(len(twice), 'item')} with more than one truth: {some([*twice])}."
        raise AnnotationError(what, source, "Keep one row for each item.")
    if not found:
        what, remedy = "The file contains no truths.", _REMEDY
        if pairs:
            what = f"{column} of {source} is empty: 0 of {len(pairs):,} judged."
            remedy = "Fill it in, then run this again."
        raise AnnotationError(what, source, remedy)
    return found


def _pairs(table: NumberedRows, items: frozenset[str]) -> tuple[list[tuple[str, str]], str]:
    """Return item and true label of each row, and a name for the label column."""
    header = table.header
    coder = matched(header)["coder"]
    if coder and len({*table.cells(coder[0])}) > 1:
        what = f"This table has a column {coder[0]}: it has labels, not true labels."
        remedy = "Give one true label for each item: a table with the columns item and label."
        raise AnnotationError(what, table.source, remedy)
    truths = [name for name in header if is_truth(name)]
    truths = truths or matched(header)["label"]
    item = table.item(None, items) if len(truths) == 1 else None
    if item is None or item in truths:
        if any(len(row) != 2 for _, row in table.rows):
            raise AnnotationError("This is not a table of truths.", table.source, _REMEDY)
        pairs = [(row[0], row[1]) for _, row in table.rows]
        # an unknown header is not a data row
        has_header = items and pairs[0][0] not in items and any(i in items for i, _ in pairs)
        return pairs[1:] if has_header else pairs, "Column 2"
    last = max(map(header.index, (*parts_of(item), truths[0])))
    ragged = sum(len(row) <= last for _, row in table.rows)
    if ragged:
        what = f"{counted(ragged, 'row')} with fewer cells than the header."
        raise AnnotationError(what, table.source, "Fill in the missing cells.")
    pairs = list(zip(table.cells(item), table.cells(truths[0]), strict=True))
    return pairs, f"Column {truths[0]!r}"


def truths_of(path: str | os.PathLike[str], data: Annotations) -> dict[Hashable, Hashable]:
    """Read true labels from a file, with items and labels named as in the data."""
    given, source = truths_from(path, data.items), name_of(path)
    items = {label_text(item): item for item in data.items}
    labels = {label_text(label): label for label in data.labels}
    if not any(item in items for item in given):
        what = f"None of the items in the file is in the data: {some(list(given))}."
        remedy = (
            f"Use the item names of the data, such as {some(list(items)[:3])}; or name the column "
            f"of the data that holds the names of this file: {Option('item', _name(path))}."
        )
        raise AnnotationError(what, source, remedy)
    found: dict[Hashable, Hashable] = {
        items[item]: labels.get(truth, truth) for item, truth in given.items() if item in items
    }
    told = np.zeros(data.n_items, bool) if data.gold is None else data.gold >= 0
    tests = data.with_truth(found).gold
    if not ((np.asarray(tests) >= 0) & ~told).any():
        what = "The data contain the truth of all these items, so the fit has already seen it."
        remedy = f"Fit without the truth that you want to hold back: leave out {Option('truth')}."
        raise AnnotationError(what, source, remedy)
    return found


def _name(path: str | os.PathLike[str]) -> object:
    with suppress(AnnotationError):
        first = _filled(path).header[0]
        if first.isidentifier() and first != "item":
            return first
    return ...


def items_from(path: str | os.PathLike[str], items: Iterable[object] = ()) -> list[str]:
    """Return the distinct items of a table, all in `items`: its item column, or its only column."""
    table = _filled(path)
    name, problems = table.checked_item(None, items, "Call it item.")
    if len(table.header) == 1:
        cells = [row[0] for _, row in table.rows][bool(name) :]
    elif problems:
        raise AnnotationError(problems)
    else:
        cells = table.cells(name)
    found = list(dict.fromkeys(cell for cell in cells if not is_blank(cell)))
    known = dict.fromkeys(map(label_text, items))
    if known and (strange := [item for item in found if item not in known]):
        what = f"{counted(len(strange), 'item')} not in the data: {some(strange)}."
        remedy = (
            f"Use the names of the data, such as {some(list(known)[:3])}, or delete these rows."
        )
        raise AnnotationError(what, table.source, remedy)
    return found


def item_columns(
    path: str | os.PathLike[str],
    columns: Sequence[str],
    item: Names | None = None,
    items: Iterable[object] = (),
) -> dict[str, dict[str, str]]:
    """Return the cells of some columns by item; repeated rows of an item must agree.

    Without `item`, the item column is found by a known name, or by the `items` in its cells.
    """
    table = _filled(path)
    header, source = table.header, table.source
    problems = [p for name in columns for p in named_column(header, name, "column", source)]
    found, wrong = table.checked_item(item, items, f"Name it: {Option('item')}.")
    raise_all([*problems, *wrong])
    out: dict[str, dict[str, str]] = {name: {} for name in columns}
    items = table.cells(found)
    remedy = "Give each item one value, or name columns that have one value per item."
    for name in columns:
        rows = zip(table.rows[1:], items, table.cells(name), strict=True)
        clashes = [
            (number, key, cell)
            for (number, _), key, cell in rows
            if not (is_blank(cell) or is_blank(key)) and out[name].setdefault(key, cell) != cell
        ]
        for number, key, cell in clashes[:1]:
            what = f"Item {key!r} has {out[name][key]!r} and {cell!r} in column {name!r}."
            if len(clashes) > 1:
                what += f" The same applies to {len(clashes) - 1:,} more rows."
            problems.append(Problem(what, f"{source}, row {number}", remedy))
    raise_all(problems)
    return out


def distances_from(path: str | os.PathLike[str], labels: Sequence[Hashable]) -> list[list[float]]:
    """Read the distances between all labels from a table, in label order."""
    table = _filled(path)
    names, rows = table.header[1:], {row[0]: row[1:] for _, row in table.rows[1:]}
    known = list(map(label_text, labels))
    problems = []
    remedy = f"Write the labels of the data in the first row and column: {some(known)}."
    for where, found in (("row", names), ("column", list(rows))):
        if absent := [name for name in known if name not in found]:
            what = f"{counted(len(absent), 'label')} not in the first {where}: {some(absent)}."
            problems.append(Problem(what, table.source, remedy))
    raise_all(problems)
    try:
        return [[float(rows[a][names.index(b)]) for b in known] for a in known]
    except (ValueError, IndexError):
        what = "A distance is not a number."
        raise AnnotationError(what, table.source, "Write a number in each cell.") from None


def rows_about(
    paths: Sequence[str | os.PathLike[str]], items: Iterable[Any] = ()
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of tables about coders or items, by "coder" and "item".

    Tables about the same subject are joined. Several columns may identify the `items` together.
    """
    known = frozenset(map(label_text, items))
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for path in paths:
        table = _filled(path)
        header = table.header
        keys: list[str] = [key for key in ("coder", "item") if key in header]
        name = keys[0] if len(keys) == 1 else None
        if known and not keys and (name := table.item(None, known)) is not None:
            keys = ["item"]
        if name is None or len(set(header)) < len(header):
            what = "This is not a table about coders or items."
            if len(keys) == 2:
                what = (
                    "The table holds a column coder and a column item, so it is unclear which of "
                    "them it describes."
                )
            remedy = "Give a header with either coder or item in it, and one name per column."
            raise AnnotationError(what, table.source, remedy)
        rows = found.setdefault(keys[0], {})
        columns = {n: _numbers(table.cells(n)) for n in header if n not in parts_of(name)}
        twice = set(columns) & {n for row in rows.values() for n in row}
        if twice:
            what = f"Two tables about {keys[0]}s have the column {min(twice)!r}."
            raise AnnotationError(what, table.source, "Leave it out of one of them.")
        for n, key in enumerate(table.cells(name)):
            rows.setdefault(key, {}).update((word, cells[n]) for word, cells in columns.items())
    return {
        key: [{key: name, **{n: row.get(n) for r in rows.values() for n in r}}
              for name, row in rows.items()]
        for key, rows in found.items()
    }  # fmt: skip


def _numbers(cells: Sequence[str]) -> Sequence[Any]:
    """Convert a column to numbers, with None for empty cells; leave text unchanged."""
    kept = [None if is_blank(cell) else cell for cell in cells]
    try:
        return [None if cell is None else float(cell) for cell in kept]
    except ValueError:
        return kept


# -- spans that an expert decided, or marked in audited documents ----------------------------------

_PLACE = ("document", "start", "end", "label")


def is_span_rows(path: object) -> bool:
    """Return True for a table with document, start, end and label, such as decisions on spans."""
    if os.path.isdir(str(path)):
        return False
    with suppress(AnnotationError):
        return {*_PLACE} <= {*rows_of(path).header}
    return False


def span_rows(given: object) -> list[tuple[str, int, int, str]]:
    """Return document, start, end and label of each row; ``(none)`` means no span.

    Rows with only a document are not judged; skipped or noted rows are not decisions. A row with
    ``(none)`` and no position is about the whole document.
    """
    table = rows_of(given, "spans")
    decision = "decision" if "decision" in table.header else None
    columns = [*_PLACE, *([decision] if decision else [])]
    found: list[tuple[str, int, int, str]] = []
    wrong: list[int] = []
    cells = [table.cells(name) for name in columns]
    for (number, _), *row in zip(table.rows[1:], *cells, strict=True):
        document, start, end, label, *what = map(str.strip, row)
        if (what and what[0] not in ("", DECIDED)) or not (start or end or label):
            continue
        if label == NO_SPAN and not start and not end:
            found.append((document, 0, 0, label))
        elif start.isdecimal() and end.isdecimal() and int(start) < int(end) and (what or label):
            found.append((document, int(start), int(end), label or NO_SPAN))
        else:
            wrong.append(number)
    if wrong:
        what_ = f"{counted(len(wrong), 'row')} without a place or a label (first: row {wrong[0]})."
        remedy = "Write start and end as characters from 0, the end after the start, and the label."
        raise AnnotationError(what_, table.source, remedy)
    return found


# -- decisions on items that the report page saves, checked against the labels ---------------------


FIELDS = ("item", "label", "decision", "fit", "note")
DECIDED = "decided"
Row = tuple[int, str, str, str, str, str]
ENTRIES = {"two readings": {"two": True}, "skipped": {"skip": True}, "note": {}}


def decisions_of(given: object, data: Annotations) -> dict[Hashable, Hashable]:
    """Return the decided label of each item, named as in the data.

    Rows with another decision ("two readings", "skipped", "note") give no label. A table without
    the columns decision and fit is a table of true labels.
    """
    rows, source = _rows(given)
    if not rows:
        pairs = truths_from(given, data.items)
        told = enumerate(pairs.items(), 2)
        rows = [(n, item, label, DECIDED, "", "") for n, (item, label) in told]
    items = {label_text(item): item for item in data.items}
    labels = {label_text(label): label for label in data.labels}
    made = [row for row in rows if row[3] == DECIDED or (not row[3] and not is_blank(row[2]))]
    contested = [row for row in rows if row[3] == "two readings"]
    problems = _problems([*made, *contested], source, items, labels, data)
    if strange := [row for row in rows if row[3] not in ("", DECIDED, *ENTRIES)]:
        what = f"{counted(len(strange), 'row has', 'rows have')} a decision that is unknown."
        where = f"{source}, first in row {strange[0][0]}: {strange[0][3]!r}"
        problems.append(Problem(what, where, f"Write one of {', '.join((DECIDED, *ENTRIES))}."))
    raise_all(problems)
    if not made and not contested:
        what = f"Nothing is decided: 0 of {counted(len(rows), 'row')}."
        raise AnnotationError(what, source, "Decide items on the report page first.")
    return {items[item]: labels[label] for _, item, label, *_ in made}


def is_decisions(path: str | os.PathLike[str]) -> bool:
    """Return True for decisions saved by the report page, under any file name."""
    with suppress(AnnotationError):
        return bool(_rows(path)[0])
    return False


def _rows(given: object) -> tuple[list[Row], str]:
    """Return number, item, label, decision, fit and note of each row; [] for other tables."""
    is_path = isinstance(given, (str, os.PathLike))
    if str(given).lower().endswith(".json") if is_path else not hasattr(given, "columns"):
        return [], name_of(cast("str", given)) if is_path else "gold"
    table = rows_of(given, "decisions")
    header = table.header
    if not {"item", "label", "decision"} <= set(header):
        return [], table.source
    size = len(table.rows) - 1
    cells = [table.cells(name) if name in header else [""] * size for name in FIELDS]
    rows = zip((number for number, _ in table.rows[1:]), *cells, strict=True)
    return [(n, item, label, *map(str.strip, said)) for n, item, label, *said in rows], table.source


def entries_of(given: Any, data: Annotations) -> list[tuple[str, dict[str, Any]]]:
    """Return item and entry of each row, in the form that the report page stores."""
    rows, _ = _rows(given)
    if not rows:
        return [
            (label_text(item), {"label": label_text(label)})
            for item, label in decisions_of(given, data).items()
        ]
    return [
        (item, {**ENTRIES.get(what, {"label": label}), **({"note": note} if note else {})})
        for _, item, label, what, _, note in rows
    ]


def _problems(
    rows: list[Row],
    source: str,
    items: dict[str, Hashable],
    labels: dict[str, Hashable],
    data: Annotations,
) -> list[Problem]:
    """Return one problem of each kind, with a count and the first row."""
    own = str(data.replace(gold=None).fingerprint)
    said: dict[str, set[str]] = {}
    for _, item, label, *_ in rows:
        said.setdefault(item, set()).add(label)
    kinds: tuple[tuple[str, Callable[[Row], bool], int, str], ...] = (
        ("of an item that is not in the data", lambda row: row[1] not in items, 1,
         f"Use the names of the data, such as {some(list(items)[:3])}, or delete these rows."),
        ("without a label", lambda row: is_blank(row[2]) and row[3] == DECIDED, 1,
         "Fill in the label, or write 'skipped' as the decision."),
        ("with an unknown label", lambda row: not is_blank(row[2]) and row[2] not in labels, 2,
         f"The labels are {some(list(labels))}."),
        ("of an item that is decided twice, differently", lambda row: len(said[row[1]]) > 1, 1,
         "Keep one row of each item."),
        (f"about other labels (these have the fingerprint {own})",
         lambda row: row[4] not in ("", own), 4,
         "Decide on the report of these labels; or, if the items are the same, delete the "
         "column fit."),
    )  # fmt: skip
    out = []
    for what, test, cell, remedy in kinds:
        if found := [row for row in rows if test(row)]:
            first = found[0]
            where = f"{source}, first in row {first[0]}: {first[cell]!r}"
            out.append(Problem(f"{counted(len(found), 'decision')} {what}.", where, remedy))
    return out
