"""Supported formats, tried in this order; readers are loaded on demand."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annomodels.errors import AnnotationError, Option
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tools.rows import ToolRows, read_rows

if TYPE_CHECKING:
    from annomodels.io.span_builder import Spans

# options for columns that exports of tools do not have
OF_TABLES = ("truth", "group", "question_column", "coder_columns")


@dataclass(frozen=True)
class Format:
    """Annotation format; ``is_a_b`` detects ``a-b``, and ``read_a_b`` reads it."""

    name: str
    title: str
    signature: str
    home: str = ""
    read: bool = True
    spans: bool = False
    rows: ToolRows | None = None  # if each row is a judgment
    shapes: tuple[str, ...] = ()  # possible input shapes; for others the reader is not loaded

    def fits(self, source: Source, options: Options) -> bool:
        if self.shapes and source.shape not in self.shapes:
            return False
        looks = self.rows.fits if self.rows else self._function("is")
        return bool(looks(source, options))

    def records(self, source: Source, options: Options) -> Records:
        return self._filled(source, options).closed()

    def marks(self, source: Source, options: Options) -> Spans:
        if not self.spans:
            what = f"The format {self.name!r} contains no marked stretches of text."
            remedy = f"Leave out {Option('units')} and alpha_u, which are for marked text."
            raise AnnotationError(what, source.name, remedy, code="no-spans")
        return self._filled(source, options).spans()

    def _filled(self, source: Source, options: Options) -> Records:
        of_tool = self.rows is not None or self.home.startswith("tools.")
        tool = self.title.partition(",")[0]
        for name in OF_TABLES if of_tool else ():
            if getattr(options, name) is not None:
                what = f"{Option(name)} is for tables; this is an export of {tool}."
                remedy = "Leave it out, or convert the export to a table and add this column."
                raise AnnotationError(what, source.name, remedy, code="table-option")
        found = Records(source, options)
        if self.rows is not None:
            read_rows(self.rows, found)
        else:
            self._function("read")(found)
        return found

    def _function(self, verb: str) -> Any:
        home = import_module(f"annomodels.io.{self.home}")
        return getattr(home, f"{verb}_{self.name.replace('-', '_')}")


def _formats() -> Iterator[Format]:
    path = Path(__file__).with_name("shapes.toml")
    for name, about in tomllib.loads(path.read_text("utf-8")).items():
        known = about.pop("title"), about.pop("known_by")
        holds = about.pop("holds", ["labels"])
        labels, spans = "labels" in holds, "spans" in holds
        if "reader" in about:
            shapes = tuple(about.get("shapes", ()))
            yield Format(name, *known, about["reader"], labels, spans, shapes=shapes)
        else:
            yield Format(name, *known, rows=ToolRows.of(about))


FORMATS = tuple(_formats())
SPAN_TABLE = "span-table"
PLAIN = ("long", "wide", "matrix")  # accepted by name without a check of the content
