"""Batches of Amazon Mechanical Turk, and of Turkle, which exports the same columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from annomodels.data.validation import some
from annomodels.errors import Option
from annomodels.io.objects import cell_value, keys_of
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tools.rows import prefixed

_NUMBERED = re.compile(r"^(.*?)(\d+)$")
WHOLE = "answer"  # the question if a form has no names
_ASKED = {"q", "question", "frage"}  # with these names, numbered answers are separate questions
_JOINTS = "_-. "  # separators between a name and its number
_TICKED = {"true", "on"}
_BOXES = _TICKED | {"false", ""}


def is_mturk(source: Source, options: Options) -> bool:
    named = options.label in source.header and not str(options.label).startswith("Answer.")
    return {"HITId", "WorkerId"} <= set(source.header) and not named


def read_mturk(found: Records) -> None:
    """Read the answer columns; rejected assignments are left out."""
    table, options = found.table, found.options
    header = table.header
    asked = options.label if options.label in header else None
    answers = [name for name in header if name.startswith("Answer.") and asked in (None, name)]
    if not answers and not found.problems:
        found.problem(
            "No column begins with 'Answer.'.",
            "Download the results of the batch, not the list of its tasks.",
            code="no-answers",
        )
    inputs, outputs = (_numbered(header, prefix) for prefix in ("Input.", "Answer."))
    # items of one task: the numbers that inputs and answers share
    several = [own for own in inputs.values() if len(own) > 1 and own in outputs.values()]
    named = _stem(options.item, inputs)
    numbers = inputs[named] if named is not None and inputs[named] in several else set()
    if not numbers and several:
        numbers = several[0]
        if not _are_alike(table.columns, outputs, numbers):
            numbers = set()
            stem = next(stem for stem, own in inputs.items() if own == several[0])
            each = Option("item", stem.rstrip(_JOINTS))
            found.otherwise = f"If each of the numbered inputs is an item, use {each}."
    # columns of the item and of its text, by item number
    item = _places(header, options.item, inputs, numbers)
    stems = [stem.rstrip(_JOINTS) for stem, own in inputs.items() if own == numbers]
    plain = [name.removeprefix("Input.") for name in header if name.startswith("Input.")]
    text = _places(header, found.text_field([*stems, *plain]), inputs, numbers)
    for name, role, places in ((options.item, "item", item), (options.text, "text", text)):
        if not places:
            found.require(header, name, role)
    if found.problems:
        return
    if "Rejected" in table.columns.get("AssignmentStatus", ()):
        kept = [n for n, cell in enumerate(table.columns["AssignmentStatus"]) if cell != "Rejected"]
        found.leave_out("they were rejected", len(table) - len(kept))
        table = table.take(kept)
    columns, blank = table.columns, [""] * len(table)
    given = _answers(columns, answers)
    unread = {*range(len(table))}.difference(*given.values())
    if lost := [n for n in unread if any(columns[name][n] for name in answers)]:
        found.leave_out("their answers are not JSON objects", len(lost))
    users, ids = (columns.get(name, blank) for name in ("Turkle.Username", "AssignmentId"))
    coders = [user or who for user, who in zip(users, columns["WorkerId"], strict=True)]
    held: dict[str, list[Any]] = {}  # answers that are lists of objects, such as spans
    for question, labels in given.items():
        match = _NUMBERED.match(question)
        number = match[2] if match and match[2] in numbers else ""
        names = columns[item.get(number) or item.get("", "HITId")]
        if number and number not in item:
            names = [f"{name}#{number}" for name in names]
        texts = columns.get(text.get(number, text.get("", "")), ())
        asked = match[1] if match and number else question
        for n, label in labels.items():
            if (objects := _objects(label)) is not None:
                held[question] = held.get(question) or objects
            elif number or label or not numbers:  # not an empty comment on the entire task
                if texts:
                    found.text(names[n], texts[n])
                found.add(names[n], coders[n], asked, label, table.rows[n], ids[n])
    for question, example in held.items():
        what = f"The answers in {question!r} are lists of objects with {some(keys_of(example))}"
        if found.empty:
            found.problem(
                f"{what}, such as marked spans: they are not labels.",
                "Write a record per mark: item (the text and the place), coder, label.",
                code="not-a-label",
            )
        found.note(f"Not read, because {what[0].lower()}{what[1:]}.")


def _stem(name: str | None, inputs: Mapping[str, set[str]]) -> str | None:
    """Return the stem of numbered inputs for a name: tweet_ for tweet, tweet_ and tweet_1."""
    if name is None:
        return None
    name = name.removeprefix("Input.")
    for stem, own in inputs.items():
        if name in (stem, stem.rstrip(_JOINTS), *(f"{stem}{number}" for number in own)):
            return stem
    return None


def _places(
    header: Sequence[str], name: str | None, inputs: Mapping[str, set[str]], numbers: set[str]
) -> dict[str, str]:
    """Return the column of each item by number, or one column for all items under ""."""
    stem = _stem(name, inputs)
    if stem is not None and inputs[stem] == numbers:
        return {number: f"Input.{stem}{number}" for number in numbers}
    column = prefixed(header, name, "Input.")
    return {"": column} if column is not None and column in header else {}


def _numbered(header: tuple[str, ...], prefix: str) -> dict[str, set[str]]:
    """Return the final numbers of columns with a prefix, by the name before the number."""
    stems: dict[str, set[str]] = {}
    for name in header:
        match = _NUMBERED.match(name.removeprefix(prefix).removesuffix(".label"))
        if name.startswith(prefix) and match:
            stems.setdefault(match[1], set()).add(match[2])
    return stems


def _are_alike(
    columns: Mapping[str, Sequence[object]], outputs: Mapping[str, set[str]], numbers: set[str]
) -> bool:
    """Return True if answers numbered like the inputs share a question, unlike Q1 and Q2."""
    for stem, own in outputs.items():
        if own == numbers:
            names = [f"Answer.{stem}{number}" for number in sorted(own)]
            cells = [columns.get(name, columns.get(f"{name}.label", ())) for name in names]
            sets = [set(map(str, column)) - {""} for column in cells]
            apart = any(2 * len(a & b) < len(a | b) for a, b in combinations(sets, 2))
            if apart or stem.strip("_. ").casefold() in _ASKED:
                return False
    return True


def _boxes(columns: Mapping[str, Sequence[object]], answers: list[str]) -> dict[str, list[str]]:
    """Return the columns of each question that only record whether an option was checked."""
    stems: dict[str, list[str]] = {}
    for name in answers:
        if any(columns[name]) and {str(cell).lower() for cell in columns[name]} <= _BOXES:
            stem, dot, _ = name.removeprefix("Answer.").rpartition(".")
            stems.setdefault(stem if dot else WHOLE, []).append(name)
    return {stem: names for stem, names in stems.items() if len(names) > 1}


def _answers(columns: Mapping[str, Sequence[Any]], answers: list[str]) -> dict[str, dict[int, Any]]:
    """Return the answers to each question by place in the columns."""
    boxes = _boxes(columns, answers)
    boxed = {name for names in boxes.values() for name in names}
    found: dict[str, dict[int, Any]] = {}
    for column in answers:
        if column in boxed:
            continue
        name, cells = column.removeprefix("Answer.").removesuffix(".label"), columns[column]
        if name != "taskAnswers":
            found[name] = dict(enumerate(cells))
            continue
        for n, cell in enumerate(cells):
            forms = cell_value(cell)
            for form in forms if isinstance(forms, list) else [forms]:
                for question, label in answers_in(form).items():
                    found.setdefault(question, {})[n] = label
    for question, names in boxes.items():
        options = [name.removeprefix("Answer.").removeprefix(f"{question}.") for name in names]
        ticks = zip(*(columns[name] for name in names), strict=True)
        found[question] = {
            n: [o for o, tick in zip(options, row, strict=True) if str(tick).lower() in _TICKED]
            for n, row in enumerate(ticks)
        }
    return found


def _objects(label: object) -> list[object] | None:
    """Return the objects in an answer that is a list or holds lists; None for labels."""
    if isinstance(label, str) and label[:1] not in ("[", "{"):
        return None
    value = cell_value(label)
    lists = list(value.values()) if isinstance(value, Mapping) else [value] if value else []
    parts = [part for one in lists if isinstance(one, list) for part in one]
    held = (*(isinstance(one, list) for one in lists), *(isinstance(part, dict) for part in parts))
    return parts if held and all(held) else None


def answers_in(content: object) -> dict[str, Any]:
    if not isinstance(content, Mapping) or not content:
        return {}
    if all(isinstance(value, bool) for value in content.values()):
        return {WHOLE: _chosen(content)}
    return {str(name): _label(value) for name, value in content.items()}


def _label(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    for key in ("label", "labels"):
        if key in value:
            return value[key]
    if value and all(isinstance(part, bool) for part in value.values()):
        return _chosen(value)
    return value


def _chosen(options: Mapping[str, object]) -> list[str]:
    return [str(name) for name, chosen in options.items() if chosen is True]
