"""JSON and JSON lines to objects, whole or piece by piece, and looking things up in them."""

from __future__ import annotations

import ast
import codecs
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from annomodels.data.validation import at_rows, counted
from annomodels.errors import AnnotationError, Problem
from annomodels.io.border import NoLabels, needs
from annomodels.io.tables.keys import Key, key_of
from annomodels.io.tables.table import Table


def json_value(text: str, source: str) -> Any:
    """Parse JSON with numbers kept as they are written."""
    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=_constant)
    except json.JSONDecodeError as error:
        where = f"{source}, row {error.lineno}"
        what = f"This is not JSON: {error.msg}, column {error.colno}."
        raise AnnotationError(what, where, "Export the labels again.", code="not-json") from error
    except RecursionError:
        what = "The JSON is nested too deeply."
        raise AnnotationError(
            what, source, "Export one record per line.", code="too-deep"
        ) from None


def json_lines(text: str, source: str) -> tuple[list[Any], list[int]]:
    values, rows, problems = [], [], []
    for row, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append(json_value(line, source))
                rows.append(row)
            except AnnotationError:
                problems.append(row)
    if problems:
        what = f"Not JSON: {counted(len(problems), 'row')}."
        remedy = "Give one complete JSON object in each row."
        raise AnnotationError(what, at_rows(source, problems), remedy, code="not-json")
    return values, rows


def from_objects(values: Sequence[Any], rows: Sequence[int], source: str) -> Table:
    """Table of JSON objects; a key that is missing gives an empty cell."""
    wrong = [row for value, row in zip(values, rows, strict=True) if not isinstance(value, dict)]
    if wrong:
        what = f"Not a JSON object: {counted(len(wrong), 'row')}."
        remedy = 'Write rows such as {"item": "t1", "coder": "ana", "label": "pos"}.'
        return Table(
            {}, [], source, [NoLabels(what, at_rows(source, wrong), remedy, code="no-records")]
        )
    keys = dict.fromkeys(key for value in values for key in value)
    columns = {key: [cell_text(value.get(key)) for value in values] for key in keys}
    table = Table(dict(columns), rows, source)
    if not values:
        table.problems.append(
            Problem("The file has no record.", source, "Export the labels again.", code="empty")
        )
    return table


def _constant(name: str) -> str | None:
    return None if name == "NaN" else name


def cell_text(value: object) -> object:
    """Text of a JSON value; lists and objects stay, so that they are reported where they matter."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


KEY = "key"  # the field that holds the name of a record, where records stand under names
LARGE = 200_000_000  # bytes from which a JSON file is read piece by piece
_PARTS = 50  # of a list, whose fields are named
DEEPEST = 500  # levels of JSON that is read piece by piece


def streamed_lines(path: Path, source: str) -> Iterator[tuple[int, Any]]:
    """Row number and value of each JSON line, one line in memory at a time."""
    with path.open("rb") as file:
        for row, line in enumerate(file, 1):
            try:
                text = line.removeprefix(codecs.BOM_UTF8).decode()
            except UnicodeDecodeError:
                where, remedy = f"{source}, row {row}", "Save the file as UTF-8."
                raise AnnotationError(
                    "The row is not UTF-8.", where, remedy, code="other-encoding"
                ) from None
            if text.strip():
                yield row, json_value(text, f"{source}, row {row}")


def streamed_array(path: Path, source: str) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each element of a JSON array, one element in memory at a time."""
    try:
        import ijson
    except ImportError:
        raise needs("ijson", "JSON of more than 200 MB") from None
    with path.open("rb") as file:
        try:
            events, builder = ijson.basic_parse(file), ijson.ObjectBuilder()
            yield from enumerate(_elements(events, source, builder), 1)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            what = f"This is not JSON: {(str(error).splitlines() or ['damaged'])[0]}"
            raise AnnotationError(
                what, source, "Export the labels again.", code="not-json"
            ) from error


