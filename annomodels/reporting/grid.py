"""Tables of the page as plain data: columns, cells, and the rows that were left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annomodels.data.columns import Cell, Column, present

if TYPE_CHECKING:
    import pandas as pd

MOST = 200  # rows of a table


@dataclass(frozen=True)
class Table:
    """A table of the page; `total` counts the rows before it was cut, `full` is a file with all."""

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    full: str = ""

    @property
    def cut(self) -> bool:
        """Whether rows were left out."""
        return len(self.rows) < self.total


def tabulate(
    key: str,
    caption: str,
    declared: Sequence[Column],
    frame: pd.DataFrame,
    full: str = "",
    total: int = 0,
) -> Table:
    """Make a table from the first rows of a data frame and the columns that hold something."""
    shown = present(declared, frame)
    rows = tuple(
        tuple(column.cell(row) for column in shown) for row in frame.head(MOST).itertuples()
    )
    return Table(key, caption, shown, rows, total or len(frame), full)
