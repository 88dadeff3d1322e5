"""Potato: the state files of coders, or exported rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from annomodels.data.validation import all_numbers
from annomodels.errors import AnnotationError
from annomodels.io.objects import json_value
from annomodels.io.records import Records
from annomodels.io.source import Options, Source

STATE = "user_state.json"
ITEM, CODER = "instance_id", "user_id"
_NO = frozenset(("", "false", "off", "none"))


def is_potato(source: Source, options: Options) -> bool:
    if source.inside is not None:
        return bool(source.inside.ending(STATE))
    return {ITEM, CODER} <= set(source.header) and options.label is None


class _Answer(NamedTuple):
    item: Any
    coder: Any
    schema: str
    row: int
    pairs: list[tuple[Any, Any]]


def read_potato(found: Records) -> None:
    """Read labels and spans; an option counts if its value means yes."""
    source = found.source
    rows = _folder if source.inside is not None else _objects if source.is_json else _table
    answers = [answer._replace(pairs=_given(answer.pairs)) for answer in rows(found)]
    kinds = _kinds(answers)
    for answer in answers:
        _add(answer, *kinds[answer.schema], found)


def _given(pairs: Iterable[tuple[object, object]]) -> list[tuple[Any, Any]]:
    """Drop empty and negative pairs but keep "0", a rating or an unchecked option."""
    return [
        (name, value)
        for name, value in pairs
        if (str(value).lower() not in _NO if name != "" else value not in ("", None))
    ]


def _kinds(answers: Sequence[_Answer]) -> dict[str, tuple[str, bool]]:
    """Return the kind of label in each schema, and whether its values are ratings.

    The label is an option's "name", its "value", or "each" value.
    """
    kinds = {}
    by_schema: dict[str, list[_Answer]] = {}
    for answer in answers:
        by_schema.setdefault(answer.schema, []).append(answer)
    for schema, own in by_schema.items():
        pairs = [(answer.coder, *pair) for answer in own for pair in answer.pairs]
        rated = any(all_numbers([value]) and str(value) not in ("0", "1") for _, _, value in pairs)
        said: dict[str, dict[str, set[str]]] = {}
        for coder, name, value in pairs:
            if str(value) != str(name) and _tick(name, value, rated) is None:
                by_name = said.setdefault(repr(coder), {})
                by_name.setdefault(str(name), set()).add(str(value))
        several = len({name for by_name in said.values() for name in by_name}) > 1
        named = any(str(value) == str(name) for _, name, value in pairs)
        # names and values correspond one to one
        every = [
            (by_name, [v for own in by_name.values() for v in own]) for by_name in said.values()
        ]
        are_keys = all(len(values) == len(names) == len(set(values)) for names, values in every)
        if named or (several and are_keys):
            kind = "name"
        else:
            kind = "each" if several and any(len(one.pairs) > 1 for one in own) else "value"
        kinds[schema] = kind, rated
    return kinds


def _tick(name: object, value: object, rated: bool) -> bool | None:
    """Return whether an option was checked, or None if the value is not a check mark."""
    said = str(value).lower()
    if name == "" or (said in ("0", "1") and rated):
        return None
    return {"true": True, "1": True, "0": False}.get(said)


def _add(answer: _Answer, kind: str, rated: bool, found: Records) -> None:
    item, coder, schema, row, pairs = answer
    labels: list[Any] = []
    for name, value in pairs:
        tick = _tick(name, value, rated)
        if tick is None and kind == "each":
            found.add(item, coder, f"{schema}.{name}", value, row)
        elif tick is not False:
            labels.append(name if tick or kind == "name" else value)
    if labels or kind != "each":
        found.add(item, coder, schema, labels, row)


def _objects(found: Records) -> Iterator[_Answer]:
    for row, record in found.objects():
        labels = record.get("labels")
        if not isinstance(labels, dict):
            found.unreadable("the object of labels", row)
            continue
        for schema, values in labels.items():
            pairs = values.items() if isinstance(values, dict) else [("", values)]
            yield _Answer(record.get(ITEM), record.get(CODER), str(schema), row, list(pairs))


def _table(found: Records) -> Iterator[_Answer]:
    """Yield answers from a column ``schema.option`` per option, or one column per schema."""
    table = found.table
    schemas: dict[str, list[tuple[str, str]]] = {}
    for name in table.header:
        if name not in (ITEM, CODER):
            schema, dot, option = name.partition(".")
            schemas.setdefault(schema, []).append((option if dot else "", name))
    for row, cells in table.records() if not found.problems else ():
        for schema, columns in schemas.items():
            pairs = [(option, cells[name]) for option, name in columns]
            yield _Answer(cells[ITEM], cells[CODER], schema, row, pairs)


def _folder(found: Records) -> Iterator[_Answer]:
    for coder, state in _states(found):
        for item, marks in _by_instance(state, "instance_id_to_label_to_value", found):
            found.document(item, coder)
            schemas: dict[str, list[tuple[Any, Any]]] = {}
            for keys, value in _pairs(marks, found):
                for pair in _given([(keys.get("name"), value)]):
                    schemas.setdefault(str(keys.get("schema") or "label"), []).append(pair)
            for schema, pairs in schemas.items():
                if len(pairs) > 1:
                    found.note(
                        "Potato may keep an earlier choice next to the later one: check the "
                        "answers with several labels if the question allows one only."
                    )
                yield _Answer(item, coder, schema, 1, pairs)
            if not schemas:
                found.skip(item)
        for item, marks in _by_instance(state, "instance_id_to_span_to_value", found):
            found.document(item, coder)
            for keys, value in _pairs(marks, found):
                if str(value).lower() not in _NO:
                    place = keys.get("start"), keys.get("end")
                    question = str(keys.get("schema") or "spans")
                    found.mark(item, coder, question, place, str(keys.get("name")))


def _states(found: Records) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in found.source.parts(STATE):
        try:
            state = json_value(part.text, part.name)
        except AnnotationError as error:
            found.problems += error.problems
            continue
        if not isinstance(state, dict):
            found.problem("The state of a coder is not an object.", "Copy it again.", part.name)
            continue
        path = str(part.path).removeprefix(f"{found.source.name}/").split("/")
        folder = path[-2] if len(path) > 1 else "unnamed"
        coder = state.get(CODER) or folder
        yield coder if isinstance(coder, str) else folder, state


def _by_instance(state: dict[str, Any], key: str, found: Records) -> Iterator[tuple[str, Any]]:
    values = state.get(key, {})
    if isinstance(values, dict):
        yield from values.items()
    else:
        found.unreadable(f"the object {key!r}", 1)


def _pairs(marks: object, found: Records) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield keys and values from a list of pairs or, in older versions, an object."""
    if isinstance(marks, dict):
        for schema, values in marks.items():
            inner = values.items() if isinstance(values, dict) else [(values, "true")]
            yield from (({"schema": schema, "name": name}, value) for name, value in inner)
        return
    for pair in marks if isinstance(marks, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict):
            yield pair[0], pair[1]
        else:
            found.unreadable("a pair of label and value", 1)
