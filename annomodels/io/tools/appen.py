"""Appen, earlier Figure Eight and CrowdFlower: the full report."""

from __future__ import annotations

from typing import Any

from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import Columns
from annomodels.io.tools.judgements import Judgements
from annomodels.io.tools.tables import answer_columns, item_column, rows_of, usable

UNIT, CODER = "_unit_id", "_worker_id"


def is_appen(source: Source, options: Options) -> bool:
    """Whether there are columns ``_unit_id`` and ``_worker_id``."""
    return {UNIT, CODER} <= set(source.header)


def is_appen_aggregated(source: Source, options: Options) -> bool:
    """Whether there is ``_unit_id`` and a confidence, but no column that says who it was."""
    header = source.header
    return (
        UNIT in header
        and CODER not in header
        and any(name.endswith(":confidence") for name in header)
    )


def read_appen_aggregated(source: Source, options: Options) -> Columns:
    """Say that an aggregated report holds no judgements."""
    found = Judgements(source, options)
    found.problem(
        "This is the aggregated report: one label for each unit, and not who gave which.",
        "Download the 'Full' report of the job.",
    )
    return found.columns()


def read_appen(source: Source, options: Options) -> Columns:
    """Columns of the answers; tainted judgements are left out, test questions are known truth.

    Address and place of the coders are in the report and are never copied.
    """
    found = Judgements(source, options)
    table = usable(source, found)
    header = table.header
    item, text = item_column(table, found, UNIT), options.text or "text"
    if found.problems:
        return found.columns()
    ends = ("_gold", "_gold_reason", ":confidence")
    free = [n for n in header if not n.startswith("_") and not n.endswith(ends)]
    free = [name for name in free if name not in (item, text)]
    with_gold = [name for name in free if f"{name}_gold" in header]
    asked = options.label or (options.question if options.question in header else None)
    questions = [asked] if asked in header else with_gold
    if not questions:
        questions = answer_columns(table, free, UNIT, asked, found)
    tests = 0
    for row, cells in rows_of(table):
        name = cells[item]
        if _is_true(cells.get("_golden")):
            tests += 1
            for question in questions:
                found.gold(name, question, _gold(cells.get(f"{question}_gold"), found))
        if _is_true(cells.get("_tainted")):
            found.leave_out("they are tainted")
            continue
        found.text(name, cells.get(text))
        for question in questions:
            labels = [part for part in str(cells[question]).split("\n") if part]
            found.add(name, cells[CODER], question, labels, row, cells.get("_id", ""))
    if tests:
        found.note(
            f"{tests:,} judgements of test questions are kept, and the answers to them are known "
            "truth; such items are often left out when agreement is reported."
        )
    return found.columns()


def _is_true(cell: Any) -> bool:
    return str(cell).lower() == "true"


def _gold(cell: Any, found: Judgements) -> Any:
    """Give the one right answer; where several are accepted, none is the truth."""
    answers = [part for part in str(cell or "").split("\n") if part]
    if len(answers) > 1:
        found.note("Test questions that accept several answers are not used as known truth.")
        return None
    return answers
