"""Long data frames of any make to columns, through narwhals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annomodels.data.validation import check_names, is_missing, variants
from annomodels.errors import AnnotationError, Problem
from annomodels.io.tables.columns import Columns, assemble, find_roles, named_column
from annomodels.io.tables.keys import Key, key_cells, parts_of, said_key

SOURCE = "data frame"


def columns_of(
    frame: Any,
    *,
    item: str | Sequence[str] | None = None,
    coder: str | None = None,
    label: str | None = None,
    gold: str | Mapping[Any, Any] | None = None,
    group: str | None = None,
    text: str | None = None,
) -> Columns:
    """Take the columns out of a long data frame."""
    table = _eager(frame)
    header = [str(name) for name in table.columns]
    extra = {"gold": gold if isinstance(gold, str) else None, "group": group, "text": text}
    named = {role: name for role, name in extra.items() if name is not None}
    key = said_key(item, header)
    if isinstance(key, Key) and all(part in header for part in key.parts):
        header.append(key)
    given = {"item": key, "coder": coder, "label": label}
    taken = (*named.values(), *(name for name in parts_of(key) if name != key))
    roles, problems = find_roles(header, given, SOURCE, taken)
    for role, name in named.items():
        problems += named_column(header, name, role, SOURCE)
    if problems:
        raise AnnotationError(problems)
    names = {**roles, **named}
    cells = {role: _cells(table, name) for role, name in names.items()}
    columns = assemble(cells, range(1, len(cells["item"]) + 1), SOURCE, names)
    if columns.problems:
        raise AnnotationError(columns.problems)
    for role, values in (("label", columns.labels), ("coder", columns.coders)):
        columns.notes += variants(values, role)
        problems += check_names(dict.fromkeys(values), role, SOURCE)
    if problems:
        raise AnnotationError(problems)
    if isinstance(gold, Mapping):
        columns.gold = gold
    return columns


def _cells(table: Any, name: str) -> list[Any]:
    """Cells of a column, or names of items that several columns give together."""
    if isinstance(name, Key):
        return key_cells([cells_of(table[part]) for part in name.parts])
    return cells_of(table[name])


def cells_of(series: Any) -> list[Any]:
    """Cells of a narwhals series as Python values."""
    cells = [None if is_missing(cell) else cell for cell in series.to_list()]
    numbers = [cell for cell in cells if cell is not None]
    if numbers and all(isinstance(cell, float) and cell.is_integer() for cell in numbers):
        return [None if cell is None else int(cell) for cell in cells]
    return cells


def _eager(frame: Any) -> Any:
    import narwhals as nw

    try:
        table = nw.from_native(frame)
    except TypeError:
        what = f"A table was expected, but this is {type(frame).__name__!r}."
        remedy = (
            "Give a data frame; read files with annomodels.read "
            "and rows with Annotations.from_records."
        )
        raise AnnotationError(Problem(what, remedy=remedy)) from None
    except ValueError as error:  # names of columns that occur twice
        remedy = "Give every column its own name."
        raise AnnotationError(Problem(str(error).splitlines()[0], SOURCE, remedy)) from None
    return table.collect() if isinstance(table, nw.LazyFrame) else table
