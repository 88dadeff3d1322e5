"""Tables whose cells are texts with marks inside: said for what they are, and not read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from annomodels.errors import Option, Problem
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import Columns, matched
from annomodels.io.tables.questions import has_markup, tag_in
from annomodels.io.tables.table import Table

_LOOKED_AT = 200  # rows


def is_marked_text(source: Source, options: Options) -> bool:
    """Whether most columns hold text with tags in it, and none is named or known for labels."""
    if options.label or options.question or options.coder_columns or source.kind == "xml":
        return False
    table = source.table
    filled = [name for name in table.header if any(islice(table.columns[name], _LOOKED_AT))]
    return bool(filled) and not matched(filled)["label"] and 2 * len(_marked(table)) >= len(filled)


def read_marked_text(source: Source, options: Options) -> Columns:
    """Say that marks in cells are not read, and what to export instead."""
    table = source.table
    names = _marked(table)
    tag = next(tag for cell in table.columns[names[0]] if (tag := tag_in(cell)))
    listed = ", ".join(map(repr, names[:4])) + (", ..." if len(names) > 4 else "")
    what = (
        f"The cells of {listed} hold marked text, with tags inside such as {tag}, and no column "
        "holds labels: marks inside cells are not read."
    )
    remedy = (
        "Export the marks as spans (WebAnno TSV, UIMA CAS, brat, Label Studio JSON) and say what "
        f"the items are with {Option('units', ...)}; or give a table with a row for each mark: "
        "item (the text "
        "and the place), coder, label."
    )
    return Columns(problems=[Problem(what, source.name, remedy)])


def _marked(table: Table) -> list[str]:
    """Columns of which most cells have tags in them."""
    found = []
    for name, cells in table.columns.items():
        few: Sequence[Any] = [cell for cell in islice(cells, _LOOKED_AT) if cell != ""]
        marked = sum(isinstance(cell, str) and has_markup(cell) for cell in few)
        if few and 2 * marked > len(few):
            found.append(name)
    return found
