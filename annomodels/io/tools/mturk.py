"""Amazon Mechanical Turk and Turkle: the table of results of a batch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from annomodels.io.objects import parsed
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tools.rows import prefixed

_NUMBERED = re.compile(r"^(.*?)(\d+)$")
WHOLE = "answer"  # the question when a form has no names
_BOXES = frozenset(("true", "false", "on", ""))


def is_mturk(source: Source, options: Options) -> bool:
    """Whether there are the columns ``HITId`` and ``WorkerId``."""
    return {"HITId", "WorkerId"} <= set(source.header)


def read_mturk(found: Records) -> None:
    """Columns of the answers; rejected assignments are left out."""
    table, options = found.table, found.options
    header = table.header
    answers = [name for name in header if name.startswith("Answer.")]
    if not answers and not found.problems:
        found.problem(
            "There is no column that begins with 'Answer.'.",
            "Download the results of the batch, not the list of its tasks.",
        )
    numbers = _several_items(header)
    item = prefixed(header, options.item, "Input.")
    inputs = {n.removeprefix("Input.").rstrip("0123456789") for n in header if n[:6] == "Input."}
    if numbers and options.item in inputs:
        item = f"Input.{options.item}"
    else:
        found.require(header, item, "item")
    if found.problems:
        return
    text = prefixed(header, options.text or "text", "Input.") or ""
    boxes = _boxes(table.columns, answers)
    for row, cells in table.records():
        if cells.get("AssignmentStatus") == "Rejected":
            found.leave_out("they were rejected")
            continue
        coder = cells.get("Turkle.Username") or cells["WorkerId"]
        for question, number, label in _answers(cells, answers, boxes, numbers):
            name = _item_name(cells, item, number)
            found.text(name, cells.get(f"{text}{number}") or cells.get(text))
            assignment = f"{cells.get('AssignmentId', '')}"
            found.add(name, coder, question, label, row, assignment)


def _several_items(header: tuple[str, ...]) -> list[str]:
    """Numbers of the items in one task: those that both inputs and answers are numbered with."""
    ends: dict[str, dict[str, set[str]]] = {"Input.": {}, "Answer.": {}}
    for name in header:
        for prefix, stems in ends.items():
            match = _NUMBERED.match(name.removeprefix(prefix).removesuffix(".label"))
            if name.startswith(prefix) and match:
                stems.setdefault(match.group(1), set()).add(match.group(2))
    inputs = [numbers for numbers in ends["Input."].values() if len(numbers) > 1]
    outputs = [numbers for numbers in ends["Answer."].values() if len(numbers) > 1]
    shared = next((numbers for numbers in inputs if numbers in outputs), set())
    return sorted(shared, key=int)


def _item_name(cells: dict[str, Any], item: str | None, number: str) -> Any:
    if not number:
        return cells[item or "HITId"]
    if item is not None and f"{item}{number}" in cells:
        return cells[f"{item}{number}"]
    return f"{cells[item or 'HITId']}#{number}"


def _boxes(columns: Any, answers: list[str]) -> dict[str, str]:
    """Question of each column that only says whether an option was ticked."""
    ticks = [
        name
        for name in answers
        if any(columns[name]) and {str(c).lower() for c in columns[name]} <= _BOXES
    ]
    stems: dict[str, list[str]] = {}
    for name in ticks:
        stem, dot, _ = name.removeprefix("Answer.").rpartition(".")
        stems.setdefault(stem if dot else WHOLE, []).append(name)
    return {name: stem for stem, names in stems.items() if len(names) > 1 for name in names}


def _answers(
    cells: dict[str, Any], answers: list[str], boxes: dict[str, str], numbers: list[str]
) -> Iterator[tuple[str, str, Any]]:
    """Question, number of the item in the task ("" for one) and label of each answer."""
    ticked: dict[str, list[str]] = {question: [] for question in boxes.values()}
    flat: dict[str, Any] = {}
    for column in answers:
        name = column.removeprefix("Answer.")
        if column in boxes:
            if str(cells[column]).lower() in ("true", "on"):
                ticked[boxes[column]].append(name.removeprefix(f"{boxes[column]}."))
        elif name == "taskAnswers":
            forms = parsed(cells[column])
            for form in forms if isinstance(forms, list) else [forms]:
                flat |= answers_in(form)
        else:
            flat[name.removesuffix(".label")] = cells[column]
    for question, label in {**flat, **ticked}.items():
        match = _NUMBERED.match(question)
        if match and match.group(2) in numbers:
            yield match.group(1), match.group(2), label
        else:
            yield question, "", label


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
