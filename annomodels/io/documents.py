"""JSON, JSON lines and Parquet to tables of texts."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from annomodels.data.validation import at_rows, counted
from annomodels.errors import AnnotationError, Problem
from annomodels.io.table import Table

__all__ = ["from_objects", "json_lines", "json_value", "parquet_table"]


def json_value(text: str, source: str) -> Any:
    """Parse JSON with numbers kept as they are written.

    Raises
    ------
    AnnotationError
        When it is not JSON.
    """
    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=_constant)
    except json.JSONDecodeError as error:
        where = f"{source}, row {error.lineno}"
        what = f"This is not JSON: {error.msg}, column {error.colno}."
        raise AnnotationError(Problem(what, where, "Export the labels again.")) from error
    except RecursionError:
        what = "The JSON is nested too deeply."
        raise AnnotationError(Problem(what, source, "Export one record a line.")) from None


def json_lines(text: str, source: str) -> tuple[list[Any], list[int]]:
    """Values of JSON lines and the rows they stand in.

    Raises
    ------
    AnnotationError
        With all lines that are not JSON.
    """
    values, rows, problems = [], [], []
    for row, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append(json_value(line, source))
                rows.append(row)
            except AnnotationError:
                problems.append(row)
    if problems:
        what = f"{counted(len(problems), 'row')} that is not JSON."
        remedy = "Give one complete JSON object in each row."
        raise AnnotationError(Problem(what, at_rows(source, problems), remedy))
    return values, rows


def from_objects(values: Sequence[Any], rows: Sequence[int], source: str) -> Table:
    """Table of JSON objects; a key that is missing gives an empty cell.

    Examples
    --------
    >>> from_objects([{"item": "a", "label": None}, {"item": "b", "n": "1.0"}], [1, 2], "x").columns
    {'item': ['a', 'b'], 'label': ['', ''], 'n': ['', '1.0']}
    """
    wrong = [row for value, row in zip(values, rows, strict=True) if not isinstance(value, dict)]
    if wrong:
        what = f"{counted(len(wrong), 'row')} that is not a JSON object."
        remedy = 'Write rows such as {"item": "t1", "coder": "ana", "label": "pos"}.'
        return Table({}, [], source, [Problem(what, at_rows(source, wrong), remedy)])
    keys = dict.fromkeys(key for value in values for key in value)
    columns = {key: [_text(value.get(key)) for value in values] for key in keys}
    table = Table(dict(columns), rows, source)
    if not values:
        table.problems.append(Problem("There is no record.", source, "Export the labels again."))
    return table


def parquet_table(data: bytes, source: str) -> Table:
    """Table of a Parquet file, numbers written as texts.

    Raises
    ------
    AnnotationError
        When the file is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        frame = pq.read_table(io.BytesIO(data))
        names = frame.column_names
        columns = {
            name: _texts(frame.column(place).to_pylist()) for place, name in enumerate(names)
        }
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        what = f"The Parquet file is damaged: {str(error).splitlines()[0]}"
        raise AnnotationError(Problem(what, source, "Write it again.")) from error
    table = Table(dict(columns), range(1, frame.num_rows + 1), source)
    if len(columns) < len(names):
        what = "Column names are used more than once."
        table.problems.append(Problem(what, source, "Give every column its own name."))
    if not frame.num_rows:
        table.problems.append(Problem("There is no row.", source, "Export the labels again."))
    return table


def _constant(name: str) -> str | None:
    return None if name == "NaN" else name


def _text(value: Any) -> Any:
    """Text of a JSON value; lists and objects stay, so that they are reported where they matter."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


def _texts(values: Iterable[Any]) -> list[Any]:
    """Texts of Parquet cells; whole numbers in a column of floats lose their fraction."""
    cells = [None if value is None or value != value else value for value in values]
    whole = all(cell.is_integer() for cell in cells if isinstance(cell, float))
    out: list[Any] = []
    for cell in cells:
        if isinstance(cell, float) and whole:
            out.append(str(int(cell)))
        elif cell is None or isinstance(cell, (bool, str, list, dict)):
            out.append(_text(cell))
        else:
            out.append(str(cell))
    return out
