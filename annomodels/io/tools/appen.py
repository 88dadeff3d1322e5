"""Appen, earlier Figure Eight and CrowdFlower: the full report."""

from __future__ import annotations

from typing import Any

from annomodels.io.objects import at, keys_of
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import Columns
from annomodels.io.tools.judgements import Judgements
from annomodels.io.tools.tables import answer_columns, item_column, rows_of, usable

UNIT, CODER = "_unit_id", "_worker_id"


def read_appen_aggregated(source: Source, options: Options) -> Columns:
    """Say that an aggregated report holds no judgements."""
    found = Judgements(source, options)
    found.problem(
        "This is the aggregated report: one label for each unit, and not who gave which.",
        "Download the 'Full' report of the job.",
    )
    return found.columns()


def read_appen(source: Source, options: Options) -> Columns:
    """Columns of the answers; tainted judgements are left out, test questions are known truth."""
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


def is_appen_json(source: Source, options: Options) -> bool:
    """Whether records hold the judgments of their units."""
    return any(_judgments(record) for record in source.sample)


def read_appen_json(source: Source, options: Options) -> Columns:
    """Columns of the answers; tainted and rejected judgments are left out."""
    found = Judgements(source, options)
    if options.item is not None:
        fields = keys_of(part.get("unit_data") for r in source.sample for part in _judgments(r))
        found.require(fields, options.item, "item")
    for row, record in found.objects():
        for part in _judgments(record):
            unit, data = part.get("unit_data"), part.get("data")
            item = part.get("unit_id", record.get("id"))
            item = item if options.item is None else at(unit, options.item)
            found.text(item, at(unit, options.text or "text"))
            if _is_true(part.get("tainted")):
                found.leave_out("they are tainted")
            elif _is_true(part.get("rejected")):
                found.leave_out("they were rejected")
            elif isinstance(data, dict):
                for question, label in data.items():
                    found.add(item, part.get("worker_id"), question, label, row, part.get("id"))
    return found.columns()


def _judgments(record: Any) -> list[dict[str, Any]]:
    """Judgments in the record of a unit."""
    parts = at(record, "results.judgments")
    return [
        part for part in parts if isinstance(part, dict) and "worker_id" in part and "data" in part
    ] if isinstance(parts, list) else []  # fmt: skip
