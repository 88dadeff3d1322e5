"""Draw a table with rich in the width of a terminal: names whole, numbers whole, the rest by rank.

Columns are taken from the left as long as there is room. A name that is too long for its column
stands on a line above its row; prose that finds no room stands below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from annomodels.cli.screen.wrapping import cut_in_the_middle, size, wrapped

if TYPE_CHECKING:
    from rich.console import Console

GAP = 2
UNDER = 4  # how far prose is indented that stands below its row
LEAST_PROSE = 24  # columns that prose needs to stand beside the numbers
FOR_NAMES = 0.55  # share of the width that the names of a row may always take
FEW = 0.2  # share of names that may stand on lines of their own to make room for numbers


@dataclass(frozen=True)
class Drawn:
    """A column of texts to draw; `width` 0 is that of the longest text."""

    name: str
    title: str
    cells: tuple[str, ...]
    kind: Literal["name", "number", "word", "prose"]
    width: int = 0

    @property
    def least(self) -> int:
        """Width of the longest word of the title."""
        return max(map(size, self.title.split()), default=0)

    @property
    def natural(self) -> int:
        """Width of the longest text."""
        return self.width or max([self.least, *map(size, self.cells)])

    def narrower(self) -> Drawn:
        """Return the column in the width of the longest text that is shorter than the longest."""
        shorter = [n for n in map(size, self.cells) if n < self.natural]
        return replace(self, width=max([self.least, *shorter]))


def draw(
    console: Console, columns: Sequence[Drawn], width: int, *, every: bool = False
) -> tuple[set[str], int]:
    """Draw a table, or with `every` all columns in parts; what is drawn, and how many cut names."""
    end = next((n for n, one in enumerate(columns) if one.kind != "name"), len(columns)) or 1
    others = list(columns[end:])
    for_others = sum(GAP + one.natural for one in others[:2] if one.kind != "prose")
    room = int(width * FOR_NAMES) if for_others else width
    keys = _names(columns[:end], room, max(room, width - for_others))
    room = width - _total(keys)
    shown, cut = {one.name for one in keys}, set[str]()
    while True:
        beside, under = _chosen(others, room, width)
        taken = {one.name for one in (*beside, *under)}
        cut |= _print(console, [*keys, *beside], under, width)
        shown |= taken
        others = [one for one in others if one.name not in taken]
        if not (every and others and taken):
            return shown, len(cut)


def _total(columns: Sequence[Drawn]) -> int:
    return sum(one.natural for one in columns) + GAP * (len(columns) - 1)


def _names(keys: Sequence[Drawn], room: int, most: int) -> list[Drawn]:
    """Narrow columns of names: beyond `room` if few names are longer, beyond `most` the widest."""
    keys = list(keys)
    for place in sorted(range(len(keys)), key=lambda n: -keys[n].natural):
        while _total(keys) > room:
            less = keys[place].narrower()
            longer = sum(size(cell) > less.natural for cell in less.cells)
            if less.natural >= keys[place].natural or longer > FEW * len(less.cells):
                break
            keys[place] = less
    while _total(keys) > most:
        place = max(range(len(keys)), key=lambda n: keys[n].natural - keys[n].least)
        less = keys[place].narrower()
        if less.natural >= keys[place].natural:
            break
        keys[place] = less
    return keys


def _chosen(others: Sequence[Drawn], room: int, width: int) -> tuple[list[Drawn], list[Drawn]]:
    """Return the columns beside the names, and the prose that goes below the rows."""
    chosen: dict[str, Drawn] = {}
    for one in (one for one in others if one.kind != "prose"):
        if one.kind in ("name", "word") and one.natural > width // 3:
            (one,) = _names([one], width // 3, width // 3)
        if room < one.natural + GAP:
            break
        chosen[one.name] = one
        room -= one.natural + GAP
    under = []
    for one in (one for one in others if one.kind == "prose"):
        needed = min(one.natural, max(room - GAP, 0))
        if needed >= min(one.natural, max(LEAST_PROSE, one.least)):
            chosen[one.name] = replace(one, width=needed)
            room -= needed + GAP
        else:
            under.append(one)
    return [chosen[one.name] for one in others if one.name in chosen], under


def _print(
    console: Console, columns: Sequence[Drawn], under: Sequence[Drawn], width: int
) -> set[str]:
    """Print rows as a table, other texts above and below their row; returns names that were cut."""
    from rich.box import Box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    rule = Box("    \n    \n ── \n" + "    \n" * 5)

    titles = [wrapped(one.title, one.natural) for one in columns]
    tall = max(map(len, titles))

    def table(header: bool) -> Table:
        made = Table(
            box=rule, show_header=header, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
        )
        for one, lines in zip(columns, titles, strict=True):
            made.add_column(
                "\n" * (tall - len(lines)) + "\n".join(lines),
                justify="right" if one.kind == "number" else "left",
                width=one.natural,
                no_wrap=one.kind != "prose",
            )
        return made

    console.print()
    part, cut = table(header=True), set()
    for above, row, below in _rows(columns, under):
        if above:
            console.print(part)
            part = table(header=False)
        for text in above:
            cut |= {text} if size(text) > width else set()
            console.print(Text(cut_in_the_middle(text, width)), soft_wrap=True)
        part.add_row(*map(Text, row))
        if below:
            console.print(part)
            part = table(header=False)
        for text in below:
            lines = "\n".join(wrapped(text, width - UNDER))
            console.print(Padding(Text(lines), (0, 0, 0, UNDER)))
    if part.show_header or part.row_count:
        console.print(part)
    return cut


def _rows(
    columns: Sequence[Drawn], under: Sequence[Drawn]
) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Yield for each row the names that are too long, the texts beside each other, and prose."""
    for n in range(len(columns[0].cells)):
        above, row = [], []
        for one in columns:
            text = one.cells[n]
            if one.kind == "prose":
                text = "\n".join(wrapped(text, one.natural))
            elif size(text) > one.natural:
                above.append(text)
                text = ""
            row.append(text)
        yield above, row, [one.cells[n] for one in under if one.cells[n]]
