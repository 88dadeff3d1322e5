"""Names for coders: tools write numbers and identifiers where people know names."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from typing import Any

from annomodels.data.validation import counted, is_blank, some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.columns import Columns
from annomodels.io.documents import json_value
from annomodels.io.files import decoded, name_of, raw_bytes

__all__ = ["groups_from", "names_from", "rename_coders"]


def names_from(given: Mapping[Any, Any] | str | os.PathLike[str] | None) -> dict[str, str]:
    """Names of coders by what the export calls them.

    Parameters
    ----------
    given
        A mapping, or a file: JSON ``{"uuid": "ana"}`` or a table with two columns.

    Raises
    ------
    AnnotationError
        When the file is no such table.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(key): str(name) for key, name in given.items()}
    source = name_of(given)
    text = decoded(raw_bytes(given), source)
    if text.lstrip()[:1] == "{":
        value = json_value(text, source)
        if all(isinstance(name, str) for name in value.values()):
            return dict(value)
    else:
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if any(row)]
        if rows and all(len(row) == 2 for row in rows):
            return dict(rows)
    what = "This is no table of names of coders."
    remedy = 'Write {"identifier": "name"} as JSON, or two columns as CSV.'
    raise AnnotationError(Problem(what, source, remedy))


def groups_from(path: str | os.PathLike[str]) -> dict[str, str]:
    """Group of each coder from a file: JSON ``{"ana": "person"}`` or a table with two columns.

    A first row ``coder,group`` is taken for a header.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    AnnotationError
        When the file is no such table.
    """
    try:
        found = names_from(path)
    except AnnotationError as error:
        if not any("no table of names" in problem.what for problem in error.problems):
            raise
        what = "This is no table of groups of coders."
        remedy = 'Write {"coder": "group"} as JSON, or two columns, coder and group, as CSV.'
        raise AnnotationError(Problem(what, name_of(path), remedy)) from error
    if found.get("coder") == "group":
        del found["coder"]
    return found


def rename_coders(columns: Columns, names: Mapping[str, str]) -> None:
    """Put names in the place of identifiers, and say what did not fit."""
    if not names or columns.problems:
        return
    before = dict.fromkeys(str(coder) for coder in columns.coders if not is_blank(coder))
    columns.coders = [names.get(str(coder), coder) for coder in columns.coders]
    unnamed = [coder for coder in before if coder not in names]
    if unnamed:
        columns.notes.append(f"{counted(len(unnamed), 'coder')} without a name: {some(unnamed)}.")
    after = {names.get(coder, coder) for coder in before}
    if len(after) < len(before):
        columns.notes.append(
            f"{len(before):,} identifiers stand for {len(after):,} coders by the names given."
        )
