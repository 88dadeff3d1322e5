"""Decisions on items that the report page saves: checked against the labels, then true labels."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from annomodels.data.names import label_text
from annomodels.data.validation import counted, is_blank, some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.mappings import rows_of, truths_from

if TYPE_CHECKING:
    from annomodels.data.annotations import Annotations

FIELDS = ("item", "label", "decision", "fit", "note")
DECIDED = "decided"
Row = tuple[int, str, str, str, str, str]
ENTRIES = {"two readings": {"two": True}, "skipped": {"skip": True}, "note": {}}


def decisions_of(given: Any, data: Annotations) -> dict[Hashable, Hashable]:
    """Return the decided label of each item, by the names that the data have.

    Rows with another decision ("two readings", "skipped", "note") decide nothing. A table without
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
    problems = _problems(made, source, items, labels, data)
    if strange := [row for row in rows if row[3] not in ("", DECIDED, *ENTRIES)]:
        what = f"{counted(len(strange), 'row has', 'rows have')} a decision that is unknown."
        where = f"{source}, first in row {strange[0][0]}: {strange[0][3]!r}"
        problems.append(Problem(what, where, f"Write one of {', '.join((DECIDED, *ENTRIES))}."))
    if problems:
        raise AnnotationError(problems)
    if not made:
        what = f"Nothing is decided: 0 of {counted(len(rows), 'row')}."
        raise AnnotationError(Problem(what, source, "Decide items on the report page first."))
    return {items[item]: labels[label] for _, item, label, *_ in made}


def _rows(given: Any) -> tuple[list[Row], str]:
    """Return number, item, label, decision, fit and note of each row, none of other tables."""
    is_path = isinstance(given, (str, os.PathLike)) and not str(given).lower().endswith(".json")
    if not is_path and not hasattr(given, "columns"):
        return [], "gold"
    table = rows_of(given, "decisions")
    header = table.header
    if not {"item", "label", "decision"} <= set(header):
        return [], table.source
    size = len(table.rows) - 1
    cells = [table.cells(name) if name in header else [""] * size for name in FIELDS]
    rows = zip((number for number, _ in table.rows[1:]), *cells, strict=True)
    return [(n, item, label, *map(str.strip, said)) for n, item, label, *said in rows], table.source


def entries_of(given: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return item and entry of each row as the page keeps them, none of other tables."""
    return [
        (item, {**ENTRIES.get(what, {"label": label}), **({"note": note} if note else {})})
        for _, item, label, what, _, note in _rows(given)[0]
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
        ("without a label", lambda row: is_blank(row[2]), 1,
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
