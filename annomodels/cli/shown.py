"""Columns of the input that the report shows next to the labels: texts, and others."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annomodels.cli.places import write_texts
from annomodels.data.names import label_text
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.tables.table import TextRows, text_of

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit
    from annomodels.reporting.facts import Shown

SHOWN = "shown.csv"


def shown_from(
    path: str, data: Any, text: str | None, columns: Sequence[str], item: Any = None
) -> Shown:
    """Read columns of a table, by the items of the data."""
    from annomodels.io.mappings import item_columns
    from annomodels.reporting.facts import Shown

    wanted = list(dict.fromkeys([*([] if text is None else [text]), *columns]))
    cells = item_columns(path, wanted, item)
    names = {label_text(name): name for name in data.items}
    if not any(name in names for column in cells.values() for name in column):
        what = "None of the items of the table is in the data."
        raise AnnotationError(
            Problem(what, path, f"Name the column of the items: {Option('item')}.")
        )
    found = {
        column: {names[name]: cell for name, cell in by_item.items() if name in names}
        for column, by_item in cells.items()
    }
    return Shown(found[text] if text is not None else {}, {name: found[name] for name in columns})


def keep(shown: Shown, folder: Path) -> None:
    """Write the columns next to the fit, where ``annomodels report`` reads them."""
    columns = dict(shown.columns)
    items = list(dict.fromkeys(name for column in columns.values() for name in column))
    rows = [
        [label_text(name), *(column.get(name, "") for column in columns.values())] for name in items
    ]
    text = text_of([["item", *columns], *rows])
    write_texts(folder, {SHOWN: text})


def kept(fit_path: str, data: object) -> Shown | None:
    """Read the columns stored next to a fit; None if there are none."""
    folder = Path(fit_path) if Path(fit_path).is_dir() else Path(fit_path).parent
    path = folder / SHOWN
    if not path.is_file():
        return None
    header = TextRows(path.read_text("utf-8"), SHOWN, ",").head(1)[0]
    return shown_from(str(path), data, None, header[1:], "item")


def again(fit: Fit, text: str | None, columns: Sequence[str]) -> Shown:
    """Read the columns again from the label file that the command of a fit named."""
    data, source = fit.data, str(getattr(fit.data, "source", ""))
    words = shlex.split(str(fit.tree.attrs.get("command", "")))
    source = next((word for word in words if Path(word).name == source), source)
    if not Path(source).is_file():
        what = "The file of the labels is not here, so its columns cannot be read."
        remedy = "Run this in the folder of the file, or give the columns to annomodels run."
        raise AnnotationError(Problem(what, source or "the fit", remedy))
    return shown_from(source, data, text, columns)
