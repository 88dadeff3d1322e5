"""Convert workbooks, data frames and SPSS, Stata and Parquet files to tables."""

from __future__ import annotations

import io
import os
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.validation import counted, is_missing, some
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.border import Members, check_xml, first_line, needs, open_zip
from annomodels.io.tables.table import Table, text_of

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

EVERY_SHEET = "*"
_TRIED = 8  # maximum number of sheets offered as options
Rows = list[list[str]]


def sheets_of(data: bytes, source: str) -> dict[str, Rows]:
    """Return the rows of each nonempty sheet of an Excel or OpenDocument workbook."""
    parts = open_zip(data, source)
    for name in parts.ending(".xml", ".rels"):
        check_xml(parts.read(name), f"{source}, {name}")
    sheets = _sheets(data, source)
    return {name: rows for name, rows in sheets.items() if any(any(row) for row in rows)}


def sheet_of(sheets: Mapping[str, Rows], source: str, wanted: str | None) -> Rows:
    names = list(sheets)
    if wanted is None and len(names) > 1:
        what = f"{counted(len(names), 'sheet')} of the workbook have cells: {some(names)}."
        remedy, tried = f"Choose one with {Option('sheet', names[0])}", names[:_TRIED]
        if len({tuple(rows[0]) for rows in sheets.values()}) == 1:
            tried = [EVERY_SHEET, *tried]
            remedy += f", or read each as the work of its coder with {Option('sheet', EVERY_SHEET)}"
        options = tuple(("sheet", name) for name in tried)
        raise AnnotationError(what, source, f"{remedy}.", options=options, code="several-sheets")
    if wanted is not None and wanted not in sheets:
        what = f"No sheet with cells is called {wanted!r}."
        raise AnnotationError(what, source, f"The sheets are {some(names)}.", code="no-such-sheet")
    return next(iter(sheets.values()), []) if wanted is None else sheets[wanted]


def as_folder(sheets: Mapping[str, Rows], source: str) -> Members:
    """Return sheets as the files of a folder, each named after its coder."""
    files = {f"{name.replace('.', ' ')}.csv": rows for name, rows in sheets.items()}
    made = Members(source, files, lambda name: text_of(files[name]).encode())
    made.are_sheets = True
    return made


def _sheets(data: bytes, source: str) -> dict[str, Rows]:
    try:
        import python_calamine
    except ImportError:
        raise needs("python-calamine", "A workbook") from None
    try:
        book = python_calamine.load_workbook(io.BytesIO(data))
        return {name: _filled(book.get_sheet_by_name(name)) for name in book.sheet_names}
    except Exception as error:  # the library passes on any exception of its parsers
        what = f"The workbook is damaged: {first_line(error)}."
        raise AnnotationError(what, source, "Save it again, or as CSV.", code="damaged") from error


def _filled(sheet: CalamineSheet) -> Rows:
    """Return rows with the value of a merged cell repeated in each row that it spans."""
    rows = [list(map(_shown, row)) for row in sheet.to_python(skip_empty_area=False)]
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        for row in [row for row in rows[top + 1 : bottom + 1] if left < len(row)]:
            row[left] = rows[top][left]
    return rows


