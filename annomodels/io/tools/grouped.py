"""Patterns of labels with the number of items that show them, as the R package rater has them."""

from __future__ import annotations

from annomodels.io.columns import Columns, matched
from annomodels.io.judgements import Judgements
from annomodels.io.source import Options, Source
from annomodels.io.tools.tables import rows_of, usable

__all__ = ["is_grouped", "read_grouped"]

MOST = 20_000_000  # judgements


def is_grouped(source: Source, options: Options) -> bool:
    """Whether the last column is ``n`` with whole numbers, and the others share their labels."""
    if source.header[-1:] != ("n",) or options.coder_columns:
        return False
    header = source.table.header
    if len(header) < 3 or header[-1] != "n" or matched(header)["item"]:
        return False
    if options.item or options.coder or options.label:
        return False
    *coders, counts = source.table.columns.values()
    if any(isinstance(cell, (list, dict)) for cells in (*coders, counts) for cell in cells):
        return False
    if not set(coders[0]) <= {cell for cells in coders[1:] for cell in cells}:
        return False  # the first column names items, so n is something else
    return all(isinstance(n, str) and n.isascii() and n.isdigit() for n in counts)


def read_grouped(source: Source, options: Options) -> Columns:
    """Columns of patterns written out; items are named by row and number."""
    found = Judgements(source, options)
    table = usable(source, found)
    coders = table.header[:-1]
    if "n" not in table.columns or not len(coders):
        found.problem("There is no column n after the coders.", "Give one column for each coder.")
        return found.columns()
    counts = [str(count) for count in table.columns["n"]]
    if any(not count.isdigit() or len(count) > 9 for count in counts):
        found.problem("The column n holds cells that are no counts.", "Give whole numbers.")
        return found.columns()
    if sum(map(int, counts)) * len(coders) > MOST:
        found.problem(f"It stands for more than {MOST:,} judgements.", "Give a part of it.")
        return found.columns()
    for row, cells in rows_of(table):
        for number in range(1, int(str(cells["n"])) + 1):
            for coder in coders:
                found.add(f"{row}.{number}", coder, "label", cells[coder], row)
    found.note("Read as patterns with counts: each row stands for n items.")
    return found.columns()
