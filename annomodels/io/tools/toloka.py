"""Toloka: the file of assignments."""

from __future__ import annotations

from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import Columns
from annomodels.io.tools.judgements import Judgements
from annomodels.io.tools.tables import prefixed, rows_of, usable

_NOT_DONE = {"SKIPPED", "EXPIRED"}


def read_toloka_aggregated(source: Source, options: Options) -> Columns:
    """Say that aggregated results hold no judgements."""
    found = Judgements(source, options)
    found.problem(
        "This is Toloka's aggregated result: one label for each task, and not who gave which.",
        "Download the assignments of the pool ('Download results', not 'aggregated results').",
    )
    return found.columns()


def read_toloka(source: Source, options: Options) -> Columns:
    """Columns of the outputs; rejected assignments are left out, golden values are known truth."""
    found = Judgements(source, options)
    table = usable(source, found)
    header = table.header
    if "ASSIGNMENT:worker_id" not in header:
        found.problem("There is no column 'ASSIGNMENT:worker_id'.", "Download the assignments.")
    named = prefixed(header, options.item, "INPUT:")
    found.require(header, named, "item")
    if found.problems:
        return found.columns()
    inputs = [name for name in header if name.startswith("INPUT:")]
    item_columns = [named] if named else ["ASSIGNMENT:task_id"]
    if item_columns[0] not in header:
        item_columns = inputs
        found.note("The items are named by their inputs, because the file has no task_id.")
    outputs = [n.removeprefix("OUTPUT:") for n in header if n.startswith("OUTPUT:")]
    text = prefixed(header, options.text or "text", "INPUT:") or ""
    for row, cells in rows_of(table):
        item = " | ".join(str(cells[name]) for name in item_columns)
        status = str(cells.get("ASSIGNMENT:status", "")).upper()
        for question in outputs:
            found.gold(item, question, cells.get(f"GOLDEN:{question}"))
        if status == "REJECTED":
            found.leave_out("they were rejected")
        elif status in _NOT_DONE:
            found.skip(item)
        else:
            found.text(item, cells.get(text))
            for question in outputs:
                found.add(
                    item, cells["ASSIGNMENT:worker_id"], question, cells[f"OUTPUT:{question}"], row
                )
    return found.columns()
