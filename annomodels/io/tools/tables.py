"""What readers of tabular exports share: cells of a row, answers that vary, prefixes of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annomodels.data.validation import some
from annomodels.errors import Option
from annomodels.io.tables.table import Table
from annomodels.io.tools.judgements import Judgements


def prefixed(header: Sequence[str], name: str | None, prefix: str) -> str | None:
    """Column that was named, with or without the prefix that the tool puts before it."""
    if name is None or name in header or prefix + name not in header:
        return name
    return prefix + name


def answer_columns(
    table: Table, candidates: Sequence[str], unit: str, asked: str | None, found: Judgements
) -> list[str]:
    """Columns that hold answers: the one that was named, else those that vary within a unit."""
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
            f"Name it with {Option('label')}. The columns are {some(candidates)}.",
        )
    return varying


WHOLE = "answer"  # the question when a form has no names


def answers_in(content: Any) -> dict[str, Any]:
    """Labels by question in the object that a form sends."""
    if not isinstance(content, Mapping) or not content:
        return {}
    if all(isinstance(value, bool) for value in content.values()):
        return {WHOLE: _chosen(content)}
    return {str(name): _label(value) for name, value in content.items()}


def _label(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    for key in ("label", "labels"):
        if key in value:
            return value[key]
    if value and all(isinstance(part, bool) for part in value.values()):
        return _chosen(value)
    return value


def _chosen(options: Mapping[str, Any]) -> list[str]:
    return [str(name) for name, chosen in options.items() if chosen is True]
