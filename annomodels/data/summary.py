"""The common type of all summaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from annomodels.data.columns import Column, to_html, to_plain

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def _no_draws() -> xr.Dataset:
    import xarray as xr

    return xr.Dataset()


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """A tidy table and the draws it was made from.

    Parameters
    ----------
    title
        What the table shows.
    table
        One row per item, coder or coefficient.
    draws
        The posterior draws behind the table, with named dimensions; empty if none are kept.
    notes
        Remarks on the table.
    columns
        The columns to show, most important first.
    order
        Row numbers in the order to show them, most notable first; if empty, the order of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> Summary("Two rows", pd.DataFrame({"n": [1, 2]}), notes=("A note.",))
    Two rows
    n
    1
    2
    A note.
    """

    title: str
    table: pd.DataFrame
    draws: xr.Dataset = field(default_factory=_no_draws)
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    order: tuple[int, ...] = ()

    @property
    def seen(self) -> pd.DataFrame:
        """The table with the rows in the order in which people see them."""
        return self.table.iloc[list(self.order)] if self.order else self.table

    def tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield names and tables, the main one first."""
        yield "table", self.table

    def as_text(self, most: int = 12) -> str:
        """Return the first rows as the terminal shows them, and the notes.

        Parameters
        ----------
        most
            Number of rows; the text says how many it leaves out.
        """
        return "\n".join([self.title, to_plain(self.seen, self.columns, most), *self.notes])

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        from html import escape

        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        (_, main), *others = self.tables()
        parts = [to_html(name, table, ()) for name, table in others]
        order = ""
        if self.order:
            main, order = self.seen, ", most notable first"
        elif {"state", "probability"} <= set(main):  # the settled items are of little interest
            main = main.sort_values("probability", kind="stable")
            order = ", least certain first"
        return "".join([to_html(self.title, main, self.columns, order), *parts, notes])
