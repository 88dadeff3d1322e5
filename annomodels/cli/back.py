"""Writing in the layout of another program, to a file or to stdout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.options import Writing
from annomodels.cli.session import note, plural, warn

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.io.writers.catalog import Writer


def put(writer: Writer, given: Any, writing: Writing, spreadsheet: bool) -> None:
    """Write what a writer makes, and warn of cells that a spreadsheet would compute.

    Parameters
    ----------
    writer
        The layout.
    given
        What it takes.
    writing
        Place and form.
    spreadsheet
        Whether to put an apostrophe before such cells.
    """
    from annomodels.cli.places import write_file
    from annomodels.cli.tables import emit, emit_text
    from annomodels.io.writing import WRITERS, write_table

    made = writer.make(given)
    if isinstance(made, str):
        emit_text(made, writing)
        return
    (made,) = guarded_tables([made], spreadsheet)
    path = str(writing.output or "-")
    endings = [suffix[1:].lower() for suffix in Path(path).suffixes if suffix.lower() != ".gz"]
    form = writing.form or writer.form or (endings[-1] if endings else "")
    if path == "-" and form == "parquet":
        raise click.UsageError("Parquet goes to a file: name it with -o.")
    if path != "-" and form in WRITERS:
        write_file(path, lambda beside: write_table(made, beside, form, force=True))
        note(f"Wrote {path}.")
    else:
        emit(made, Writing(writing.form or writer.form or "", writing.output, writing.force))


def guarded_tables(tables: Sequence[pd.DataFrame], spreadsheet: bool) -> list[pd.DataFrame]:
    """Put an apostrophe before cells that a spreadsheet would compute, or warn of them.

    Parameters
    ----------
    tables
        What is about to be written.
    spreadsheet
        Whether people open the files in a spreadsheet.
    """
    from annomodels.io.writers.catalog import formulas
    from annomodels.io.writing import guarded

    if spreadsheet:
        return [table.map(guarded) for table in tables]
    if found := formulas(cell for table in tables for name in table for cell in table[name]):
        warn(
            f"{plural(found, 'cell')} would be taken for a formula by a spreadsheet; "
            "add --spreadsheet if people open the file in one."
        )
    return list(tables)


def gold_back(
    path: str,
    to: str,
    threshold: float | None,
    question: str,
    writing: Writing,
    spreadsheet: bool,
) -> None:
    """Write the gold labels of a saved fit so that a tool imports them.

    Parameters
    ----------
    path
        The fit.
    to
        The tool, or "parquet" for a table with the probability of each label.
    threshold
        When given, items below it are handed back without a label.
    question
        Name of the question in the tool.
    writing, spreadsheet
        As for :func:`put`.
    """
    from annomodels.cli.summary import gold_table, loaded
    from annomodels.io.writers.catalog import BACKS, Writer, named
    from annomodels.io.writers.goldlist import gold_list

    fit = loaded(path)
    summary = fit.gold(threshold)
    table = gold_table(summary, threshold, soft=True)
    texts = dict(zip(fit.data.items, fit.data.texts or (), strict=False))
    if to == "parquet":
        put(Writer(to, "", lambda given: given, to), table, writing, spreadsheet)
    else:
        put(named(to, BACKS), gold_list(table, question, texts), writing, spreadsheet)
    for text in summary.notes:
        note(f"note: {text}")
