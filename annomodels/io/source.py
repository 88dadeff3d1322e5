"""Input, read only as far as a format needs: bytes, text, rows, table, documents."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from annomodels.errors import AnnotationError
from annomodels.io import objects
from annomodels.io.border import STDIN, Members, decoded, name_of, open_folder, open_zip, raw_bytes
from annomodels.io.objects import from_objects, json_lines, json_value
from annomodels.io.tables.columns import matched
from annomodels.io.tables.keys import Key, Names, said_key
from annomodels.io.tables.options import Options as Options
from annomodels.io.tables.table import Table, TextRows, from_records

_JSON_ENDINGS = {".json", ".jsonl", ".ndjson", ".manifest"}
_SAMPLE = 50  # records used to detect the format
_MANY = 100_000  # rows above which the text of a table is not kept in memory


class Piped(str):
    """Standard input with its bytes kept for a second read."""

    data: bytes

    def __new__(cls, name: str) -> Piped:
        made = super().__new__(cls, name)
        made.data = raw_bytes(name)
        return made


@dataclass(frozen=True)
class Opening:
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    columns: Sequence[str] | None = None
    skip_rows: int = 0


class Source:
    """File or folder, read once; each view is computed on first access."""

    is_sheet = False  # True for a sheet of a workbook that is read as a folder

    def __init__(
        self,
        path: str | os.PathLike[str],
        data: bytes | None = None,
        opening: Opening | None = None,
    ) -> None:
        self.path = path
        self.name = name_of(path)
        self.opening = opening or Opening()
        self.read: object = None  # the records of a tool's export, once they were read
        if data is not None:
            self.data = data
        elif isinstance(path, Piped):
            self.data = path.data

    @classmethod
    def of_table(cls, table: Table) -> Source:
        source = cls(table.source, data=b"")
        source.name = table.source
        source.__dict__ |= {"table": table, "kind": "delimited", "text": "", "inside": None}
        return source

    def again(self) -> Source:
        """Return a copy with all cached views, and the table as it was first read."""
        made = copy.copy(self)
        if "table" in made.__dict__:
            columns = {
                n: cells for n, cells in self.table.columns.items() if not isinstance(n, Key)
            }
            notes, problems = [*self.table.notes], [*self.table.problems]
            made.table = replace(self.table, columns=columns, notes=notes, problems=problems)
        return made

    def member(self, name: str) -> Source:
        assert self.inside is not None
        part = Source(f"{self.name}/{name}", self.inside.read(name), self.opening)
        if self.inside.are_sheets:
            part.is_sheet, part.name = True, part.stem
        return part

    def parts(self, *endings: str) -> list[Source]:
        """Return the files of a folder or archive with these endings; a file is its only part."""
        if self.inside is None:
            return [self]
        return [self.member(name) for name in self.inside.ending(*endings)]

    @property
    def stem(self) -> str:
        return self.name.rsplit("/", 1)[-1].split(".", 1)[0]

    @property
    def is_folder(self) -> bool:
        return self._file is not None and self._file.is_dir()

    @cached_property
    def _file(self) -> Path | None:
        """Path, if it can be opened more than once; else None."""
        if "data" in self.__dict__ or self.name == STDIN:
            return None
        path = Path(self.path)
        try:
            return path if path.exists() else None
        except (OSError, ValueError):
            return None

    @cached_property
    def _head(self) -> bytes:
        if self._file is None or not self._file.is_file():
            return self.data[:4096]
        try:
            with self._file.open("rb") as file:
                head = file.read(4096)
        except OSError:
            return self.data[:4096]  # raises the reason
        return self.data[:4096] if head.startswith(b"\x1f\x8b") else head

    @cached_property
    def inside(self) -> Members | None:
        """Files of a folder or of a zip archive; None if the source is one file."""
        is_folder = self._file is not None and self._file.is_dir()
        if not is_folder and not self._head.startswith(b"PK\x03\x04"):
            return None
        if self._file is not None and is_folder:
            return open_folder(self._file)
        members = open_zip(self._file or self.data, self.name)
        names = {*members.names}
        if not ({"content.xml", "styles.xml"} <= names or "xl/workbook.xml" in names):
            return members
        from annomodels.io.tables.workbooks import EVERY_SHEET, as_folder, sheets_of

        if self.opening.sheet == EVERY_SHEET:
            return as_folder(sheets_of(self.data, self.name), self.name)
        return None

    @cached_property
    def data(self) -> bytes:
        return raw_bytes(self.path)

    @cached_property
    def text(self) -> str:
        text = decoded(self.data, self.name, self.opening.encoding)
        if self._file is not None:
            del self.data
        return text

    @cached_property
    def kind(self) -> str:
        """Kind of file: "inside", "xml", "delimited" or another case of :attr:`table`."""
        if self.inside is not None:
            return "inside"
        for magic, kind in _KINDS.items():
            if self._head.startswith(magic):
                return kind
        named_json = not _JSON_ENDINGS.isdisjoint(s.lower() for s in Path(self.name).suffixes)
        if self._streamed:
            return "json" if self._head.lstrip(_BLANK)[:1] == b"[" else "json lines"
        start = self.text.lstrip()[:1]
        if start == "<" and not named_json:
            return "xml" if self.text.lstrip()[:5] in ("<?xml", "<xmi:") else "delimited"
        if named_json or start in ("{", "["):
            try:
                return self._json_kind(start)
            except AnnotationError:
                if not named_json:
                    return "delimited"
                raise
        return "delimited"

    @cached_property
    def _streamed(self) -> bool:
        if self._file is None or self._file.stat().st_size <= objects.LARGE:
            return False
        return self._head.lstrip(_BLANK)[:1] in (b"[", b"{")

    def _json_kind(self, start: str) -> str:
        if start == "[":
            return "json" if isinstance(self.documents, list) else "delimited"
        first = self.text.lstrip().split("\n", 1)[0]
        try:
            json_value(first, self.name)
        except AnnotationError:
            json_value(self.text, self.name)  # one object over several rows
            return "json"
        return "json lines"

    @cached_property
    def documents(self) -> Any:
        return json_value(self.text, self.name)

    @property
    def objects(self) -> Iterable[tuple[int, Any]]:
        """Row numbers and values of JSON records; empty for other inputs."""
        if not self.is_json:
            return ()
        if self._streamed and self._file is not None:
            stream = objects.streamed_array if self.kind == "json" else objects.streamed_lines
            return stream(self._file, self.name)
        return self._objects

    @cached_property
    def _objects(self) -> list[tuple[int, Any]]:
        if self.kind == "json":
            values = self.documents if isinstance(self.documents, list) else [self.documents]
            return list(enumerate(values, 1))
        values, rows = json_lines(self.text, self.name)
        return list(zip(rows, values, strict=True))

    @cached_property
    def sample(self) -> list[dict[str, Any]]:
        """First JSON records that are objects."""
        return [value for _, value in islice(self.objects, _SAMPLE) if isinstance(value, dict)]

    @property
    def is_json(self) -> bool:
        return self.kind in ("json", "json lines")

    @property
    def shape(self) -> str:
        """Kind of input: "folder" (or archive), "json", "xml" or "table"."""
        if self.inside is not None:
            return "folder"
        return "json" if self.is_json else "xml" if self.kind == "xml" else "table"

    @cached_property
    def rows(self) -> TextRows:
        """Rows of cells of a text or sheet, including header and blank rows."""
        if self.kind == "excel":
            from annomodels.io.tables.workbooks import sheet_of, sheets_of

            cells = sheet_of(sheets_of(self.data, self.name), self.name, self.opening.sheet)
            return TextRows.of(cells[self.opening.skip_rows :], self.opening.skip_rows)
        text = self.text if self.kind == "delimited" else ""
        return TextRows(text, self.name, self.opening.delimiter, self.opening.skip_rows)

    @property
    def header(self) -> tuple[str, ...]:
        """Column names, or fields of the first records; empty for folders."""
        if self.is_json:
            return tuple(dict.fromkeys(key for record in self.sample for key in record))
        return () if self.kind in ("inside", "xml") else self.table.header

    @cached_property
    def table(self) -> Table:
        if self.is_json:
            pairs = list(self.objects)
            if len(pairs) == 1 and (named := objects.named_records(pairs[0][1])):
                pairs = list(enumerate(named, 1))
            return from_objects([v for _, v in pairs], [n for n, _ in pairs], self.name)
        if self.kind in ("parquet", "SPSS", "Stata"):
            from annomodels.io.tables.workbooks import parquet_table, statistics_table

            if self.kind == "parquet":
                return parquet_table(self.data, self.name)
            return statistics_table(self.data, self.name, self.kind)
        rows = self.rows
        mark = "" if self.kind == "excel" or self.is_sheet else rows.delimiter
        table = from_records(rows, lambda: rows.lines, self.name, mark, self.opening.columns)
        if self._file is not None and len(table) > _MANY:  # these can be read again
            for view in ("data", "text", "rows"):
                self.__dict__.pop(view, None)
        return table

    def with_coder(self, who: str) -> str | None:
        """Return the coder column; if it is missing or empty, fill it with `who`."""
        table = self.table
        known = matched(table.header)["coder"]
        if len(known) > 1:
            return None
        name = known[0] if known else "coder" if "coder" not in table.header else "coder (file)"
        cells = table.columns.get(name, [""] * len(table))
        names = {str(cell) for cell in cells} - {""}
        table.coder = None if name in table.columns else name
        if not names:
            table.columns[name] = [who] * len(table)
        elif len(names) == 1 and "" in cells:
            only = names.pop()
            table.notes.append(f"{self.name}: rows without a coder count as rows of {only!r}.")
            table.columns[name] = [only] * len(table)
        return name

    def with_key(self, item: Names | None) -> str | None:
        """Return the given item column; several columns are combined into a new one."""
        known = self.header
        if isinstance(item, str) and "," in item and self.is_json:
            known = (*known, *objects.keys_of(self.sample, depth=3))
        key = said_key(item, known)
        if isinstance(key, Key) and self.inside is None and key not in known:
            # tools prefix the names of input columns
            named = {
                part: name
                for part in key.parts
                for name in self.header
                if name in (part, f"Input.{part}", f"INPUT:{part}")
            }
            if len(named) == len(key.parts):
                self.table.add_key(key, named)
        return key


_BLANK = b" \t\r\n\xef\xbb\xbf"
_VERSIONS = (b"q", b"r", b"s")
_KINDS = {
    **{b"PAR1": "parquet", b"PK\x03\x04": "excel", b"$FL2": "SPSS", b"$FL3": "SPSS"},
    b"<stata_dta>": "Stata",
    # versions 8 to 12: version, byte order and file type
    **{version + order + b"\x01": "Stata" for version in _VERSIONS for order in (b"\1", b"\2")},
}
