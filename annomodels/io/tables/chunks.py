"""Read files in chunks of a few megabytes, as encoded text columns with their position."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Problem
from annomodels.io.border import first_line, guarded, shown
from annomodels.io.objects import cell_text
from annomodels.io.tables.keys import Key, parts_of, quoted
from annomodels.io.tables.table import delimiter_of, first_row, is_padded

ROWS = 1 << 20
BYTES = 1 << 24
HEAD = 1 << 18
ENDINGS = {".parquet": "parquet", ".pq": "parquet", ".csv": "delimited", ".tsv": "delimited"}


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows of a file: text columns by role, and their position."""

    place: str
    first: int
    columns: dict[str, Any]

    def __len__(self) -> int:
        return len(self.columns["item"])


@dataclass(eq=False)
class TableFile:
    path: Path
    header: tuple[str, ...]
    delimiter: str = ""
    is_padded: bool = False
    problems: list[Problem] = field(default_factory=list)

    @property
    def name(self) -> str:
        return shown(self.path)

    @property
    def rows(self) -> int:
        """Number of rows; for text files, estimated from the length of the first lines."""
        with guarded(self.name):
            if not self.delimiter:
                return int(pq.read_metadata(self.path).num_rows)
            with self.path.open("rb") as file:
                head = file.read(HEAD)
            return int(self.path.stat().st_size / max(len(head) / max(head.count(b"\n"), 1), 1))

    def fractional(self, names: Sequence[str]) -> set[str]:
        """Return the float columns with fractions, which must be kept in their texts."""
        fractional: set[str] = set()
        names = _columns(names)
        if not self.delimiter:
            with guarded(self.name), pq.ParquetFile(self.path) as file:
                schema = file.schema_arrow
                floats = [n for n in names if pa.types.is_floating(schema.field(n).type)]
                for batch in file.iter_batches(ROWS, columns=floats) if floats else ():
                    fractional |= {name for name in floats if _is_fractional(batch.column(name))}
        return fractional

    def head(self, rows: int) -> dict[str, list[str]]:
        chunk = next(self.chunks({name: name for name in self.header}, set()), None)
        columns = {} if chunk is None else chunk.columns
        return {name: cells.slice(0, rows).to_pylist() for name, cells in columns.items()}

    def chunks(self, names: dict[str, str], fractional: set[str]) -> Iterator[Chunk]:
        batches = self._texts if self.delimiter else self._parquet
        group, first = 0, 2 if self.delimiter else 1
        for group, batch in batches(_columns(names.values())):
            place = f"{self.name}, row group {group}" if group else self.name
            columns = {}
            for role, name in names.items():
                with guarded(f"{place}, column {name!r}"):
                    columns[role] = _column(batch, name, fractional)
            yield Chunk(place, first, columns)
            first += batch.num_rows

    def _parquet(self, columns: list[str]) -> Iterator[tuple[int, Any]]:
        # columns have few distinct texts: decode once per text, not once per row
        with guarded(self.name):
            file = pq.ParquetFile(self.path, read_dictionary=columns)
        with file:
            for group in range(file.num_row_groups):
                with guarded(f"{self.name}, row group {group + 1}"):
                    for batch in file.iter_batches(ROWS, [group], columns=columns):
                        yield group + 1, batch

    def _texts(self, columns: list[str]) -> Iterator[tuple[int, Any]]:
        ragged: list[int] = []

        def skip(row: Any) -> str:
            ragged.append(int(row.number or 0))
            return "skip"

        options = (
            csv.ReadOptions(
                block_size=BYTES,
                use_threads=False,
                column_names=self.header if self.is_padded else None,
                skip_rows=int(self.is_padded),
            ),
            csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.large_string()),
                include_columns=columns,
                strings_can_be_null=False,
            ),
        )
        try:
            with _silent(skip):
                batches = csv.open_csv(self.path, *options)
            while True:
                with _silent(skip):
                    batch = next(batches, None)
                if batch is None:
                    break
                if self.is_padded:
                    cells = [pc.utf8_ltrim(cells, " ") for cells in batch.columns]
                    batch = pa.RecordBatch.from_arrays(cells, batch.schema.names)
                yield 0, batch
        except (pa.ArrowException, OSError) as error:
            what = f"The text cannot be read as a table: {first_line(error)}."
            remedy = "Save it as UTF-8 with one delimiter, and close all quotes."
            if "straddl" in str(error):
                what = f"A row has more than {BYTES >> 20} MB: a quote is open, or a text is long."
                remedy = "Close all quotes, and leave out columns of long texts."
            raise AnnotationError(what, self.name, remedy) from error
        if ragged:
            what = (
                f"{counted(len(ragged), 'row')} with a different number of cells than the header."
            )
            where = next((f"{self.name}, row {n}" for n in ragged if n), self.name)
            remedy = "Quote cells that contain the delimiter, or fill in the missing cells."
            self.problems.append(Problem(what, where, remedy))


