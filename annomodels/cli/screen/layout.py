"""Put a table into the width of a terminal: names whole, numbers whole, the rest by rank.

Columns are taken from the left as long as there is room. A name that is too long for its column
stands on a line of its own, with the rest of its row below it. Prose that finds no room stands
under its row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from annomodels.cli.screen.wrapping import cut_in_the_middle, size, wrapped
from annomodels.summaries.columns import COLUMNS

GAP = 2
UNDER = 4  # how far prose is indented that stands under its row
LEAST_PROSE = 24  # columns that prose needs to stand beside the numbers
FOR_NAMES = 0.55  # share of the width that the names of a row may always take
_SIMPLE = r"[<>]?[-−+]?(?:[\d,]*\.?\d+(?:e[-+]?\d+)?|nan|inf|∞)"
_NUMBER = re.compile(rf"–?|{_SIMPLE}(?: \({_SIMPLE} to {_SIMPLE}\))?")
FEW = 0.2  # share of names that may stand on lines of their own to make room for numbers


@dataclass(frozen=True)
class Drawn:
    """Lines of a table, the names of the columns that they show, and how many names were cut."""

    header: tuple[str, ...]
    lines: tuple[str, ...]
    shown: tuple[int, ...]
    cut: int = 0


@dataclass(frozen=True)
class _Column:
    place: int
    title: str
    cells: tuple[str, ...]
    kind: str

    @property
    def least(self) -> int:
        """Width of the longest word of the title."""
        return max((size(word) for word in self.title.split()), default=0)

    @property
    def natural(self) -> int:
        return max([self.least, *map(size, self.cells)])


def lay_out(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    every: bool = False,
    prose: Collection[str] = (),
) -> list[Drawn]:
    r"""Lay a table out in lines of at most `width` columns.

    >>> [drawn] = lay_out(["coder", "accuracy_low", "n"], [["ana", "0.5", "12"]], 16)
    >>> print("\n".join([*drawn.header, *drawn.lines]))
           accuracy
    coder       low
    ───────────────
    ana         0.5
    >>> drawn.shown
    (0, 1)
    """
    columns = [
        _Column(
            n,
            name.replace("_", " "),
            tuple(row[n] for row in rows),
            "prose" if name in prose else _kind(name, n, rows),
        )
        for n, name in enumerate(names)
    ]
    n_keys = next((n for n, one in enumerate(columns) if one.kind != "name"), len(columns))
    keys, others = columns[: max(n_keys, 1)], columns[max(n_keys, 1) :]
    for_others = sum(GAP + one.natural for one in others[:2] if one.kind != "prose")
    room = int(width * FOR_NAMES) if for_others else width
    widths = _widths_of_names(keys, room, max(room, width - for_others))
    room = width - sum(widths.values()) - GAP * (len(keys) - 1)
    out = []
    while True:
        chosen, beside, under = _chosen(others, room, width)
        out.append(_draw([*keys, *chosen], widths | beside, under, width))
        taken = {one.place for one in (*chosen, *under)}
        others = [one for one in others if one.place not in taken]
        if not (every and others and taken):
            return out


def _kind(name: str, place: int, rows: Sequence[Sequence[str]]) -> str:
    declared = COLUMNS.get(name)
    if declared is not None and declared.kind in ("name", "tag"):
        return "name"
    if all(_looks_numeric(row[place]) for row in rows):
        return "number"
    if declared is not None and (declared.kind == "text" or name == "value"):
        return "prose"
    return "name" if place == 0 else "word"


def _looks_numeric(text: str) -> bool:
    """Return True for a number, with its interval or not, and for an empty cell."""
    return _NUMBER.fullmatch(text) is not None


def _widths_of_names(keys: Sequence[_Column], room: int, most: int) -> dict[int, int]:
    """Give columns of names their width.

    Beyond `room` a column gives way where few names are longer; beyond `most` the widest does.
    """
    widths = {one.place: one.natural for one in keys}
    by_place = {one.place: one for one in keys}

    def total() -> int:
        return sum(widths.values()) + GAP * (len(keys) - 1)

    def lower(place: int) -> int:
        one = by_place[place]
        return max([one.least, *(n for n in map(size, one.cells) if n < widths[place])])

    for place in sorted(widths, key=lambda key: -widths[key]):
        cells = by_place[place].cells
        while total() > room and (less := lower(place)) < widths[place]:
            if sum(size(cell) > less for cell in cells) > FEW * len(cells):
                break
            widths[place] = less
    while total() > most:
        place = max(widths, key=lambda key: widths[key] - by_place[key].least)
        if (less := lower(place)) >= widths[place]:
            break
        widths[place] = less
    return widths


def _chosen(
    others: Sequence[_Column], room: int, width: int
) -> tuple[list[_Column], dict[int, int], list[_Column]]:
    """Give the columns beside the names with their widths, and prose that goes under the rows."""
    prose = [one for one in others if one.kind == "prose"]
    chosen, widths = [], {}
    for one in (one for one in others if one.kind != "prose"):
        needed = one.natural
        if one.kind in ("name", "word") and needed > width // 3:
            needed = _widths_of_names([one], width // 3, width // 3)[one.place]
        if room < needed + GAP:
            break
        chosen.append(one)
        widths[one.place] = needed
        room -= needed + GAP
    under = []
    for one in prose:
        needed = min(one.natural, max(room - GAP, 0))
        if needed >= min(one.natural, max(LEAST_PROSE, one.least)):
            chosen.append(one)
            widths[one.place] = needed
            room -= needed + GAP
        else:
            under.append(one)
    chosen.sort(key=lambda one: one.place)
    return chosen, widths, under


def _draw(
    columns: Sequence[_Column], widths: dict[int, int], under: Sequence[_Column], width: int
) -> Drawn:
    offsets, at = {}, 0
    for one in columns:
        offsets[one.place] = at
        at += widths[one.place] + GAP
    titles = [wrapped(one.title, widths[one.place]) for one in columns]
    tall = max(map(len, titles))
    header = []
    for level in range(tall):
        cells = [
            _padded(lines[level - tall] if level >= tall - len(lines) else "", one, widths)
            for one, lines in zip(columns, (["", *t][1:] for t in titles), strict=True)
        ]
        header.append((" " * GAP).join(cells).rstrip())
    header.append("─" * min(at - GAP, width))
    lines: list[str] = []
    cut = 0
    for row in range(len(columns[0].cells)):
        drawn, shorter = _row(columns, row, widths, offsets, width)
        cut += shorter
        lines += drawn
        for one in under:
            indent = " " * UNDER
            lines += [indent + line for line in wrapped(one.cells[row], width - UNDER) if line]
    shown = tuple(sorted(one.place for one in (*columns, *under)))
    return Drawn(tuple(header), tuple(lines), shown, cut)


def _row(
    columns: Sequence[_Column],
    row: int,
    widths: dict[int, int],
    offsets: dict[int, int],
    width: int,
) -> tuple[list[str], int]:
    """Give the lines of one row, and how many of its names had to be cut."""
    lines, below, cut = [""], dict[int, list[str]](), 0
    for one in columns:
        text, at = one.cells[row], offsets[one.place]
        if one.kind == "prose":
            text, *rest = wrapped(text, widths[one.place]) or [""]
            below[at] = rest
        if not text:
            continue
        if size(text) > width:
            text, cut = cut_in_the_middle(text, width), cut + 1
        if one.kind == "number":
            at += widths[one.place] - size(text)
        at = max(min(at, width - size(text)), 0)
        if at < size(lines[-1]) + (GAP if lines[-1] else 0):
            lines.append("")
        lines[-1] += " " * (at - size(lines[-1])) + text
    for level in range(max(map(len, below.values()), default=0)):
        line = ""
        for at, rest in below.items():
            if level < len(rest):
                line += " " * (at - size(line)) + rest[level]
        lines.append(line)
    return lines, cut


def _padded(text: str, column: _Column, widths: dict[int, int]) -> str:
    space = " " * max(widths[column.place] - size(text), 0)
    return space + text if column.kind == "number" else text + space
