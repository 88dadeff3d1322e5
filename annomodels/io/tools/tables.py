"""What readers of tabular exports share: cells of a row, answers that vary, prefixes of names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annomodels.data.validation import some
from annomodels.io.judgements import Judgements
from annomodels.io.source import Source
from annomodels.io.table import Table

__all__ = ["answer_columns", "item_column", "prefixed", "rows_of", "usable"]


def usable(source: Source, found: Judgements) -> Table:
    """Give the table of a source; its problems become those of the judgements."""
    found.problems += source.table.problems
    found.notes += source.table.notes
    return source.table


def item_column(table: Table, found: Judgements, default: str) -> str:
    """Give the column of the items, as named or the tool's own; report names not there."""
    options = found.options
    first = table.header[0] if table.header else default
    name = options.item or (default if default in table.header else first)
    if not found.problems:
        found.require(table.header, name, "item")
        found.require(table.header, options.text, "text")
    return name


def rows_of(table: Table) -> Iterator[tuple[int, dict[str, object]]]:
    """Row number and cells by column name."""
    names = table.header
    for row, cells in zip(table.rows, zip(*table.columns.values(), strict=True), strict=True):
        yield row, dict(zip(names, cells, strict=True))


def prefixed(header: Sequence[str], name: str | None, prefix: str) -> str | None:
    """Column that was named, with or without the prefix that the tool puts before it.

    Examples
    --------
    >>> prefixed(["INPUT:id", "id"], "id", "INPUT:"), prefixed(["INPUT:id"], "id", "INPUT:")
    ('id', 'INPUT:id')
    """
    if name is None or name in header or prefix + name not in header:
        return name
    return prefix + name


def answer_columns(
    table: Table, candidates: Sequence[str], unit: str, asked: str | None, found: Judgements
) -> list[str]:
    """Columns that hold answers: the one that was named, else those that vary within a unit.

    What belongs to the unit is the same in all its rows, so what varies was said by the coders.

    Parameters
    ----------
    table
        The export.
    candidates
        Columns that may hold answers.
    unit
        Column that tells the units apart.
    asked
        The column that the user named, or None.
    found
        Where problems are reported.
    """
    if asked is not None:
        found.require(table.header, asked, "label")
        return [asked] if asked in table.header else []
    units = [repr(cell) for cell in table.columns[unit]]
    varying = []
    for name in candidates:
        first: dict[str, str] = {}
        cells = (repr(cell) for cell in table.columns[name])
        if any(first.setdefault(u, cell) != cell for u, cell in zip(units, cells, strict=True)):
            varying.append(name)
    if not varying and len(candidates) == 1:
        return list(candidates)
    if not varying:
        found.problem(
            "No column varies within the items, so it cannot be seen which one holds the labels.",
            f"Name it with label=... (--label). The columns are {some(candidates)}.",
        )
    return varying
