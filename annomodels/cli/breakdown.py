"""Agreement by document, label, item, coder or pair of coders, as one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.session import note
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.coefficients.parts.results import Breakdown
    from annomodels.data.annotations import Annotations

__all__ = ["BY", "DEFAULT", "SHORT", "coefficient_names", "parts_table"]

BY = ("document", "group", "label", "item", "coder", "pair")
DEFAULT = ("percent", "alpha")

_COMMON = ("value", "low", "high", "observed", "expected", "n")
SHORT: dict[str, tuple[str, ...]] = {
    "document": (*_COMMON, "coders", "note"),
    "group": (*_COMMON, "coders", "note"),
    "label": (*_COMMON, "share", "specific", "specific_low", "specific_high"),
    "item": ("n", "value", "share", "influence", "further", "low", "high"),
    "coder": ("n", "value", "low", "high", "without", "difference", "p_better_without", "note"),
    "pair": (*_COMMON, "note"),
}
"""Columns that a drawn table shows, after those that name the part and the coefficient."""


def coefficient_names(
    asked: Sequence[str], gates: Sequence[str], default: Sequence[str]
) -> list[str]:
    """Names to compute: those asked for, else the default, and those that gates need.

    Raises
    ------
    click.UsageError
        When one of those asked for is unknown; a gate speaks for itself.
    """
    from annomodels.coefficients.catalogue import COEFFICIENTS, find

    try:
        names = [find(name).name for name in asked]
    except NotApplicable as error:
        raise _usage(f"--coefficient: {error}") from None
    return list(dict.fromkeys([*(names or default), *(g for g in gates if g in COEFFICIENTS)]))


def parts_table(
    data: Annotations,
    by: str,
    names: Sequence[str],
    positive: str | None,
    progress: Callable[[str, float], object],
) -> pd.DataFrame:
    """Break coefficients down and put the tables one below the other.

    Parameters
    ----------
    data
        The annotations.
    by
        One of :data:`BY`.
    names
        Names of coefficients.
    positive
        Label that the rules for documents without it are about, or None.
    progress
        Is told the stage and the share done.

    Raises
    ------
    click.UsageError
        When the data have no such parts, or the coefficient cannot be taken apart this way.
    """
    import pandas as pd

    from annomodels.coefficients.catalogue import COEFFICIENTS

    if by in ("document", "group") and data.group is None:
        raise _usage(
            f"--by {by} needs to know the documents: name their column with --group-column."
        )
    tables, said = [], dict[str, None]()
    for number, name in enumerate(names):
        progress(f"agreement by {by}", number / len(names))
        found = _one(data, by, name, positive)
        table = found.table.rename(columns={"group": by})
        place = len(found.parts)
        table.insert(place, "coefficient", name)
        table.insert(place + 1, "title", COEFFICIENTS[name].title)
        tables.append(table)
        for row in found.overall.to_dict("records"):
            _say_overall(COEFFICIENTS[name].title, row)
        said |= dict.fromkeys(found.notes)
    for text in said:
        note(f"note: {text}")
    return pd.concat(tables, ignore_index=True)


def _one(data: Annotations, by: str, name: str, positive: str | None) -> Breakdown:
    from annomodels.coefficients.parts.breakdown import breakdown

    kind = "group" if by == "document" else by
    options: dict[str, Any] = {}
    if positive is not None:
        named = {label_text(label): label for label in data.labels}
        options = {"undefined": "label-given", "positive": named.get(positive, positive)}
    try:
        return breakdown(data, kind, name, **options)  # type: ignore[arg-type]
    except NotApplicable as error:
        raise _usage(f"--by {by}: {error}") from None


def _say_overall(title: str, row: Mapping[Any, Any]) -> None:
    """Say what holds for all parts together."""
    from annomodels.cli.tables import cell

    low, high = cell(row["low"], 3), cell(row["high"], 3)
    span = f" [{low}, {high}]" if low else ""
    value = cell(row["value"], 3) or "undefined"
    note(f"{title}, {row['what']}: {value}{span}")


def _usage(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context(silent=True))
