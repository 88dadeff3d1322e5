"""Parts of a page: its head, its sections, and what a section consists of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from annomodels.data.columns import Cell, Column, present, short
from annomodels.data.validation import counted
from annomodels.plots.svg import inline
from annomodels.reporting.words import advised

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from annomodels.data.summary import Summary
    from annomodels.summaries.trust.checks import Check

Kind = Literal[
    "table", "picture", "notes", "cards", "text", "heading", "tiles", "badge", "kinds", "words",
    "places", "pair", "box", "decide", "explorer", "more", "copy",
]  # fmt: skip
Rows = Sequence[tuple[str, str, str]]

MOST = 200  # rows of a table
PAGE = 12  # rows that are seen at once
FIRST_CARDS, MOST_CARDS = 6, 60


class Part(NamedTuple):
    """A part of a section: which macro of ``macros.html`` draws it, of what, and in what style."""

    kind: Kind
    value: Any
    css: str = ""


class Picture(NamedTuple):
    """A figure of the page: the drawing, and how to read it."""

    svg: str
    caption: str


class Table(NamedTuple):
    """A table of the page; `total` counts the rows before it was cut, `full` is a file with all."""

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    full: str

    @property
    def cut(self) -> bool:
        """Return True if rows were left out."""
        return len(self.rows) < self.total

    @property
    def first(self) -> tuple[tuple[Cell, ...], ...]:
        """Rows that are seen at once; paper has no second page of a table."""
        return self.rows if self.key == "contested" else self.rows[:PAGE]

    @property
    def rest(self) -> tuple[tuple[Cell, ...], ...]:
        """Rows that the script pages through."""
        return self.rows[len(self.first) :]

    @property
    def flagged(self) -> int:
        """Number of coders to act on, if any."""
        return sum(self.style(row) == "flagged" for row in self.rows)

    def style(self, row: tuple[Cell, ...]) -> str:
        """Return "flagged" for a coder to act on, "thin" for one with few labels."""
        if self.key != "coders":
            return ""
        said = {each.name: cell.text for each, cell in zip(self.columns, row, strict=True)}
        kind = said.get("kind", "good")
        if "advice" in said:
            asked = said["advice"].startswith("ask")
        else:  # coders of numbers
            asked = kind in ("good", "not enough evidence")
        if not asked:
            return "flagged"
        return "thin" if kind == "not enough evidence" else ""

    def some(self, n: int) -> str:
        """Return how many of the rows are shown and where all are; empty if all are shown."""
        where = f"; all are in {self.full}" if self.full else ""
        return f" ({n:,} of {self.total:,}{where})" if n < self.total else ""


class Action(NamedTuple):
    """One thing to do: place on the page, verb with a count, and what it is for."""

    href: str
    title: str
    about: str
    only: str = ""  # kind of places that the list is then cut to


class Head(NamedTuple):
    """The first screen: a sentence, the items by state, at most four actions, and a warning."""

    sentence: str
    bar: Sequence[tuple[str, int, str]]
    actions: Sequence[Action]
    warning: str = ""

    @property
    def shown(self) -> list[tuple[str, int, str, float]]:
        """States that hold items: style, count, name, and share in percent."""
        total = max(sum(n for _, n, _ in self.bar), 1)
        return [(css, n, name, 100 * n / total) for css, n, name in self.bar if n]


class Card(NamedTuple):
    """A coder: kind, sizes, facts by name, a sentence to send, and a confusion matrix if any."""

    coder: str
    kind: str
    about: str
    facts: Sequence[tuple[str, str]]
    feedback: str
    labels: Sequence[str] = ()
    rows: Sequence[tuple[str, tuple[int, ...]]] = ()


class Badge(NamedTuple):
    """Verdict on the computation: color, name with its sign, and why."""

    tone: str
    name: str
    sentences: tuple[str, ...]
    lamps: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Section:
    """A section of the page; `details` puts it behind the line for the statistician."""

    key: str
    title: str
    lead: str
    make: Callable[[Any], list[Part]]
    needs: tuple[str, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    details: bool = False

    @property
    def heading(self) -> str:
        """Anchor of the heading."""
        return f"h-{self.key.removesuffix('-section')}"

    def unsupported(self, unsupported: Callable[[str], str]) -> str:
        """Return why a page has no such section; empty if it has one."""
        return next(filter(None, map(unsupported, self.needs)), "")

    def left_out(self, unsupported: Callable[[str], str]) -> list[tuple[str, str]]:
        """List what is left out of the section, with the reason."""
        if reason := self.unsupported(unsupported):
            return [(self.title, reason)]
        return [(name, reason) for verb, name in self.parts if (reason := unsupported(verb))]


BADGES = {
    "confirmed": ("trust", "✓ Confirmed"),
    "no problem found": ("trust", "✓ No problem found"),
    "needs review": ("check", "! Needs review"),
    "do not use": ("not", "✕ Do not use"),
}


def badge_of(check: Check) -> Badge:
    """Return the badge of the verdict on a fit."""
    said = tuple(short(text, 400) for text in advised(check))
    return Badge(*BADGES[check.verdict], said, tuple(check.lamps.items()))


def picture(figure: Figure, key: str, title: str, description: str, caption: str) -> Part:
    """Draw a figure for the page; title and description are for people who cannot see it."""
    return Part("picture", Picture(inline(figure, f"fig-{key}", title, description), caption))


def drawn(figure: Part | None) -> list[Part]:
    """Return a figure as a list, empty without one."""
    return [] if figure is None else [figure]


def table(
    key: str, caption: str, declared: Sequence[Column], rows: pd.DataFrame, full: str = "",
    *, total: int = 0, otherwise: str = "",
) -> list[Part]:  # fmt: skip
    """Show the first rows of a data frame, or say what it means that it is empty."""
    columns = present(declared, rows)
    cells = tuple(tuple(each.cell(r) for each in columns) for r in rows.head(MOST).itertuples())
    if cells:
        return [Part("table", Table(key, caption, columns, cells, total or len(rows), full))]
    return [Part("text", otherwise)] * bool(otherwise)


def summary(
    key: str, caption: str, found: Summary, rows: pd.DataFrame | None = None, full: str = "",
    only: str = "",
) -> list[Part]:  # fmt: skip
    """Show the table of a summary, or some of its rows, or only the named columns."""
    known = {column.name: column for column in found.columns}
    columns = [known[name] for name in only.split()] or found.columns
    return table(key, caption, columns, found.table if rows is None else rows, full)


def cards(made: Sequence[Card]) -> list[Part]:
    """Show the first cards; the others are folded."""
    first = FIRST_CARDS if len(made) > FIRST_CARDS + 2 else len(made)
    shown, rest = made[:first], made[first:]
    name = f"Cards of {counted(len(rest), 'more coder')}"
    folded = [Part("more", (name, [Part("cards", rest)]))] * bool(rest)
    return [*[Part("cards", shown)] * bool(shown), *folded]


def notes(sentences: Sequence[str], width: int = 0) -> list[Part]:
    """List sentences, clean and cut to a width if one is given."""
    shown = [short(text, width) if width else text for text in sentences]
    return [Part("notes", shown)] * bool(shown)


def pair(*parts: Part) -> Part:
    """Set parts side by side if there is room."""
    return Part("pair", parts)


def box(*parts: Part, css: str = "") -> Part:
    """Hold parts together."""
    return Part("box", parts, css)
