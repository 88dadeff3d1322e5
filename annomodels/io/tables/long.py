"""Long tables: one row for each label."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from annomodels.data.validation import check_hashable, counted, some
from annomodels.errors import Option, Problem
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import (
    Columns,
    Part,
    assemble,
    choose,
    find_roles,
    matched,
    named_column,
)
from annomodels.io.tables.questions import Unsuitable, question_column, suitable, unsuitable
from annomodels.io.tables.table import Table

GOLD_WORDS = ("gold", "truth", "gold_label", "gold label", "true_label", "ground_truth")


def is_long(source: Source, options: Options) -> bool:
    """Whether item, coder and label were named or have columns with known names."""
    if options.coder_columns is not None:
        return False
    if options.coder is not None or options.label is not None:
        return True
    free = [name for name in source.table.header if name not in options.taken]
    found = matched(free)
    if options.item is not None:
        found["item"] = [options.item]
    return sum(bool(hits) for hits in found.values()) == 3


def read_long(source: Source, options: Options) -> Columns:
    """Columns of a long table, with notes on what was left out."""
    table = source.table
    taken = tuple(name for name in options.taken if name != options.item)
    asked, problems = question_column(
        table.header,
        (options.item, options.coder, options.label),
        options.question,
        table.source,
        options.question_column,
    )
    taken += () if asked is None else (asked,)
    roles, found, left_out, said = _variables(table, options, taken)
    given = {**roles, "label": next(iter(found))} if found else roles
    names, wrong = find_roles(table.header, given, table.source, taken)
    for role, name in options.extra.items():
        wrong += named_column(table.header, name, role, table.source)
        names[role] = name
    if wrong or table.problems:
        wrong = wrong if table.header else []
        return Columns(problems=[*table.problems, *wrong, *_no_header(table)])
    by_column = given["label"] == options.question is not None
    if found:
        parts = {
            name: partial(_assembled, table, options, {**names, "label": name}) for name in found
        }
        columns = choose(parts, found, left_out, options, table.source, "label", by="label")
        asked = None
    elif asked is not None and not by_column:
        columns = by_value(table, asked, options, lambda own: _assembled(own, options, names))
    elif problems and not by_column:
        return Columns(problems=problems)
    else:
        columns = _assembled(table, options, names)
        columns.question = str(names["label"] if said or by_column else options.question or "")
    if columns.parts or columns.problems:
        return columns
    used = (*names.values(), *options.taken, asked or "", *columns.names.values())
    columns.notes += unused_columns(table.header, used, "gold" in names)
    columns.notes = [*said, *columns.notes]
    return columns


def _assembled(table: Table, options: Options, names: dict[str, str]) -> Columns:
    """Columns of the rows of one question."""
    table = _without_repeats(table, names)
    return melted(table, names, {names["label"]: names["coder"]}, options, named=True)


def melted(
    table: Table,
    names: Mapping[str, str],
    labels: Mapping[str, str],
    options: Options,
    *,
    named: bool = False,
) -> Columns:
    """One row for each cell of the columns of labels, with the coder of each, or the column of it.

    All tables are read by it: a long one has one column of labels, a wide one that of each coder.
    """
    repeat = len(labels)

    def repeated[T](cells: Sequence[T]) -> Sequence[T]:
        return cells if repeat == 1 else [cell for cell in cells for _ in range(repeat)]

    def row_by_row(columns: Iterable[str]) -> Sequence[object]:
        every = [table.columns[name] for name in columns]
        return every[0] if repeat == 1 else [c for row in zip(*every, strict=True) for c in row]

    cells = {role: repeated(table.columns[name]) for role, name in names.items()}
    cells["coder"] = row_by_row(labels.values()) if named else [*labels.values()] * len(table)
    cells["label"] = row_by_row(labels)
    columns = assemble(cells, repeated(table.rows), table.source, names, options.is_skip)
    columns.notes = [*table.notes, *columns.notes]
    columns.skips -= sum(table.absent.get(name, 0) for name in labels)
    return columns


def by_value(
    table: Table, name: str, options: Options, read: Callable[[Table], Columns]
) -> Columns:
    """Columns of the rows in which a column names the question that was asked for, or of each."""
    if wrong := check_hashable(table.columns[name], "question", table.source, table.rows):
        return Columns(problems=wrong)
    rows: dict[Any, list[int]] = {}
    for n, cell in enumerate(table.columns[name]):
        rows.setdefault(cell, []).append(n)
    counts = {question: len(own) for question, own in rows.items()}
    parts: dict[Any, Part] = {
        question: lambda own=rows[question]: read(table.take(own))  # type: ignore[misc]
        for question in sorted(rows, key=str)
    }
    left_out = unfit(parts, by_name=False) if options.every else {}
    return choose(parts, counts, left_out, options, f"{table.source}, column {name!r}")


def unfit(parts: Mapping[Any, Part], *, by_name: bool = True) -> dict[str, Unsuitable]:
    """Questions that hold no labels, with the reason."""
    found = {}
    for name, part in parts.items():
        made = part()
        word = str(name) if by_name else ""
        why = unsuitable(word, made.items, made.coders, made.labels)
        if why is not None and not made.problems:
            found[str(name)] = why
    return found


Found = tuple[dict[str, str | None], dict[str, int], dict[str, Unsuitable], list[str]]


def _variables(table: Table, options: Options, taken: tuple[str, ...]) -> Found:
    """Roles as named; where several columns may hold the labels, each is a question of its own."""
    roles = dict(options.roles)
    header = [name for name in table.header if name not in taken]
    known = matched(header)
    named = [roles[role] or (known[role] + [""])[0] for role in ("item", "coder")]
    free = [name for name in header if name not in named]
    is_one = (
        roles["label"] is not None
        or (known["label"] and not options.every and options.question not in header)
        or options.question_column
        or any(name.strip().casefold() == "question" for name in table.header)
        or not all(name in table.header for name in named)
        or table.problems
    )
    if not is_one and options.question in free:
        roles["label"] = options.question
    if is_one or roles["label"] is not None or len(free) < 2:
        return roles, {}, {}, []
    from annomodels.io.tables.variables import variables_beside

    found, left_out = variables_beside(table, named[0], named[1], free, options.is_skip)
    fit, said, wrong = suitable(found, left_out, options.question, table.source)
    if len(fit) < 2 and not wrong and not options.every:
        return ({**roles, "label": next(iter(fit))} if said else roles), {}, {}, said
    return roles, found, left_out, []


def _without_repeats(table: Table, names: dict[str, str]) -> Table:
    """Drop rows with an annotation id that has been seen with the same item, coder and label."""
    ids = ids_column(table.header, names.values())
    if ids is None:
        return table
    columns = [table.columns[ids], *(table.columns[names[role]] for role in ("item", "coder"))]
    seen: set[tuple[Any, ...]] = set()
    seen_ids: dict[Any, int] = {}
    keep: list[int] = []
    changed = 0
    for n, row in enumerate(zip(*columns, table.columns[names["label"]], strict=True)):
        key = tuple(map(repr, row))
        if not row[0] or key not in seen:
            keep.append(n)
            changed += bool(row[0]) and key[0] in seen_ids
        seen.add(key)
        seen_ids[key[0]] = n
    notes = list(table.notes)
    dropped = len(table) - len(keep)
    if dropped:
        notes.append(
            f"{counted(dropped, 'row')} dropped because they repeat an annotation id with the same "
            "item, coder and label."
        )
    if changed:
        notes.append(
            f"{counted(changed, 'row')} with an annotation id already used for another item, "
            "coder or label; all are kept."
        )
    return replace(table.take(keep) if dropped else table, notes=notes)


def ids_column(header: Sequence[str], used: Collection[str]) -> str | None:
    """Column that holds annotation ids; None where there is none, or it holds something else."""
    ids = next((name for name in header if name.strip().casefold() == "annotation_id"), None)
    return None if ids in used else ids


def unused_columns(header: Sequence[str], used: Collection[str], gold: bool) -> list[str]:
    """Say which columns are not used, and which of them may hold known gold."""
    known = {*used, ids_column(header, ())}
    left = [name for name in header if name not in known]
    notes = [f"{'Column' if len(left) == 1 else 'Columns'} not used: {some(left)}."] if left else []
    if not gold:
        notes += [
            f"Column {name!r} may contain known gold: use {Option('gold', name)} to use it."
            for name in left
            if name.strip().casefold() in GOLD_WORDS
        ]
    return notes


def no_header(table: Table) -> bool:
    """Whether the first row looks like the others: its cells but the first occur below."""
    rest = list(table.columns.items())[1:]
    return bool(rest) and len(table) > 0 and all(name and name in cells for name, cells in rest)


def _no_header(table: Table) -> list[Problem]:
    """Say that a file has no header, when the first row looks like the others."""
    if not no_header(table):
        return []
    what = "The first row looks like data, not like names of columns."
    remedy = (
        f"Name the columns in their order: {Option('columns', ['item', 'coder', 'label'])}; "
        "or put such a row above it."
    )
    return [Problem(what, f"{table.source}, row 1", remedy)]
