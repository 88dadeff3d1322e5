"""Wide tables: one row for each item, one column for each coder."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

from annomodels.data.validation import LONGEST_LABEL, MANY_LABELS, all_numbers, some
from annomodels.errors import Problem
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import Columns, assemble, matched, named_column
from annomodels.io.tables.long import GOLD_WORDS
from annomodels.io.tables.questions import are_times, unsuitable
from annomodels.io.tables.table import Table
from annomodels.io.tables.variables import Grid, grid_of, one_variable, several

TEXT_WORDS = ("text", "sentence", "comment", "comments", "document", "doc", "group", "batch")


def is_wide(source: Source, options: Options) -> bool:
    """Whether the first column names each item once and the other columns share their labels."""
    table = source.table
    if options.coder_columns is not None:
        return True
    if options.coder is not None or options.label is not None:
        return False
    hits = matched(table.header)
    if hits["coder"] or hits["label"] or len(table.header) < 3 or not len(table):
        return False
    if any(isinstance(cell, (list, dict)) for cells in table.columns.values() for cell in cells):
        return False
    items = table.columns[options.item if options.item in table.columns else table.header[0]]
    return _distinct(items) == len(items)


def read_wide(source: Source, options: Options) -> Columns:
    """Columns of a wide table; a cell without a label is a skip."""
    table = source.table
    if not table.columns:
        return Columns(problems=table.problems)
    item = options.item if options.item is not None else table.header[0]
    extra = options.extra
    problems = [*table.problems, *named_column(table.header, item, "item", table.source)]
    for role, name in extra.items():
        problems += named_column(table.header, name, role, table.source)
    grid = _grid(table, options, item)
    for role in ("coder", "label", "question"):
        if getattr(options, role) is not None and not (role == "question" and grid):
            what = f"A wide table has no {role} column: each further column is a coder."
            remedy = f"Leave out {role}=, or say format='long'."
            problems.append(Problem(what, table.source, remedy))
    coders = {name: name for name in _coders(table, options, item)}
    if grid is not None and options.question is not None:
        said, wrong = one_variable(grid, options.question, table.source)
        coders = {column: coder for coder, column in said.items()} or coders
        problems += wrong
    elif grid is not None and options.every:
        pass
    elif grid is not None and grid.apart and not options.forced:
        problems.append(several(grid, table.source))
    for name in (name for name in coders if name not in table.columns):
        problems += named_column(table.header, name, "coder", table.source)
    if not coders:
        what = "There is no column for a coder."
        problems.append(Problem(what, table.source, "Give one column for each coder."))
    problems = list(dict.fromkeys(problems))
    if problems:
        return Columns(problems=problems)
    if grid is not None and options.every:
        return _each_variable(table, grid, item, options)
    if options.coder_columns is None:
        if options.item is None and are_times(table.columns[item]):
            return Columns(problems=[_survey(table, item)])
        problems += _not_coders(table, list(coders), options)
        if not options.forced and looks_like_counts([table.columns[name] for name in coders]):
            problems.append(_counts(table))
        if problems:
            return Columns(problems=problems)
    columns = _melted(table, item, coders, extra, options)
    used = {item, *coders, *options.taken}
    left = [name for name in table.header if name not in used]
    if left:
        columns.notes.append(f"{'Column' if len(left) == 1 else 'Columns'} not used: {some(left)}.")
    if grid is not None and options.question is None and options.coder_columns is None:
        first = next(iter(grid.columns))
        columns.notes.append(
            f"Every column is read as a coder. Are they {grid}? Then choose one with "
            f"question={first!r}."
        )
    columns.notes = [*table.notes, *columns.notes]
    columns.skips -= sum(table.absent.get(name, 0) for name in coders)
    return columns


def _each_variable(table: Table, grid: Grid, item: str, options: Options) -> Columns:
    """Give the columns of every variable, when asked for."""

    def read(name: str) -> Columns:
        coders = {column: coder for coder, column in grid.columns[name].items()}
        columns = _melted(table, item, coders, options.extra, options)
        columns.question = name
        return columns

    left_out = {}
    for name in grid.columns:
        columns = read(name)
        why = unsuitable(name, columns.items, columns.coders, columns.labels)
        if why is not None:
            left_out[name] = why
    parts = {name: functools.partial(read, name) for name in grid.columns}
    return Columns(parts=parts, left_out=left_out, notes=list(table.notes))


def _grid(table: Table, options: Options, item: str) -> Grid | None:
    """Variables and coders that the names of the columns are made of."""
    if options.coder_columns is not None:
        return None
    names = [name for name in _coders(table, options, item) if name in table.columns]
    return grid_of(
        {name: {repr(c) for c in table.columns[name] if not _skip(c, options)} for name in names}
    )


def _coders(table: Table, options: Options, item: str) -> list[str]:
    if options.coder_columns is not None:
        return list(dict.fromkeys(options.coder_columns))
    return [name for name in table.header if name != item and name not in options.taken]


def _melted(
    table: Table, item: str, coders: dict[str, str], extra: dict[str, str], options: Options
) -> Columns:
    """One row for each cell; `coders` names the coder of each column."""
    size, repeat = len(table), len(coders)
    cells: dict[str, Sequence[Any]] = {
        "item": [name for name in table.columns[item] for _ in range(repeat)],
        "coder": list(coders.values()) * size,
        "label": [
            label
            for row in zip(*(table.columns[name] for name in coders), strict=True)
            for label in row
        ],
    }
    for role, name in extra.items():
        cells[role] = [cell for cell in table.columns[name] for _ in range(repeat)]
    rows = [row for row in table.rows for _ in range(repeat)]
    return assemble(cells, rows, table.source, {"item": item, **extra}, options.is_skip)


def looks_like_counts(columns: Sequence[Sequence[Any]]) -> bool:
    """Whether cells could be numbers of coders: whole numbers with the same sum in every row.

    Examples
    --------
    >>> looks_like_counts([["3", "0", "1"], ["0", "3", "2"]])
    True
    >>> looks_like_counts([["1", "2", "1"], ["1", "2", "2"]])
    False
    """
    if len(columns) < 2 or len(columns[0]) < 3:
        return False
    if not all(isinstance(c, str) and c.isascii() and c.isdigit() for col in columns for c in col):
        return False
    if any(len(cell) > 9 for column in columns for cell in column):
        return False
    rows = list(zip(*([int(cell) for cell in column] for column in columns), strict=True))
    sums = {sum(row) for row in rows}
    return len(sums) == 1 and len(set(rows)) > 1


def _counts(table: Table) -> Problem:
    what = "Every row holds whole numbers with the same sum: are these counts of labels, or labels?"
    remedy = (
        "If they are labels of coders, say format='wide'. If they are "
        "counts, give the individual labels as item, coder, label: counts do not say who gave "
        "which."
    )
    return Problem(what, table.source, remedy)


def _not_coders(table: Table, coders: Sequence[str], options: Options) -> list[Problem]:
    """Columns that are no coder by their name, their texts or because they share no label."""
    problems = []
    labels = {name: {c for c in table.columns[name] if not _skip(c, options)} for name in coders}
    times = Counter(label for given in labels.values() for label in given)
    filled = sum(bool(given) for given in labels.values())
    for name in coders:
        plain = name.strip().casefold()
        shares = any(times[label] > 1 for label in labels[name])
        why = ""
        if plain in GOLD_WORDS:
            why = f"Is column {name!r} a coder or the known truth?"
        elif plain in TEXT_WORDS and not shares:
            why = f"Column {name!r} looks like information about the items, not a coder."
        elif not options.forced and _is_text(labels[name], len(table)):
            why = f"Column {name!r} looks like texts, not a coder's labels."
        elif not options.forced and labels[name] and filled > 1 and not shares:
            why = f"Column {name!r} shares no label with the other columns; is it a coder?"
        if why:
            remedy = (
                f"Say gold={name!r}, text={name!r} or group={name!r} if it is that; "
                "else list the coders with coder_columns=[...] or say format='wide'; or name "
                "item=, coder= and label= if the table has one row for each label."
            )
            problems.append(Problem(why, f"{table.source}, column {name!r}", remedy))
    if len(problems) > 2:  # the columns do not look like coders at all
        what = (
            "This is neither a table with columns item, coder, label nor one with a column for "
            "each coder."
        )
        where = f"{table.source}, columns {some(table.header)}"
        remedy = "Name the columns with item=..., coder=..., label=..., or say format='wide'."
        return [Problem(what, where, remedy)]
    return problems


def _survey(table: Table, item: str) -> Problem:
    what = (
        f"Every row begins with a time ({item!r}), so this looks like a survey with a row for each "
        "respondent, and not like a table with a row for each item."
    )
    remedy = (
        "A survey of opinions has no agreement of coders. If its columns are items, give a table "
        "with item (the column), coder (the respondent), label; if its rows are, name the column "
        "of the items with item=... and those of the coders with coder_columns=[...]."
    )
    return Problem(what, table.source, remedy)


def _is_text(labels: set[Any], size: int) -> bool:
    if any(isinstance(label, str) and len(label) > LONGEST_LABEL for label in labels):
        return True
    return len(labels) > MANY_LABELS and len(labels) > size / 2 and not all_numbers(labels)


def _skip(cell: Any, options: Options) -> bool:
    return isinstance(cell, (list, dict)) or options.is_skip(cell)


def _distinct(cells: Sequence[Any]) -> int:
    return len({repr(cell) for cell in cells})
