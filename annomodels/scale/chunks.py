"""Files to chunks of text columns, a few megabytes at a time, each knowing where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Problem
from annomodels.io.tables.delimited import delimiter_of, first_row
from annomodels.scale.cells import is_fractional, texts

__all__ = ["Chunk", "File", "opened"]

ROWS = 1 << 20
BYTES = 1 << 24
HEAD = 1 << 18
ENDINGS = {".parquet": "parquet", ".pq": "parquet", ".csv": "delimited", ".tsv": "delimited"}


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of a file: text columns by role, and where they stand.

    Parameters
    ----------
    file
        Name of the file.
    row_group
        Number of the row group from 1; 0 in files without any.
    first
        Row number of the first row, as people count in that file.
    columns
        ``large_string`` arrays by role, without gaps: what is missing is the empty text.
    """

    file: str
    row_group: int
    first: int
    columns: dict[str, Any]

    def __len__(self) -> int:
        return len(self.columns["item"])

    def rows(self, places: NDArray[np.int64]) -> list[int]:
        """Row numbers of some places in the chunk."""
        return [self.first + int(n) for n in places]


@dataclass(eq=False)
class File:
    """A Parquet or delimited file that is read in chunks.

    Parameters
    ----------
    path
        Where it is.
    header
        Names of its columns.
    kind
        "parquet" or "delimited".
    delimiter
        Delimiter of a text.
    problems
        What is wrong with its rows, known when all chunks have been read.
    """

    path: Path
    header: tuple[str, ...]
    kind: str
    delimiter: str = ","
    problems: list[Problem] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Number of rows, for texts guessed from the length of the first lines."""
        if self.kind == "parquet":
            return int(_parquet(self.path).metadata.num_rows)
        with self.path.open("rb") as file:
            head = file.read(HEAD)
        return int(self.path.stat().st_size / max(len(head) / max(head.count(b"\n"), 1), 1))

    def fractional(self, names: Sequence[str]) -> set[str]:
        """Columns of floats that are not all whole numbers, so that they keep their fractions."""
        if self.kind != "parquet":
            return set()
        file = _parquet(self.path)
        floats = [name for name in names if "float" in _type(file, name)]
        floats += [name for name in names if _type(file, name) == "double"]
        found: set[str] = set()
        if floats:
            for batch in file.iter_batches(ROWS, columns=floats):
                found |= {n for n in floats if n not in found and is_fractional(batch.column(n))}
        return found

    def chunks(self, names: dict[str, str], fractional: set[str]) -> Iterator[Chunk]:
        """Read the columns of the roles from the first row to the last.

        Parameters
        ----------
        names
            Column of each role.
        fractional
            Columns of floats that are not all whole.
        """
        read = self._parquet_chunks if self.kind == "parquet" else self._text_chunks
        yield from read(names, fractional)

    def sample(self, name: str, fractional: set[str], groups: int, rows: int) -> list[Any]:
        """Take some cells of a column from all over the file; of texts, from its beginning."""
        if self.kind != "parquet":
            chunk = next(iter(self._text_chunks({"item": name}, fractional)), None)
            return [] if chunk is None else [chunk.columns["item"].slice(0, rows)]
        file = _parquet(self.path)
        n = file.metadata.num_row_groups
        chosen = sorted({int(g) for g in np.linspace(0, n - 1, min(groups, n))})
        out = []
        for group in chosen:
            size = file.metadata.row_group(group).num_rows
            if size > ROWS:  # too large to hold: what comes first has to do
                column = next(file.iter_batches(ROWS, [group], columns=[name])).column(0)
            else:
                column = file.read_row_group(group, columns=[name]).column(0)
            take = np.unique(np.linspace(0, len(column) - 1, min(rows, len(column))).astype(int))
            if len(column):
                out.append(texts(column.take(take), name in fractional))
        return out

    def _parquet_chunks(self, names: dict[str, str], fractional: set[str]) -> Iterator[Chunk]:
        file = _parquet(self.path)
        columns = list(dict.fromkeys(names.values()))
        first = 1
        for group in range(file.metadata.num_row_groups):
            try:
                for batch in file.iter_batches(ROWS, [group], columns=columns):
                    cells = {
                        role: texts(batch.column(name), name in fractional)
                        for role, name in names.items()
                    }
                    yield Chunk(str(self.path), group + 1, first, cells)
                    first += batch.num_rows
            except (OSError, ValueError, TypeError) as error:
                what = f"The Parquet file is damaged: {str(error).splitlines()[0]}"
                where = f"{self.path}, row group {group + 1}"
                raise AnnotationError(Problem(what, where, "Write it again.")) from error

    def _text_chunks(self, names: dict[str, str], fractional: set[str]) -> Iterator[Chunk]:
        import pyarrow as pa
        from pyarrow import csv

        ragged: list[int] = []

        def skip(row: Any) -> str:
            ragged.append(int(row.number or 0))
            return "skip"

        columns = list(dict.fromkeys(names.values()))
        try:
            reader = csv.open_csv(
                self.path,
                csv.ReadOptions(block_size=BYTES, use_threads=False),
                csv.ParseOptions(
                    delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=skip
                ),
                csv.ConvertOptions(
                    column_types={name: pa.large_string() for name in columns},
                    include_columns=columns,
                    strings_can_be_null=False,
                ),
            )
            first = 2
            for batch in reader:
                cells = {
                    role: texts(batch.column(batch.schema.get_field_index(name)), False)
                    for role, name in names.items()
                }
                yield Chunk(str(self.path), 0, first, cells)
                first += batch.num_rows
        except pa.ArrowInvalid as error:
            what = f"The text cannot be read as a table: {str(error).splitlines()[0]}"
            remedy = "Save it as UTF-8 with one delimiter, and close all quotes."
            raise AnnotationError(Problem(what, str(self.path), remedy)) from error
        if ragged:
            what = f"{counted(len(ragged), 'row')} of another width than the header."
            known = [n for n in ragged if n]
            where = f"{self.path}, row {known[0]}" if known else str(self.path)
            remedy = "Quote cells that hold the delimiter, or fill in the missing cells."
            self.problems.append(Problem(what, where, remedy))


def opened(path: Path) -> File:
    """Look at the header of a file.

    Parameters
    ----------
    path
        A Parquet file, or a text with a header and delimiters, perhaps gzipped.

    Raises
    ------
    AnnotationError
        When it is neither, or damaged.
    """
    import pyarrow as pa

    suffixes = [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    kind = ENDINGS.get(suffixes[-1] if suffixes else "")
    try:
        with path.open("rb") as file:
            if file.read(4) == b"PAR1":
                kind = "parquet"
        if kind == "parquet":
            return File(path, tuple(_parquet(path).schema_arrow.names), kind)
        with pa.input_stream(str(path)) as stream:
            head = stream.read(HEAD).decode("utf-8-sig", "replace")
    except (OSError, pa.ArrowException, ValueError) as error:
        what = f"The file cannot be read: {str(error).splitlines()[0]}"
        raise AnnotationError(Problem(what, str(path), "Write it again.")) from error
    if kind is None:
        what = "Only Parquet files and texts with delimiters are streamed."
        raise AnnotationError(Problem(what, str(path), "Export the labels as Parquet or CSV."))
    lines = head.splitlines()
    if not lines:
        raise AnnotationError(Problem("The file is empty.", str(path), "Export the labels again."))
    delimiter = delimiter_of(head)
    return File(path, tuple(first_row(head, delimiter)), kind, delimiter)


def _parquet(path: Path) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(path)


def _type(file: Any, name: str) -> str:
    return str(file.schema_arrow.field(name).type)