def _elements(events: Iterable[tuple[str, Any]], source: str, builder: Any) -> Iterator[Any]:
    """Put the elements of the outermost array together, with numbers as texts."""
    depth = 0
    for event, value in events:
        builder.event(event, str(value) if event == "number" else value)
        depth += event.startswith("start") - event.startswith("end")
        if depth > DEEPEST:
            what = "The JSON is nested too deeply."
            raise AnnotationError(what, source, "Export one record per line.")
        if depth == 1 and builder.value:
            yield builder.value.pop()


def at(record: object, path: str) -> Any:
    """Value of a key, or of a path of keys with dots between; None if it is not there."""
    if not isinstance(record, Mapping):
        return None
    if isinstance(path, Key):
        return key_of(at(record, part) for part in path.parts)
    if path in record:
        return record[path]
    first, dot, rest = path.partition(".")
    return at(record.get(first), rest) if dot else None


def keys_of(records: Iterable[object], depth: int = 2) -> list[str]:
    found: dict[str, None] = {}
    for record in records:
        if isinstance(record, Mapping):
            for key, value in record.items():
                found[str(key)] = None
                if depth > 1 and isinstance(value, Mapping):
                    found |= {f"{key}.{inner}": None for inner in keys_of([value], depth - 1)}
    return list(found)


def objects_in(value: object) -> list[dict[str, Any]]:
    """Objects in a list, or under names in an object."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [part for part in parts if isinstance(part, dict)]


def named_records(value: object) -> list[dict[str, object]] | None:
    """Find records that stand under their names in an object: ``{"1": {"text": ...}}``."""
    if not isinstance(value, dict) or not value:
        return None
    records = list(value.values())
    lists = [part for part in records if is_list_of(part, dict)]
    if len(lists) == len(records) > 1:
        return [{KEY: name, "responses": part} for name, part in value.items()]
    if len(lists) == 1 and any(is_list_of(part, dict) for part in lists[0][0].values()):
        return list(lists[0])  # records below a word such as data
    is_each = len(value) > 1 and all(isinstance(record, dict) and record for record in records)
    if not is_each or 2 * max(Counter(k for one in records for k in one).values()) <= len(records):
        return None
    return [{KEY: name, **record} for name, record in value.items()]


def plain_fields(
    value: object, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """Path, name and value of each field with a plain value, in objects at any depth."""
    for name, held in value.items() if isinstance(value, dict) else ():
        if isinstance(held, dict):
            yield from plain_fields(held, (*path, name))
        elif not isinstance(held, list):
            yield path, name, cell_text(held)


def paths_in(value: object, path: str = "") -> Iterator[str]:
    """Paths of all fields at any depth; ``reviews[].worker`` is one of the objects in a list."""
    if isinstance(value, dict):
        for name, held in value.items():
            yield f"{path}{name}"
            yield from paths_in(held, f"{path}{name}.")
    elif isinstance(value, list):
        for part in value[:_PARTS]:
            yield from paths_in(part, f"{path.removesuffix('.')}[].")


def is_list_of(value: object, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, kind) for part in value)


def parsed(cell: object) -> Any:
    """JSON within a cell, numbers as text; the cell itself if it holds none."""
    if not isinstance(cell, str) or cell[:1] not in ("[", "{"):
        return cell
    try:
        return json.loads(cell, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return cell


_ARRAY = re.compile(r"\[[^,\[\]{}]*\]").fullmatch
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")


def cell_value(cell: Any) -> Any:
    """List or object in a cell: JSON, or as Python prints it; else the cell."""
    value = parsed(cell)
    if isinstance(value, str) and value[:1] in ("[", "{"):
        # NumPy prints its arrays with blanks between the members, which Python would join
        if _ARRAY(value) and re.search(r"""['"]\s+['"]""", value):
            return [one or other for one, other in _QUOTED.findall(value)]
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value[1:-1].split() if _ARRAY(value) else cell
    return dict(value) if hasattr(value, "items") else value
