"""What was given, looked at only as far as a format asks: bytes, text, rows, table, documents."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from annomodels.errors import AnnotationError
from annomodels.io.delimited import records_of
from annomodels.io.documents import from_objects, json_lines, json_value, parquet_table
from annomodels.io.files import decoded, name_of, raw_bytes
from annomodels.io.table import Table, from_records

__all__ = ["Options", "Source"]


@dataclass(frozen=True)
class Options:
    """What the user said about the file; see :func:`annomodels.read`."""

    item: str | None = None
    coder: str | None = None
    label: str | None = None
    gold: str | None = None
    group: str | None = None
    text: str | None = None
    question: str | None = None
    missing: frozenset[str] = frozenset()
    coder_columns: tuple[str, ...] | None = None
    forced: bool = False

    @property
    def extra(self) -> dict[str, str]:
        """Columns that hold something about the items."""
        named = {"gold": self.gold, "group": self.group, "text": self.text}
        return {role: name for role, name in named.items() if name is not None}

    @property
    def roles(self) -> Mapping[str, str | None]:
        """Columns named for item, coder and label."""
        return {"item": self.item, "coder": self.coder, "label": self.label}

    def is_skip(self, label: Any) -> bool:
        """Whether a cell stands for no label."""
        return label == "" or label in self.missing


class Source:
    """One file, read once; every view of it is made when it is first asked for.

    Parameters
    ----------
    path
        A file, or "-" for the standard input.
    encoding, delimiter
        As said by the user; None to find out.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        encoding: str | None = None,
        delimiter: str | None = None,
    ) -> None:
        self.path = path
        self.name = name_of(path)
        self._encoding = encoding
        self._delimiter = delimiter

    @cached_property
    def data(self) -> bytes:
        """Bytes, unpacked."""
        return raw_bytes(self.path)

    @cached_property
    def text(self) -> str:
        """Decoded text."""
        return decoded(self.data, self.name, self._encoding)

    @cached_property
    def kind(self) -> str:
        """Name of the way the rows are written: "parquet", "json", "json lines" or "delimited"."""
        if self.data.startswith(b"PAR1"):
            return "parquet"
        suffixes = [suffix.lower() for suffix in Path(self.name).suffixes]
        start = self.text.lstrip()[:1]
        if not {".json", ".jsonl", ".ndjson"}.isdisjoint(suffixes) or start in ("{", "["):
            try:
                return self._json_kind(start)
            except AnnotationError:
                if {".json", ".jsonl", ".ndjson"}.isdisjoint(suffixes):
                    return "delimited"
                raise
        return "delimited"

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
        """Parsed JSON."""
        return json_value(self.text, self.name)

    @cached_property
    def _rows(self) -> tuple[list[list[str]], Sequence[int], str]:
        return records_of(self.text, self.name, self._delimiter)

    @property
    def records(self) -> list[list[str]]:
        """Rows of cells of a delimited text, header and blank rows included; else nothing."""
        return self._rows[0] if self.kind == "delimited" else []

    @property
    def lines(self) -> Sequence[int]:
        """Line in which each record begins."""
        return self._rows[1]

    @cached_property
    def table(self) -> Table:
        """The table, whichever way its rows are written."""
        match self.kind:
            case "parquet":
                return parquet_table(self.data, self.name)
            case "json":
                values = self.documents if isinstance(self.documents, list) else [self.documents]
                return from_objects(values, range(1, len(values) + 1), self.name)
            case "json lines":
                return from_objects(*json_lines(self.text, self.name), self.name)
        return from_records(*self._rows[:2], self.name, self._rows[2])
