"""Tools that export task records: Argilla, doccano and Prodigy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.objects import at, is_list_of, keys_of
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import matched
from annomodels.io.tools.refused import NO_CODERS, is_known, labeled

# -- Argilla: records as JSON, or a data set with parallel lists of responses ----------------------


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
    """Read JSON records, in which drafts and discarded responses look like any others."""
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
    """Read a data set; only submitted responses count, and discarded ones are skips."""
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
            # cells are empty if a record has no responses
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


# -- doccano: a zip archive or folder with one file per coder --------------------------------------


_ENDINGS = (".jsonl", ".json", ".csv", ".txt")
_LABEL = "__label__"  # prefix of fastText labels


def is_doccano(source: Source, options: Options) -> bool:
    if source.inside is None:
        return False
    names = source.inside.ending(*_ENDINGS)
    if not names or len(names) < len(source.inside.names):
        return False
    try:
        part = source.member(names[0])
        if part.kind == "delimited":
            known = labeled(part.header) and not matched(part.header)["coder"]
            return known or part.text.startswith(_LABEL)
        return any(labeled(record) for record in part.sample)
    except AnnotationError:
        return False


def _labeled_rows(found: Records) -> Iterator[tuple[str, int, Mapping[str, object]]]:
    """Yield coder, row and record; the file name is the coder."""
    parts = found.source.parts(*_ENDINGS)
    for part in parts:
        stem = part.stem
        if stem == "all" and len(parts) == 1:
            found.problem(*NO_CODERS, code="no-coders")
        elif stem in ("all", "unknown"):
            found.leave_out(f"the file {part.name.rpartition('/')[2]!r} does not name a coder")
        elif part.kind == "delimited" and part.text.startswith(_LABEL):
            for row, line in enumerate(part.text.splitlines(), 1):
                words = line.split(" ")
                labels = [w.removeprefix(_LABEL) for w in words if w.startswith(_LABEL)]
                text = " ".join(word for word in words if not word.startswith(_LABEL))
                yield stem, row, {"id": text, "text": text, "label": labels}
        elif part.kind == "delimited":
            for row, cells in found.taken(part.table).records():
                yield stem, row, {**cells, "label": str(cells.get("label", "")).split("#")}
        else:
            yield from ((stem, *one) for one in found.objects(part.objects))


def read_doccano(found: Records) -> None:
    """Read labels, or spans of sequence labeling, per coder; an empty list is a skip."""
    options = found.options
    first: tuple[dict[str, str], dict[str, str]] = ({}, {})  # first coder by ID and by text
    shared = [0, 0]
    for coder, row, record in _labeled_rows(found):
        item = at(record, options.item or "id")
        if item is None and options.item is not None:
            found.require(list(record), options.item, "item")
            break
        text, labels = record.get(found.text_field(record)), record.get("label")
        for n, name in enumerate((item, text) if isinstance(text, str) else ()):
            shared[n] += first[n].setdefault(str(name), coder) != coder
        found.text(item, text)
        found.document(item, coder, text)
        marks = record.get("entities", labels)
        if "entities" not in record and not is_list_of(labels, list):
            found.add(item, coder, "label", labels, row)
            continue
        for mark in marks if isinstance(marks, list) else ():
            if isinstance(mark, dict):
                mark = [mark.get("start_offset"), mark.get("end_offset"), mark.get("label")]
            *place, word = mark if isinstance(mark, list) and len(mark) == 3 else [""]
            found.mark(item, coder, "label", place, word)
    if options.item is None and shared[1] > 0 == shared[0]:
        name = options.text or found.text_field(["text"])
        what = (
            "No id occurs in the files of two coders, but their texts are the same: each project "
            "numbers the texts separately."
        )
        remedy = f"Use the texts as item names: {Option('item', name)}."
        said = (("item", name),)
        found.problems.append(
            Problem(what, found.source.name, remedy, options=said, code="own-numbers")
        )
    if found.skips:
        found.note(
            "An empty list of labels may mean 'none' or 'not done yet'; exports of confirmed "
            "examples contain only finished ones."
        )


# -- Prodigy: JSON lines of ``db-out``, one file for all coders or one per coder -------------------


_UNNAMED = re.compile(r"(?:^|-)\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}$")


def is_prodigy(source: Source, options: Options) -> bool:
    if source.inside is not None:
        names = source.inside.ending(".jsonl")
        return bool(names) and is_prodigy(source.member(names[0]), options)
    if is_known(source, "prodigy-images") or is_known(source, "prodigy-audio"):
        return False
    return any("_task_hash" in record and "answer" in record for record in source.sample)


def _answered(found: Records) -> Iterator[tuple[int, Mapping[str, Any], str]]:
    """Yield row, record and coder; without a session name, the file name is the coder."""
    unnamed: dict[str, None] = {}
    for part in found.source.parts(".jsonl"):
        for row, record in found.objects(part.objects):
            coder = record.get("_annotator_id") or record.get("_session_id") or part.stem
            coder = coder if isinstance(coder, str) else part.stem
            if _UNNAMED.search(coder):
                unnamed[coder] = None
            yield row, record, coder
    if unnamed:
        found.note(
            f"{counted(len(unnamed), 'coder')} named by a time, which Prodigy writes for sessions "
            f"without a name: {some(unnamed)}. Several of these may be the same person."
        )


def read_prodigy(found: Records) -> None:
    """Read answers and accepted spans; ignored tasks are skips, rejected choices are left out."""
    source, options = found.source, found.options
    if options.item is not None and source.inside is None:
        keys = keys_of(source.sample)
        keys += [key.removeprefix("meta.") for key in keys if key.startswith("meta.")]
        found.require(keys, options.item, "item")
    views: dict[str, None] = {}
    for row, record, coder in _answered(found):
        item, answer = at(record, options.item or "_input_hash"), record.get("answer")
        if item is None and options.item is not None:
            item = at(record.get("meta"), options.item)
        text = record.get(found.text_field(record))
        views[str(record.get("_view_id") or "unnamed")] = None
        found.text(item, text)
        if answer == "accept":
            found.document(item, coder, text, _ends(record.get("tokens")))
            spans = record.get("spans")
            for place, span in zip(_ends(spans), spans or (), strict=False):
                found.mark(item, coder, "spans", place, span.get("label"))
        is_choice = "accept" in record or "options" in record
        if answer == "ignore":
            found.skip(item)
            continue
        if not is_choice and not isinstance(record.get("label"), str) and "spans" in record:
            continue
        if is_choice and answer != "accept":
            found.leave_out("they were rejected")
        elif is_choice:
            found.add(item, coder, "choice", record.get("accept"), row)
        else:
            label = record.get("label")
            found.add(item, coder, label if isinstance(label, str) else "answer", answer, row)
    if len(views) > 1:
        found.problem(
            f"It mixes {counted(len(views), 'kind')} of questions: {some(views)} (_view_id).",
            "Export one dataset for each of them (prodigy db-out NAME).",
            of_labels=True,
            code="several-kinds",
        )


def _ends(parts: Any) -> list[tuple[int, int]]:
    """Return start and end of tokens or spans; [] if any has no position."""
    try:
        return [(int(part["start"]), int(part["end"])) for part in parts or ()]
    except (KeyError, TypeError, ValueError):
        return []
