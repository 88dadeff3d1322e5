"""Potato: the state of each coder, or the exported rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annomodels.data.validation import all_numbers
from annomodels.errors import AnnotationError
from annomodels.io.objects import json_value
from annomodels.io.source import Options, Source
from annomodels.io.span_builder import Span
from annomodels.io.tools.judgements import Judgements

STATE = "user_state.json"
ITEM, CODER = "instance_id", "user_id"
_NO = frozenset(("", "false", "off", "none"))


def is_potato(source: Source, options: Options) -> bool:
    """Whether it is a folder with ``user_state.json``, or rows of ``instance_id``, ``user_id``."""
    if source.inside is not None:
        return bool(source.inside.ending(STATE))
    return {ITEM, CODER} <= set(source.header) and options.label is None


def read_potato(source: Source, options: Options, found: Judgements) -> None:
    """Columns of the labels; an option counts when its value says yes."""
    answers: list[_Answer] = []
    if source.inside is not None:
        answers = _folder(source, found)
    elif source.kind in ("json", "json lines"):
        for row, record in found.objects():
            labels = record.get("labels")
            if not isinstance(labels, dict):
                found.unreadable("the object of labels", row)
                continue
            for schema, values in labels.items():
                pairs = values.items() if isinstance(values, dict) else [("", values)]
                who = record.get(ITEM), record.get(CODER), str(schema)
                answers.append(_Answer(*who, row, _given(pairs)))
    else:
        answers = _table(source, found)
    kinds = _kinds(answers)
    for answer in answers:
        _add(answer, kinds[answer.schema], found)


@dataclass(frozen=True)
class _Answer:
    """Names and values that count in what a coder said of an item, for one schema."""

    item: Any
    coder: Any
    schema: str
    row: int
    pairs: list[tuple[Any, Any]]


def _given(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Pairs that say something; a value of "0" may be a rating, or an option that is not ticked."""
    return [
        (name, value)
        for name, value in pairs
        if (str(value).lower() not in _NO if name != "" else value not in ("", None))
    ]


def _kinds(answers: Sequence[_Answer]) -> dict[str, str]:
    """Say what the label is in each schema: an option's "name", its "value", or "each" value."""
    rated = {
        answer.schema
        for answer in answers
        for _, value in answer.pairs
        if all_numbers([value]) and str(value) not in ("0", "1")
    }
    values: dict[str, dict[str, dict[str, set[str]]]] = {}
    named: set[str] = set()
    several: set[str] = set()
    for answer in answers:
        by_name = values.setdefault(answer.schema, {}).setdefault(repr(answer.coder), {})
        several |= {answer.schema} if len(answer.pairs) > 1 else set()
        for name, value in answer.pairs:
            if str(value) == str(name):
                named.add(answer.schema)
            elif _tick(name, value, answer.schema in rated) is None:
                by_name.setdefault(str(name), set()).add(str(value))
    kinds = {}
    for schema, coders in values.items():
        names = {name for by_name in coders.values() for name in by_name}
        if schema in named or (len(names) > 1 and all(map(_is_key, coders.values()))):
            kinds[schema] = "name"
        else:
            kinds[schema] = "each" if schema in several and len(names) > 1 else "value"
        kinds[schema] += " rated" if schema in rated else ""
    return kinds


def _is_key(by_name: Mapping[str, set[str]]) -> bool:
    """Whether every name has one value, and no other name has it."""
    every = [value for values in by_name.values() for value in values]
    return len(every) == len(by_name) == len(set(every))


def _tick(name: Any, value: Any, rated: bool) -> bool | None:
    """Whether an option was chosen; None where the value is more than a tick."""
    said = str(value).lower()
    if name == "" or (said in ("0", "1") and rated):
        return None
    return {"true": True, "1": True, "0": False}.get(said)


def _add(answer: _Answer, kind: str, found: Judgements) -> None:
    """Take the label, or the labels of several questions, of an answer."""
    labels: list[Any] = []
    what, _, rated = kind.partition(" ")
    for name, value in answer.pairs:
        tick = _tick(name, value, bool(rated))
        if tick is None and what == "each":
            question = f"{answer.schema}.{name}"
            found.add(answer.item, answer.coder, question, value, answer.row)
        elif tick is not False:
            labels.append(name if tick or what == "name" else value)
    if labels or what != "each":
        found.add(answer.item, answer.coder, answer.schema, labels, answer.row)


