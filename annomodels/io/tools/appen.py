"""Appen, earlier Figure Eight and CrowdFlower, as JSON."""

from __future__ import annotations

from typing import Any

from annomodels.io.objects import at, keys_of
from annomodels.io.source import Options, Source
from annomodels.io.tools.judgements import Judgements


def _is_true(cell: Any) -> bool:
    return str(cell).lower() == "true"


def is_appen_json(source: Source, options: Options) -> bool:
    """Whether records hold the judgments of their units."""
    return any(_judgments(record) for record in source.sample)


def read_appen_json(source: Source, options: Options, found: Judgements) -> None:
    """Columns of the answers; tainted and rejected judgments are left out."""
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


def _judgments(record: Any) -> list[dict[str, Any]]:
    """Judgments in the record of a unit."""
    parts = at(record, "results.judgments")
    return [
        part for part in parts if isinstance(part, dict) and "worker_id" in part and "data" in part
    ] if isinstance(parts, list) else []  # fmt: skip