def _shown(cell: object) -> str:
    """Return a cell as displayed: whole numbers have no fraction."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def statistics_table(data: bytes, source: str, tool: str) -> Table:
    """Read an SPSS or Stata file, with value labels for codes and "" for missing values."""
    try:
        import pyreadstat
    except ImportError:
        raise needs("pyreadstat", f"A file of {tool}") from None
    read = pyreadstat.read_sav if tool == "SPSS" else pyreadstat.read_dta
    # The library opens files by name only.
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data")
        with open(path, "wb") as file:
            file.write(data)
        try:
            frame, about = read(path)
            columns = {
                str(name): _coded(frame[name].tolist(), about.variable_value_labels.get(name, {}))
                for name in frame.columns
            }
        except Exception as error:  # the library passes on any exception of its C code
            what = f"The file of {tool} is damaged: {first_line(error)}."
            raise AnnotationError(
                what, source, "Save it again, or as CSV.", code="damaged"
            ) from error
    table = Table(dict(columns), range(1, len(frame) + 1), source)
    if not len(frame):
        table.problems.append(Problem("The file has no cases.", source, "Export the data again."))
    return table


def _coded(cells: Sequence[object], names: Mapping[object, str]) -> list[str]:
    labels = {code: str(name) for code, name in names.items()}
    return [
        labels[cell] if cell in labels else "" if cell != cell else _shown(cell) for cell in cells
    ]


def parquet_table(data: bytes, source: str) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from annomodels.io.tables.chunks import texts_of

    try:
        frame = pq.read_table(io.BytesIO(data))
        names = frame.column_names
        columns = {name: texts_of(frame.column(n)) for n, name in enumerate(names)}
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        what = f"The Parquet file is damaged: {str(error).splitlines()[0]}"
        raise AnnotationError(what, source, "Write it again.", code="damaged") from error
    twice = {name: n for name, n in Counter(names).items() if n > 1}
    table = Table(dict(columns), range(1, frame.num_rows + 1), source, twice=twice)
    if not frame.num_rows:
        table.problems.append(Problem("The file has no rows.", source, "Export the labels again."))
    return table


NUMBERED = "coder "


def frame_table(frame: Any) -> Table:
    import narwhals as nw

    frame = _with_named_columns(frame)
    try:
        native = nw.from_native(frame)
    except TypeError:
        what = f"A table was expected, but this is {type(frame).__name__!r}."
        remedy = (
            "Give a data frame; read files with annomodels.read "
            "and rows with Annotations.from_records."
        )
        raise AnnotationError(what, remedy=remedy) from None
    except ValueError as error:  # duplicate column names
        remedy = "Give every column its own name."
        raise AnnotationError(str(error).splitlines()[0], "data frame", remedy) from None
    table = native.collect() if isinstance(native, nw.LazyFrame) else native
    columns = {str(name): _plain_cells(table[name]) for name in table.columns}
    return Table(dict(columns), range(1, len(table) + 1), "data frame")


def is_matrix(header: Sequence[str]) -> bool:
    """Return True if the columns had numbers instead of names: one column per coder."""
    return bool(header) and all(name.startswith(NUMBERED) for name in header)


def _with_named_columns(frame: Any) -> Any:
    """Return a frame with strings as column names, and with its index if that has a name.

    Arrays, mappings of columns and lists of records become pandas data frames. The columns of an
    array are coders.
    """
    import pandas as pd

    if hasattr(frame, "to_dataframe"):  # xarray
        frame = frame.to_dataframe()
    if isinstance(frame, (Mapping, np.ndarray)) or (
        isinstance(frame, list) and frame and all(isinstance(row, Mapping) for row in frame)
    ):
        if isinstance(frame, np.ndarray) and frame.ndim != 2 and not frame.dtype.names:
            what = f"An array of shape {frame.shape} is not a table."
            remedy = "Give one row per item and one column per coder."
            raise AnnotationError(what, remedy=remedy)
        frame = pd.DataFrame(frame)
    if hasattr(frame, "compute") and not isinstance(frame, pd.DataFrame):  # dask
        frame = frame.compute()
    if not isinstance(frame, pd.DataFrame):
        return frame
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index(allow_duplicates=True)
    if all(isinstance(name, str) for name in frame.columns):
        return frame
    if isinstance(frame.columns, pd.MultiIndex):
        names = ["|".join(str(part) for part in name if part != "") for name in frame.columns]
    elif all(isinstance(name, (int, np.integer)) for name in frame.columns):
        names = [f"{NUMBERED}{name}" for name in frame.columns]
    else:
        names = [str(name) for name in frame.columns]
    return frame.set_axis(names, axis=1)


def _plain_cells(series: Any) -> list[Any]:
    """Return Python values; integers that gaps turned into floats become integers again."""
    cells = ["" if is_missing(cell) else cell for cell in series.to_list()]
    numbers = [cell for cell in cells if not isinstance(cell, str)]
    whole = all(isinstance(cell, float) and cell.is_integer() for cell in numbers)
    if numbers and whole and len(numbers) + cells.count("") == len(cells):
        return ["" if cell == "" else int(cell) for cell in cells]
    return [cell.tolist() if hasattr(cell, "tolist") else cell for cell in cells]
