"""Potato: the state of each coder, or the exported rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annomodels.errors import AnnotationError
from annomodels.io.objects import json_value
from annomodels.io.source import Options, Source
from annomodels.io.span_builder import SpanBuilder, Spans
from annomodels.io.spans import Span
from annomodels.io.tables.columns import Columns
from annomodels.io.tools.judgements import Judgements
from annomodels.io.tools.tables import rows_of, usable

STATE = "user_state.json"
ITEM, CODER = "instance_id", "user_id"
_NO = frozenset(("", "false", "0", "off", "none"))


def is_potato(source: Source, options: Options) -> bool:
    """Whether it is a folder with ``user_state.json``, or rows of ``instance_id``, ``user_id``."""
    if source.inside is not None:
        return bool(source.inside.ending(STATE))
    return {ITEM, CODER} <= set(source.header) and options.label is None


def read_potato(source: Source, options: Options) -> Columns:
    """Columns of the labels; an option counts when its value says yes."""
    found = Judgements(source, options)
    if source.inside is not None:
        _folder(source, found)
    elif source.kind in ("json", "json lines"):
        for row, record in found.objects():
            labels = record.get("labels")
            if not isinstance(labels, dict):
                found.unreadable("the object of labels", row)
                continue
            for schema, values in labels.items():
                pairs = values.items() if isinstance(values, dict) else [(values, "true")]
                chosen = _chosen(pairs)
                found.add(record.get(ITEM), record.get(CODER), str(schema), chosen, row)
    else:
        _table(source, found)
    return found.columns()


def _chosen(pairs: Any) -> list[Any]:
    """Options that count: their name, or their value where the value is the label."""
    chosen = []
    for name, value in pairs:
        said = str(value).lower()
        if said not in _NO:
            chosen.append(name if said == "true" else value)
    return chosen


def _table(source: Source, found: Judgements) -> None:
    """Take rows with a column ``schema.option`` for each option, or one for each schema."""
    table = usable(source, found)
    if found.problems:
        return
    schemas: dict[str, list[tuple[str, str]]] = {}
    for name in table.header:
        if name not in (ITEM, CODER):
            schema, dot, option = name.partition(".")
            schemas.setdefault(schema, []).append((option if dot else "", name))
    for row, cells in rows_of(table):
        for schema, columns in schemas.items():
            pairs = [(option, cells[name]) for option, name in columns]
            chosen = [part for part in _chosen(pairs) if part]
            found.add(cells[ITEM], cells[CODER], schema, chosen, row)


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


def _folder(source: Source, found: Judgements) -> None:
    for coder, state in _states(source, found):
        for item, marks in _by_instance(state, "instance_id_to_label_to_value", found):
            answers: dict[str, list[Any]] = {}
            for keys, value in _pairs(marks, found):
                schema, name = str(keys.get("schema") or "label"), keys.get("name")
                for label in _chosen([(name, value)]):
                    answers.setdefault(schema, []).append(label)
            for schema, labels in answers.items():
                if len(labels) > 1:
                    found.note(
                        "Potato may keep an earlier choice beside the later one: look at the "
                        "judgements with several labels if the question allows one only."
                    )
                found.add(item, coder, schema, labels, 1)
            if not answers:
                found.skip(item)


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


def spans_of_potato(source: Source, options: Options) -> Spans:
    """Spans that the states of the coders hold."""
    found = Judgements(source, options)
    builder = SpanBuilder(source.name)
    if source.inside is None:
        found.problem("Spans are read from the folder 'annotation_output'.", "Give that folder.")
        raise AnnotationError(found.problems)
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
    problems = [*found.problems, *found.wrong_types()]
    if problems:
        raise AnnotationError(problems)
    return builder.spans()
