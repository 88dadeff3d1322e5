"""The formats that are understood: one line each, tried in this order."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from annomodels.errors import AnnotationError, Problem
from annomodels.io.columns import Columns
from annomodels.io.long import is_long, read_long
from annomodels.io.matrix import is_matrix, read_matrix
from annomodels.io.source import Options, Source
from annomodels.io.wide import is_wide, read_wide

__all__ = ["FORMATS", "Format", "chosen"]


@dataclass(frozen=True)
class Format:
    """A way to write annotations down.

    Parameters
    ----------
    name
        What the user says: ``format="long"``.
    title
        A few words for lists.
    signature
        What it is recognised by, in words.
    matches
        Whether a source looks like it.
    read
        Columns of a source.
    """

    name: str
    title: str
    signature: str
    matches: Callable[[Source, Options], bool]
    read: Callable[[Source, Options], Columns]


FORMATS: tuple[Format, ...] = (
    Format(
        "long",
        "one row for each label (CSV, TSV, JSON lines, JSON, Parquet)",
        "columns for item, coder and label, by name or by a known name",
        is_long,
        read_long,
    ),
    Format(
        "matrix",
        "rows are items, columns are coders, no header (K-Alpha, ReCal, MACE)",
        "the first row holds labels",
        is_matrix,
        read_matrix,
    ),
    Format(
        "wide",
        "one row for each item, one column for each coder",
        "the first column names every item once",
        is_wide,
        read_wide,
    ),
)


def chosen(name: str, source: Source, options: Options) -> Format:
    """Format by name, or the first that matches; the long table when none does.

    Raises
    ------
    AnnotationError
        When the name is none of the formats.
    """
    if name != "auto":
        found = {form.name: form for form in FORMATS}.get(name)
        if found is None:
            names = ["auto", *(form.name for form in FORMATS)]
            near = difflib.get_close_matches(str(name), names, n=1)
            remedy = f"Did you mean {near[0]!r}? " if near else ""
            remedy += f"Use one of {', '.join(names)}."
            raise AnnotationError(Problem(f"There is no format {name!r}.", remedy=remedy))
        return found
    # A file that is no format is told what the columns of a long table would have to be.
    return next((form for form in FORMATS if form.matches(source, options)), FORMATS[0])