def _table(source: Source, found: Judgements) -> list[_Answer]:
    """Rows with a column ``schema.option`` for each option, or one for each schema."""
    table = found.table
    if found.problems:
        return []
    schemas: dict[str, list[tuple[str, str]]] = {}
    for name in table.header:
        if name not in (ITEM, CODER):
            schema, dot, option = name.partition(".")
            schemas.setdefault(schema, []).append((option if dot else "", name))
    return [
        _Answer(
            *(cells[ITEM], cells[CODER], schema, row),
            _given((option, cells[name]) for option, name in columns),
        )
        for row, cells in table.records()
        for schema, columns in schemas.items()
    ]


def _states(source: Source, found: Judgements) -> Iterator[tuple[str, dict[str, Any]]]:
    assert source.inside is not None
    for name in source.inside.ending(STATE):
        part = source.member(name)
        try:
            state = json_value(part.text, part.name)
        except AnnotationError as error:
            found.problems += error.problems
            continue
        if not isinstance(state, dict):
            found.problem("The state of a coder is not an object.", "Copy it again.", part.name)
            continue
        folder = name.split("/")[-2] if "/" in name else "unnamed"
        coder = state.get(CODER) or folder
        yield coder if isinstance(coder, str) else folder, state


def _by_instance(state: dict[str, Any], key: str, found: Judgements) -> Iterator[tuple[str, Any]]:
    values = state.get(key, {})
    if isinstance(values, dict):
        yield from values.items()
    else:
        found.unreadable(f"the object {key!r}", 1)


def _folder(source: Source, found: Judgements) -> list[_Answer]:
    answers = []
    for coder, state in _states(source, found):
        for item, marks in _by_instance(state, "instance_id_to_label_to_value", found):
            schemas: dict[str, list[tuple[Any, Any]]] = {}
            for keys, value in _pairs(marks, found):
                for pair in _given([(keys.get("name"), value)]):
                    schemas.setdefault(str(keys.get("schema") or "label"), []).append(pair)
            for schema, pairs in schemas.items():
                if len(pairs) > 1:
                    found.note(
                        "Potato may keep an earlier choice beside the later one: look at the "
                        "judgements with several labels if the question allows one only."
                    )
                answers.append(_Answer(item, coder, schema, 1, pairs))
            if not schemas:
                found.skip(item)
    return answers


def _pairs(marks: Any, found: Judgements) -> Iterator[tuple[dict[str, Any], Any]]:
    """Pairs of what was marked and its value: a list of pairs, or earlier an object."""
    if isinstance(marks, dict):
        for schema, values in marks.items():
            inner = values.items() if isinstance(values, dict) else [(values, "true")]
            for name, value in inner:
                yield {"schema": schema, "name": name}, value
        return
    for pair in marks if isinstance(marks, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict):
            yield pair[0], pair[1]
        else:
            found.unreadable("a pair of label and value", 1)


def spans_of_potato(source: Source, options: Options, found: Judgements) -> None:
    """Spans that the states of the coders hold."""
    builder = found.marks
    if source.inside is None:
        found.problem("Spans are read from the folder 'annotation_output'.", "Give that folder.")
        return
    for coder, state in _states(source, found):
        for item, _ in _by_instance(state, "instance_id_to_label_to_value", found):
            builder.document(item, coder)
        for item, marks in _by_instance(state, "instance_id_to_span_to_value", found):
            builder.document(item, coder)
            for keys, value in _pairs(marks, found):
                if str(value).lower() in _NO:
                    continue
                try:
                    start, end = int(keys["start"]), int(keys["end"])
                except (KeyError, TypeError, ValueError):
                    found.unreadable("a span", 1)
                    continue
                question = str(keys.get("schema") or "spans")
                builder.add(Span(item, coder, question, start, end, str(keys.get("name"))))
    found.problems += found.wrong_types()
