"""Argilla: records as JSON, or as a data set with parallel lists of responses."""

from __future__ import annotations

from typing import Any

from annomodels.io.objects import at, keys_of
from annomodels.io.source import Options, Source
from annomodels.io.tools.judgements import Judgements

_USERS = ".responses.users"
_NOT_COUNTED = {"draft": "they are drafts", "pending": "they are pending"}


def is_argilla(source: Source, options: Options) -> bool:
    """Whether records hold fields, responses and suggestions."""
    return any({"fields", "responses", "suggestions"} <= record.keys() for record in source.sample)


def is_argilla_table(source: Source, options: Options) -> bool:
    """Whether a column ends in ``.responses.users``, or holds lists user_id, value, status."""
    if source.kind not in ("parquet", "json", "json lines"):
        return False
    if any(name.endswith(_USERS) for name in source.header):
        return True
    return any(_is_dump(value) for record in source.sample for value in record.values())


def _is_dump(value: Any) -> bool:
    return isinstance(value, dict) and {"user_id", "value", "status"} <= value.keys()


def read_argilla(source: Source, options: Options, found: Judgements) -> None:
    """Columns of records as JSON, where drafts and discarded responses look like the others."""
    if options.item is not None:
        found.require(keys_of(source.sample, depth=3), options.item, "item")
    for row, record in found.objects():
        item = at(record, options.item or "id")
        found.text(item, at(record.get("fields"), options.text or "text"))
        responses = record.get("responses")
        if not isinstance(responses, dict):
            found.unreadable("the object of responses", row)
            continue
        for question, given in responses.items():
            for response in given if isinstance(given, list) else [given]:
                if isinstance(response, dict):
                    status = response.get("status", "submitted")
                    coder = response.get("user_id")
                    _add(found, item, coder, question, response.get("value"), status, row)
                else:
                    found.unreadable("a response", row)
        suggestions = record.get("suggestions")
        if options.models and isinstance(suggestions, dict):
            for question, given in suggestions.items():
                name = at(given, "agent") or "unnamed"
                found.add(item, f"model:{name}", question, at(given, "value"), row)
    found.note(
        "This export does not say which responses are drafts or discarded; export with "
        "to_datasets() to leave them out."
    )


def read_argilla_table(source: Source, options: Options, found: Judgements) -> None:
    """Columns of a data set; only submitted responses count, discarded ones are skips."""
    table = found.table
    unit = options.item or ("id" if "id" in table.header else (*table.header, "id")[0])
    if not found.problems:
        found.require(table.header, unit, "item")
        found.require(table.header, options.text, "text")
    if found.problems:
        return
    questions = [n.removesuffix(_USERS) for n in table.header if n.endswith(_USERS)]
    for row, cells in table.records():
        item = cells[unit]
        found.text(item, cells.get(options.text or "text"))
        for question in questions:
            prefix = f"{question}.responses"
            users, statuses = cells.get(prefix + ".users"), cells.get(prefix + ".status")
            _add_lists(found, item, question, users, cells.get(prefix), statuses, row)
            if options.models:
                name = cells.get(f"{question}.suggestion.agent") or "unnamed"
                answer = cells.get(f"{question}.suggestion")
                found.add(item, f"model:{name}", question, answer, row)
        for question, dump in cells.items():
            if isinstance(dump, dict) and _is_dump(dump):
                users, values, statuses = dump["user_id"], dump["value"], dump["status"]
                _add_lists(found, item, question, users, values, statuses, row)


def _add_lists(
    found: Judgements, item: Any, question: str, users: Any, values: Any, statuses: Any, row: int
) -> None:
    """Take parallel lists; a record without responses has empty cells there."""
    users, values = users or [], values or []
    statuses = statuses or ["submitted"] * len(users)
    lists = all(isinstance(part, list) for part in (users, values, statuses))
    if not lists or not len(users) == len(values) == len(statuses):
        found.unreadable("the lists of responses", row)
        return
    for user, value, status in zip(users, values, statuses, strict=True):
        _add(found, item, user, question, value, status, row)


def _add(
    found: Judgements, item: Any, coder: Any, question: str, value: Any, status: Any, row: int
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
