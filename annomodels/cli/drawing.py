"""Tables on a terminal, drawn by rich: names and numbers are complete, texts are wrapped.

Columns are added from the left while there is room. A name that is too long for its column is
printed above its row; a text without room is printed below the row.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annomodels.cli.session import current, note, width_of
from annomodels.data.columns import COLUMNS, Column, Kind, explained, present
from annomodels.data.validation import counted
from annomodels.data.widths import size

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

GAP = 2
UNDER = 4  # indentation of a text below its row
LEAST_TEXT = 24  # width that a text needs next to the numbers
FOR_NAMES = 0.55  # fraction of the width that the names of a row may always use
LONGEST_NAME = 200  # characters; longer names are cut, so that no cell fills the screen
MOST_NAMED = 7  # columns without room to list by name


@dataclass(frozen=True)
class Drawn:
    column: Column
    cells: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def heading(self) -> str:
        return self.column.heading

    @property
    def least(self) -> int:
        """Width of the longest word of the heading."""
        return max(map(size, self.heading.split()), default=0)

    @property
    def natural(self) -> int:
        """Width of the longest text."""
        return max([self.least, *map(size, self.cells)])

    def shorter_than(self, width: int) -> int:
        """Return the width of the longest text below `width`, at least that of the heading."""
        return max([self.least, *(n for n in map(size, self.cells) if n < width)])

    def wraps(self, width: int) -> bool:
        """Return True for texts, and for names that would take more than a third of the width."""
        named = self.column.kind in ("name", "tag")
        return self.column.kind == "text" or (named and self.natural > width // 3)


def draw(
    table: pd.DataFrame,
    title: str = "",
    short: Sequence[Column] = (),
    *,
    wide: bool = False,
    level: int = 95,
) -> None:
    """Draw the columns of `short`, or all with `wide`, and print their meanings below."""
    from rich.console import Console
    from rich.text import Text

    current().pause()
    width = width_of(sys.stdout)
    # no color under NO_COLOR, and no bold or italics either
    console = Console(width=width, color_system=None if os.environ.get("NO_COLOR") else "auto")
    if title:
        console.print(Text(title, style="italic"))
    first, rest = _columns(table, short)
    drawn = [Drawn(one, _cells(one, table)) for one in ([*first, *rest] if wide else first)]
    shown = _in_parts(console, drawn, width, every=wide)
    console.print()
    hidden = [one.name for one in (*first, *rest) if one.name not in shown]
    if hidden:
        named, more = ", ".join(hidden), counted(len(hidden), "more column")
        if len(hidden) > MOST_NAMED:
            rest_of_them = len(hidden) - MOST_NAMED + 1
            named = f"{', '.join(hidden[: MOST_NAMED - 1])} and {rest_of_them} others"
        note(
            f"No room for {named}: make the terminal wider."
            if wide  # no room next to the names
            else f"{more}: {named}. -v shows all."
        )
    if any(one.interval and one.name in shown for one in first):
        note(f"Intervals contain the true value with {level} % probability.")
    for sentence in explained((one.name for one in drawn if one.name in shown), level):
        note(sentence)


def _columns(table: pd.DataFrame, short: Sequence[Column]) -> tuple[list[Column], list[Column]]:
    """Return the columns of `short` (all if it is empty), and the other columns."""
    first = present(short, table)
    known = {name for one in first for name in (one.name, *(one.interval or ()))}
    others = [_alone(name, table) for name in map(str, table) if name not in known]
    rest = list(present(others, table))
    return (list(first), rest) if first else (rest, [])


def _alone(name: str, table: pd.DataFrame) -> Column:
    """Return the default form of a column that `short` lacks, without its interval."""
    numeric = table[name].dtype.kind in "iuf"
    if name in COLUMNS and (numeric or not COLUMNS[name].numeric):
        return COLUMNS[name].called(interval=None, of=None, digits=3)
    kind: Kind = "count" if table[name].dtype.kind in "iu" else "number" if numeric else "text"
    return Column(name, kind=kind, digits=3, width=LONGEST_NAME)


def _cells(column: Column, table: pd.DataFrame) -> tuple[str, ...]:
    return (column.called(width=LONGEST_NAME) if column.kind == "name" else column).texts(table)


def _in_parts(console: Console, columns: Sequence[Drawn], width: int, *, every: bool) -> set[str]:
    """Print columns with room, or with `every` all in parts; return the names shown."""
    numbers = (n for n, one in enumerate(columns) if one.column.kind not in ("name", "tag"))
    end = next(numbers, len(columns)) or 1
    keys, others = columns[:end], columns[end:]
    shown = set[str]()
    while True:
        widths = _widths(keys, others, width)
        under = [one for one in others if one.column.kind == "text" and one.name not in widths]
        beside = [one for one in others if one.name in widths]
        _print(console, keys, beside, under, widths)
        before, shown = shown, shown.union(widths, (one.name for one in under))
        others = [one for one in others if one.name not in shown]
        if not (every and others) or shown == before:
            return shown


def _widths(keys: Sequence[Drawn], others: Sequence[Drawn], width: int) -> dict[str, int]:
    """Return the widths of the columns that are printed side by side."""
    widths = {one.name: one.natural for one in keys}
    first = [GAP + one.natural for one in others if not one.wraps(width)][:2]
    limit = max(int(width * FOR_NAMES) if first else width, width - sum(first))
    while sum(widths.values()) + GAP * (len(keys) - 1) > limit:
        # narrow the column where each character gained moves the fewest names to a separate line
        prices = {}
        for one in keys:
            narrower, now = one.shorter_than(widths[one.name]), widths[one.name]
            if narrower < now:
                moved = sum(size(cell) > narrower for cell in one.cells)
                prices[one.name, narrower] = moved / (now - narrower)
        if not prices:
            break
        name, narrower = min(prices, key=prices.__getitem__)
        widths[name] = narrower
    room = width - sum(widths.values()) - GAP * len(keys)
    for one in others:
        if not one.wraps(width):
            if room < one.natural:
                break
            widths[one.name] = one.natural
            room -= one.natural + GAP
    for one in others:
        if one.wraps(width) and room >= min(one.natural, max(LEAST_TEXT, one.least)):
            widths[one.name] = min(one.natural, room)
            room -= widths[one.name] + GAP
    return widths


def _print(
    console: Console,
    keys: Sequence[Drawn],
    beside: Sequence[Drawn],
    under: Sequence[Drawn],
    widths: Mapping[str, int],
) -> None:
    """Print a header and the rows, with long names above and texts below a row."""
    from rich.box import Box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    rule = Box("    \n    \n ── \n" + "    \n" * 5)

    def grid(*, header: bool) -> Table:
        made = Table(
            box=rule, show_header=header, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
        )
        for one in (*keys, *beside):
            made.add_column(
                Text(one.heading),
                justify="right" if one.column.numeric else "left",
                width=widths[one.name],
                overflow="fold",
            )
        return made

    console.print()
    part = grid(header=True)
    for n in range(len(keys[0].cells)):
        names = [one.cells[n] for one in keys]
        above = [text for one, text in zip(keys, names, strict=True)
                 if size(text) > widths[one.name]]  # fmt: skip
        if above:
            if part.show_header or part.row_count:
                console.print(part)
                part = grid(header=False)
            console.print(Text("\n".join(above)), soft_wrap=True)
        names = ["" if text in above else text for text in names]
        part.add_row(*map(Text, (*names, *(one.cells[n] for one in beside))))
        below = [one.cells[n] for one in under if one.cells[n]]
        if below:
            console.print(part, *(Padding(Text(text), (0, 0, 0, UNDER)) for text in below))
            part = grid(header=False)
    if part.show_header or part.row_count:
        console.print(part)
