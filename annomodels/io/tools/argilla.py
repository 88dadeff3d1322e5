"""Argilla: records as JSON, or as a data set with parallel lists of responses."""

from __future__ import annotations

from annomodels.io.objects import at, keys_of
from annomodels.io.records import Records
from annomodels.io.source import Options, Source

_USERS = ".responses.users"
_LISTS = ("user_id", "value", "status")
_NOT_COUNTED = {"draft": "they are drafts", "pending": "they are pending"}


def is_argilla(source: Source, options: Options) -> bool:
    return any({"fields", "responses", "suggestions"} <= record.keys() for record in source.sample)


def is_argilla_table(source: Source, options: Options) -> bool:
    if source.kind not in ("parquet", "json", "json lines"):
        return False
    if any(name.endswith(_USERS) for name in source.header):
        return True
    return any(_is_dump(value) for record in source.sample for value in record.values())


def _is_dump(value: object) -> bool:
    return isinstance(value, dict) and value.keys() >= set(_LISTS)


def read_argilla(found: Records) -> None:
    """Take records as JSON, where drafts and discarded responses look like the others."""
    options = found.options
    if options.item is not None:
        found.require(keys_of(found.source.sample, depth=3), options.item, "item")
    for row, record in found.objects():
        item = at(record, options.item or "id")
        fields = record.get("fields")
        fields = fields if isinstance(fields, dict) else {}
        found.text(item, at(fields, found.text_field(fields)))
        responses = record.get("responses")
        if not isinstance(responses, dict):
            found.unreadable("the object of responses", row)
            continue
        for question, given in responses.items():
            for response in found.members(given, "a response", row):
                user, value = response.get("user_id"), response.get("value")
                _add(found, item, user, question, value, response.get("status", "submitted"), row)
        suggestions = record.get("suggestions")
        if options.models and isinstance(suggestions, dict):
            for question, given in suggestions.items():
                name = at(given, "agent") or "unnamed"
                found.add(item, f"model:{name}", question, at(given, "value"), row)
    found.note(
        "This export does not say which responses are drafts or discarded; export with "
        "to_datasets() to leave them out."
    )


def read_argilla_table(found: Records) -> None:
    """Rows of a data set; only submitted responses count, discarded ones are skips."""
    table, options = found.table, found.options
    unit = options.item or ("id" if "id" in table.header else (*table.header, "id")[0])
    if not found.problems:
        found.require(table.header, unit, "item")
        found.require(table.header, options.text, "text")
    if found.problems:
        return
    questions = [n.removesuffix(_USERS) for n in table.header if n.endswith(_USERS)]
    for row, cells in table.records():
        item = cells[unit]
        found.text(item, cells.get(found.text_field(cells)))
        lists = {
            question: [cells.get(f"{question}.responses{end}") for end in (".users", "", ".status")]
            for question in questions
        }
        dumps = {name: cell for name, cell in cells.items() if _is_dump(cell)}
        lists |= {name: [cell[part] for part in _LISTS] for name, cell in dumps.items()}
        for question, given in lists.items():
            # a record without responses has empty cells there
            users, values = given[0] or [], given[1] or []
            statuses = given[2] or ["submitted"] * len(users)
            parts = users, values, statuses
            if not all(isinstance(part, list) and len(part) == len(users) for part in parts):
                found.unreadable("the lists of responses", row)
                continue
            for user, value, status in zip(*parts, strict=True):
                _add(found, item, user, question, value, status, row)
        for question in questions if options.models else ():
            name = cells.get(f"{question}.suggestion.agent") or "unnamed"
            found.add(item, f"model:{name}", question, cells.get(f"{question}.suggestion"), row)


def _add(
    found: Records,
    item: object,
    coder: object,
    question: str,
    value: object,
    status: object,
    row: int,
) -> None:
    if isinstance(value, list) and any(isinstance(part, dict) for part in value):
        found.note(f"Not read, because its answers are spans or rankings: question {question!r}.")
    elif status == "submitted":
        found.add(item, coder, question, value, row)
    elif status == "discarded":
        found.skip(item, question)
    else:
        why = _NOT_COUNTED.get(status, "of their status") if isinstance(status, str) else ""
        found.leave_out(why or "their status is unknown")
