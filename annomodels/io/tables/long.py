"""Long tables: one row for each label."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from annomodels.data.validation import check_hashable, counted, some
from annomodels.errors import Problem
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import (
    ROLES,
    Columns,
    assemble,
    find_roles,
    matched,
    named_column,
)
from annomodels.io.tables.questions import (
    Unsuitable,
    choose_question,
    question_column,
    suitable,
    unsuitable,
)
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
    roles, variables, said, problems = _variable(table, options, taken)
    if problems:
        return Columns(problems=[*table.problems, *problems])
    if variables and variables[0] and not table.problems:
        return _each_variable(table, options, taken, variables)
    names, problems = find_roles(table.header, roles, table.source, taken)
    for role, name in options.extra.items():
        problems += named_column(table.header, name, role, table.source)
        names[role] = name
    if problems or table.problems:
        if not table.header:
            problems = []
        return Columns(problems=[*table.problems, *problems, *_no_header(table)])
    by_column = roles["label"] == options.question is not None
    if not by_column:
        table, problems, asked = _one_question(table, options)
        if problems:
            return Columns(problems=problems)
        if options.every and asked:
            return _each_value(table, options, names, asked)
    else:
        asked = ""
    columns = _assembled(table, options, names)
    used = (*names.values(), *options.taken, asked)
    ignored = unused_columns(table.header, used, "gold" in names)
    columns.notes = [*said, *columns.notes, *ignored]
    columns.question = str(names["label"] if said or by_column else options.question or "")
    return columns


def _assembled(table: Table, options: Options, names: dict[str, str]) -> Columns:
    """Columns of the rows of one question."""
    table, notes = _without_repeats(table, names)
    cells = {role: table.columns[name] for role, name in names.items()}
    columns = assemble(cells, table.rows, table.source, names, options.is_skip)
    columns.notes = [*table.notes, *notes, *columns.notes]
    columns.skips -= table.absent.get(names["label"], 0)
    return columns


def _each_variable(
    table: Table, options: Options, taken: tuple[str, ...], variables: Variables
) -> Columns:
    """Give the columns of every variable, when asked for."""
    found, left_out = variables
    given = {**options.roles, "label": next(iter(found))}
    names, problems = find_roles(table.header, given, table.source, taken)
    for role, name in options.extra.items():
        problems += named_column(table.header, name, role, table.source)
        names[role] = name
    if problems:
        return Columns(problems=problems)

    def read(name: str) -> Columns:
        columns = _assembled(table, options, {**names, "label": name})
        columns.question = name
        return columns

    parts = {name: functools.partial(read, name) for name in found}
    return Columns(parts=parts, left_out=left_out)


def _each_value(table: Table, options: Options, names: dict[str, str], asked: str) -> Columns:
    """Give the columns of every value of the column of questions, when asked for."""
    rows: dict[str, list[int]] = {}
    for n, cell in enumerate(table.columns[asked]):
        rows.setdefault(str(cell), []).append(n)
    left_out = {}
    for question, own in rows.items():
        filled = [n for n in own if not options.is_skip(table.columns[names["label"]][n])]
        cells = ([table.columns[names[role]][n] for n in filled] for role in ROLES)
        why = unsuitable("", *cells)
        if why is not None:
            left_out[question] = why

    def read(question: str) -> Columns:
        columns = _assembled(table.take(rows[question]), options, names)
        columns.question = question
        return columns

    parts = {question: functools.partial(read, question) for question in sorted(rows)}
    return Columns(parts=parts, left_out=left_out)


Variables = tuple[dict[str, int], dict[str, Unsuitable]]
Chosen = tuple[dict[str, str | None], Variables | None, list[str], list[Problem]]


def _variable(table: Table, options: Options, taken: tuple[str, ...]) -> Chosen:
    """Roles as named; where several columns may hold the labels, each is a question of its own."""
    roles = dict(options.roles)
    header = [name for name in table.header if name not in taken]
    known = matched(header)
    beside = options.every or options.question in header
    if roles["label"] is not None or (known["label"] and not beside):
        return roles, None, [], []
    if any(name.strip().casefold() == "question" for name in header):
        return roles, None, [], []
    named = [roles[role] or (known[role] + [""])[0] for role in ("item", "coder")]
    free = [name for name in header if name not in named]
    if not all(name in table.header for name in named):
        return roles, None, [], []
    if options.question in free:
        return {**roles, "label": options.question}, None, [], []
    if len(free) < 2:
        return roles, None, [], []
    from annomodels.io.tables.variables import variables_beside

    found, left_out = variables_beside(table, named[0], named[1], free, options.is_skip)
    if options.every:
        return roles, (found, left_out), [], []
    fit, said, problems = suitable(found, left_out, options.question, table.source)
    if len(fit) < 2 and not problems:
        return ({**roles, "label": next(iter(fit))} if said else roles), None, said, []
    problems += choose_question(fit, options.question, table.source, "label")[1] if fit else []
    return (
        roles,
        None,
        [],
        [
            dataclasses.replace(problem, remedy=f"{problem.remedy} Or name it with label=.")
            for problem in problems
        ],
    )


def _one_question(table: Table, options: Options) -> tuple[Table, list[Problem], str]:
    """Rows of the question that was asked for; several questions are never mixed."""
    taken = (options.item, options.coder, options.label)
    name, missed = question_column(table.header, taken, options.question, table.source)
    if name is None:
        return table, missed, ""
    problems = check_hashable(table.columns[name], "question", table.source, table.rows)
    if problems:
        return table, problems, name
    counts = Counter(table.columns[name])
    where = f"{table.source}, column {name!r}"
    question, problems = (
        (None, []) if options.every else choose_question(counts, options.question, where)
    )
    if problems or options.question is None:
        return table, problems, name
    keep = [n for n, cell in enumerate(table.columns[name]) if cell == question]
    return table.take(keep), [], name


def _without_repeats(table: Table, names: dict[str, str]) -> tuple[Table, list[str]]:
    """Drop rows with an annotation id that has been seen with the same item, coder and label."""
    ids = ids_column(table.header, names.values())
    if ids is None:
        return table, []
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
    notes = []
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
    return (table.take(keep) if dropped else table), notes


def ids_column(header: Sequence[str], used: Collection[str]) -> str | None:
    """Column that holds annotation ids; None where there is none, or it holds something else.

    Examples
    --------
    >>> ids_column(["item", "Annotation_ID"], ["item"])
    'Annotation_ID'
    """
    ids = next((name for name in header if name.strip().casefold() == "annotation_id"), None)
    return None if ids in used else ids


def unused_columns(header: Sequence[str], used: Collection[str], gold: bool) -> list[str]:
    """Say which columns are not used, and which of them may hold known gold."""
    known = {*used, ids_column(header, ())}
    left = [name for name in header if name not in known]
    notes = [f"{'Column' if len(left) == 1 else 'Columns'} not used: {some(left)}."] if left else []
    if not gold:
        notes += [
            f"Column {name!r} may contain known gold: use gold={name!r} to use it."
            for name in left
            if name.strip().casefold() in GOLD_WORDS
        ]
    return notes


def _no_header(table: Table) -> list[Problem]:
    """Guess that a file has no header when the first row looks like the others."""
    if not table.columns or not len(table):
        return []
    if not all(name and name in cells for name, cells in list(table.columns.items())[1:]):
        return []
    what = "The first row looks like data, not like names of columns."
    remedy = (
        "Name the columns in their order: columns=['item', 'coder', 'label']; "
        "or put such a row above it."
    )
    return [Problem(what, f"{table.source}, row 1", remedy)]
