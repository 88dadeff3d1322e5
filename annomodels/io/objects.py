"""Parse JSON and JSON lines, at once or as a stream, and look up values."""

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
from annomodels.errors import AnnotationError
from annomodels.io.border import NoLabels, library
from annomodels.io.tables.keys import Key, key_of
from annomodels.io.tables.table import Table


def json_value(text: str, source: str) -> Any:
    """Parse JSON, and keep numbers as they are written."""
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
    """Return a table of JSON objects; missing keys give empty cells."""
    wrong = [row for value, row in zip(values, rows, strict=True) if not isinstance(value, dict)]
    if wrong:
        what = f"Not a JSON object: {counted(len(wrong), 'row')}."
        remedy = 'Write rows such as {"item": "t1", "coder": "ana", "label": "pos"}.'
        return Table(
            {}, [], source, [NoLabels(what, at_rows(source, wrong), remedy, code="no-records")]
        )
    keys = dict.fromkeys(key for value in values for key in value)
    columns = {key: [cell_text(value.get(key)) for value in values] for key in keys}
    return Table.of_records(columns, rows, source)


def _constant(name: str) -> str | None:
    return None if name == "NaN" else name


def cell_text(value: object) -> object:
    """Return a JSON value as a cell; lists and objects stay, to be reported when used."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


KEY = "key"  # field for the name of a record in an object of named records
LARGE = 200_000_000  # bytes above which a JSON file is streamed
PIECE = 1 << 22  # bytes read at a time: each looks again at all of a text that is not yet whole
_PARTS = 50  # list elements whose fields are listed
DEEPEST = 500  # maximum depth of streamed JSON


def streamed_lines(path: Path, source: str) -> Iterator[tuple[int, Any]]:
    """Yield row number and value of each JSON line, one line in memory at a time."""
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
    ijson = library("ijson", "ijson", "JSON of more than 200 MB")
    with path.open("rb") as file:
        try:
            events, builder = ijson.basic_parse(file, buf_size=PIECE), ijson.ObjectBuilder()
            yield from enumerate(_elements(events, source, builder), 1)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            what = f"This is not JSON: {(str(error).splitlines() or ['damaged'])[0]}"
            raise AnnotationError(
                what, source, "Export the labels again.", code="not-json"
            ) from error


def _elements(events: Iterable[tuple[str, Any]], source: str, builder: Any) -> Iterator[Any]:
    """Yield the elements of the outermost array, with numbers as strings."""
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
    """Return the value at a key or dotted path; None if it is missing."""
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
    """Return the objects in a list, or among the values of an object."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [part for part in parts if isinstance(part, dict)]


def named_records(value: object) -> list[dict[str, object]] | None:
    """Return the records of an object keyed by name: ``{"1": {"text": ...}}``."""
    if not isinstance(value, dict) or not value:
        return None
    records = list(value.values())
    lists = [part for part in records if is_list_of(part, dict)]
    if len(lists) == len(records) > 1:
        return [{KEY: name, "responses": part} for name, part in value.items()]
    if len(lists) == 1 and any(is_list_of(part, dict) for part in lists[0][0].values()):
        return list(lists[0])  # records under a key such as data
    is_each = len(value) > 1 and all(isinstance(record, dict) and record for record in records)
    if not is_each or 2 * max(Counter(k for one in records for k in one).values()) <= len(records):
        return None
    return [{KEY: name, **record} for name, record in value.items()]


def plain_fields(
    value: object, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """Yield path, name and value of each scalar field at any depth."""
    for name, held in value.items() if isinstance(value, dict) else ():
        if isinstance(held, dict):
            yield from plain_fields(held, (*path, name))
        elif not isinstance(held, list):
            yield path, name, cell_text(held)


def paths_in(value: object, path: str = "") -> Iterator[str]:
    """Yield the paths of all fields; ``reviews[].worker`` is a field of list elements."""
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
    """Parse JSON in a cell, numbers as strings; return other cells unchanged."""
    if not isinstance(cell, str) or cell[:1] not in ("[", "{"):
        return cell
    try:
        return json.loads(cell, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return cell


_ARRAY = re.compile(r"\[[^,\[\]{}]*\]").fullmatch
_GAP = re.compile(r"(?<=[\[,\s])nan(?=[\],\s])")  # a missing member, as pandas prints it
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")


def cell_value(cell: Any) -> Any:
    """Parse a list or object in a cell (JSON or Python); return other cells unchanged."""
    value = parsed(cell)
    if isinstance(value, str) and value[:1] in ("[", "{"):
        # NumPy separates array elements by spaces; Python would concatenate the strings
        if _ARRAY(value) and re.search(r"""['"]\s+['"]""", value):
            return [one or other for one, other in _QUOTED.findall(value)]
        try:
            value = ast.literal_eval(_GAP.sub("None", value))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            parts = value[1:-1].split() if _ARRAY(value) else ()
            return [None if part == "nan" else part for part in parts] or cell
    return dict(value) if hasattr(value, "items") else value
