"""Tables of the page as plain data: columns, cells, and how much was left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from annomodels.plots.style import short
from annomodels.reporting.words import decimal

if TYPE_CHECKING:
    import pandas as pd


MOST = 200  # rows of a table
_LONGEST = 60


@dataclass(frozen=True)
class Cell:
    """One cell: what it shows, and the value behind it for sorting and for CSV.

    Parameters
    ----------
    text
        What is shown.
    value
        Number behind the text; empty for texts and missing numbers.
    low, high
        Ends of the interval, as shown; empty without one.
    bar
        Interval in percent of the cell's width, drawn behind an estimate: low, middle, high.
    kind
        What the cell looks like.
    """

    text: str
    value: str = ""
    low: str = ""
    high: str = ""
    bar: tuple[int, int, int] | None = None
    kind: Literal["text", "name", "number", "tag"] = "text"

    @property
    def exact(self) -> str:
        """The value when the text does not show all of it."""
        shown = self.text.replace(",", "").replace("−", "-")
        try:
            return "" if self.value and float(shown) == float(self.value) else self.value
        except ValueError:
            return self.value


@dataclass(frozen=True)
class Column:
    """One column: its name in the CSV file, its heading, and what makes its cell of a row."""

    key: str
    title: str
    cell: Callable[[Any], Cell]
    number: bool = False
    ranged: bool = False


@dataclass(frozen=True)
class Table:
    """A table of the page; the first cell of each row is its heading.

    Parameters
    ----------
    key
        Name of the table, unique on the page.
    caption
        What it shows.
    columns, rows
        Its contents.
    total
        Rows before it was cut.
    full
        File that holds all rows.
    """

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


def name(value: object, width: int = _LONGEST) -> Cell:
    """Cell with a name that a user gave."""
    return Cell(short(value, width), kind="name")


def words(value: object, width: int = 240) -> Cell:
    """Cell with a text."""
    return Cell(short(value, width))


def tag(value: object) -> Cell:
    """Cell with one of a few known words, which a colour marks."""
    return Cell(str(value), kind="tag")


def integer(value: float) -> Cell:
    """Cell with a count."""
    return Cell(f"{int(value):,}", str(int(value)), kind="number")


def real(value: float, digits: int = 2) -> Cell:
    """Cell with a number of the size of one; a dash when it is missing.

    Examples
    --------
    >>> real(0.123456).text, real(0.123456).value, real(float("nan")).text
    ('0.12', '0.1235', '–')
    """
    value = float(value)
    return Cell(decimal(value, digits), _exact(value), kind="number")


def chance(value: float, digits: int = 2) -> Cell:
    """Cell with a probability, which never reads 0 or 1 when it is not.

    Examples
    --------
    >>> chance(0.9999).text, chance(0.0001, 3).text, chance(1.0).text
    ('>0.99', '<0.001', '1.00')
    """
    value, smallest = float(value), 10.0**-digits
    text = decimal(value, digits)
    if 0 < value < smallest / 2:
        text = f"<{decimal(smallest, digits)}"
    elif 1 - smallest / 2 < value < 1:
        text = f">{decimal(1 - smallest, digits)}"
    return Cell(text, _exact(value), kind="number")


def figure(value: float) -> str:
    """Text of a number of any size.

    Examples
    --------
    >>> figure(1558.2), figure(1.0041), figure(0.0), figure(12.0), figure(float("nan"))
    ('1,558', '1.004', '0', '12', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}".replace("-", "−")
    digits = 1 if abs(value) >= 10 else 3
    return f"{value:.{digits}f}".rstrip("0").rstrip(".").replace("-", "−")


def quantity(value: object, low: float = math.nan, high: float = math.nan) -> Cell:
    """Cell with a number of any size, perhaps with an interval, or with a text."""
    if isinstance(value, str):
        return words(value)
    number = float(value)  # type: ignore[arg-type]
    ends = [figure(low), figure(high)] if math.isfinite(low + high) else ["", ""]
    return Cell(figure(number), _exact(number), ends[0], ends[1], kind="number")


def _exact(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else ""


def estimate(value: float, low: float, high: float, *, bar: bool = False, digits: int = 2) -> Cell:
    """Cell with an estimate and its interval.

    Parameters
    ----------
    value, low, high
        The estimate and the ends of its interval.
    bar
        Whether to draw the interval, on a scale from 0 to 1.
    digits
        Decimals to show.
    """
    value, low, high = float(value), float(low), float(high)
    shown = decimal(value, digits)
    exact = _exact(value)
    if not (math.isfinite(low) and math.isfinite(high)):
        return Cell(shown, exact, kind="number")
    drawn = (_place(low), _place(value), _place(high)) if bar else None
    return Cell(shown, exact, decimal(low, digits), decimal(high, digits), drawn, "number")


def _place(value: float) -> int:
    return round(100 * min(max(value, 0.0), 1.0))


def column(
    make: Callable[..., Cell],
    key: str,
    title: str,
    of: str | tuple[str, ...] | Callable[[Any], Any] = "",
    *,
    ranged: bool = False,
    **look: Any,
) -> Column:
    """Describe a column by the function that makes its cells.

    Parameters
    ----------
    make
        Such as :func:`real`; columns of estimates have intervals, others where `ranged` says so.
    key, title
        Name in the CSV file, and heading.
    of
        What the cells are made of: an attribute of the row, by default `key`; several of them, by
        default `key` with the ends ``_low`` and ``_high`` where there is an interval; or a function
        of the row.
    ranged
        Whether the cells have intervals.
    **look
        Further arguments of `make`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> made = column(estimate, "bits", "Bits")
    >>> made.cell(SimpleNamespace(bits=0.5, bits_low=0.25, bits_high=0.75)).low
    '0.25'
    """
    ranged = ranged or make is estimate or isinstance(of, tuple)
    number = make in (integer, real, chance, quantity, estimate)
    names: tuple[str, ...] = (key, f"{key}_low", f"{key}_high") if ranged else (key,)
    if of and not callable(of):
        names = (of,) if isinstance(of, str) else of

    def cell(row: Any) -> Cell:
        if callable(of):
            found = of(row)
            return make(*(found if ranged else (found,)), **look)
        return make(*(getattr(row, name) for name in names), **look)

    return Column(key, title, cell, number, ranged)


def with_sds(name: str) -> Callable[[Any], tuple[float, float, float]]:
    """Take a mean and 1.96 standard deviations, ``name_sd``, to either side from a row."""

    def ends(row: Any) -> tuple[float, float, float]:
        value, half = getattr(row, name), 1.96 * float(getattr(row, f"{name}_sd"))
        return value, value - half, value + half

    return ends


def tabulate(
    key: str,
    caption: str,
    columns: Sequence[Column],
    frame: pd.DataFrame,
    full: str = "",
) -> Table:
    """Make a table from the first rows of a data frame."""
    rows = tuple(
        tuple(column.cell(row) for column in columns) for row in frame.head(MOST).itertuples()
    )
    return Table(key, caption, tuple(columns), rows, len(frame), full)
