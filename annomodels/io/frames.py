"""Data frames of any make as tables that the readers take, through narwhals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annomodels.data.annotations import Annotations
from annomodels.io.many import is_path
from annomodels.io.reading import read, read_one, with_way_out
from annomodels.io.source import Source
from annomodels.io.tables.options import check_words
from annomodels.io.tables.workbooks import frame_table


def annotations_of(data: Any) -> Annotations:
    """Annotations of a data frame, or of the file at a path."""
    return read(data) if is_path(data) else read_frame(data, {})


def read_frame(frame: Any, said: Mapping[str, Any]) -> Annotations:
    """Read a data frame as :func:`annomodels.read` reads a table; the first row is 1."""
    default = read.__kwdefaults__ or {}
    check_words("from_frame", said, default)
    source = Source.of_table(frame_table(frame))
    return with_way_out(source, {**default, **said}, read_one, "Annotations.from_frame")