@contextmanager
def _silent(handler: Callable[[Any], str]) -> Iterator[None]:
    """Suppress Arrow's message about rows that it cannot pass to `handler`: not UTF-8."""
    before = sys.unraisablehook

    def hook(said: Any) -> None:
        if said.object is not handler:
            before(said)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _columns(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(part for name in names for part in parts_of(name)))


def _column(batch: Any, name: str, fractional: set[str]) -> Any:
    parts = [
        coded(batch.column(batch.schema.get_field_index(part)), part in fractional)
        for part in parts_of(name)
    ]
    if not isinstance(name, Key):
        return parts[0]
    # combinations are numbered, and only the distinct ones are formatted
    codes = parts[0].indices.to_numpy().astype(np.int64)
    for column in parts[1:]:
        both = codes * max(len(column.dictionary), 1) + column.indices.to_numpy()
        codes = pa.array(both).dictionary_encode().indices.to_numpy().astype(np.int64)
    first = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    written = []
    for column in parts:
        texts = column.dictionary
        if pc.any(pc.match_substring_regex(texts, '[,"\r\n]')).as_py():
            texts = pa.array(map(quoted, texts.to_pylist()), pa.large_string())
        written.append(texts.take(column.indices.take(pa.array(first))))
    names = pc.binary_join_element_wise(*written, pa.scalar(",", pa.large_string()))
    nothing = "," * (len(parts) - 1)
    names = pc.if_else(pc.equal(names, nothing), "", names)
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), names)


def opened(path: Path) -> TableFile:
    name = shown(path)
    with guarded(name):
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        kind = "parquet" if is_parquet else kind_of(path)
        if kind == "parquet":
            return TableFile(path, tuple(pq.read_schema(path).names))
        if kind is None:
            what = "Only Parquet files and delimited text files can be streamed."
            raise AnnotationError(what, name, "Export the labels as Parquet or CSV.")
        with pa.input_stream(str(path)) as stream:
            head = stream.read(HEAD).decode("utf-8-sig", "replace")
    if not head.strip():
        raise AnnotationError("The file is empty.", name, "Export it again.")
    delimiter = delimiter_of(head)
    padded = is_padded(head, delimiter)
    return TableFile(path, tuple(first_row(head, delimiter, spaces=not padded)), delimiter, padded)


def kind_of(path: Path) -> str | None:
    suffixes = [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    return ENDINGS.get(suffixes[-1]) if suffixes else None


def coded(column: Any, fractional: bool) -> Any:
    """Dictionary-encode an Arrow column as the texts that ``annomodels.read`` returns."""
    if pa.types.is_null(column.type):
        column = column.cast(pa.large_string())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    values, codes = column.dictionary, column.indices
    kind = values.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or is_text:
        names = pc.fill_null(values.cast(pa.large_string()), "")
    else:
        texts = [_text(value, fractional) for value in values.to_pylist()]
        places = {text: n for n, text in enumerate(dict.fromkeys(texts))}
        names = pa.array(list(places), pa.large_string())
        codes = pa.array([places[text] for text in texts], pa.int32()).take(codes)
    if codes.null_count:
        codes = pc.fill_null(codes.cast(pa.int32()), len(names))
        names = pa.concat_arrays([names, pa.array([""], pa.large_string())])
    return pa.DictionaryArray.from_arrays(codes.cast(pa.int32()), names)


def texts_of(column: Any) -> list[Any]:
    """Return the cells of an Arrow column as texts; lists and objects remain."""
    if pa.types.is_nested(column.type):
        return list(map(cell_text, column.to_pylist()))
    is_fractional = pa.types.is_floating(column.type) and _is_fractional(column)
    texts: list[Any] = []
    for chunk in column.chunks:
        codes = coded(chunk, is_fractional)
        names = codes.dictionary.to_pylist()
        texts += [names[code] for code in codes.indices.to_pylist()]
    return texts


def _text(value: object, fractional: bool) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float) and not fractional and value.is_integer():
        return str(int(value))
    return str(value)


def _is_fractional(column: Any) -> bool:
    column = column.filter(pc.is_finite(column))
    return bool(pc.any(pc.not_equal(pc.floor(column), column)).as_py())
