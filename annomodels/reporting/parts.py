"""Parts of a page: head, sections, and elements of sections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from annomodels.data.columns import Cell, Column, present, short
from annomodels.data.messages import filled
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.plots.style import inline
from annomodels.reporting.words import MESSAGES, advised

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from annomodels.summaries.trust.checks import Check

Kind = Literal[
    "table", "picture", "notes", "cards", "text", "heading", "tiles", "badge", "kinds", "words",
    "places", "pair", "box", "decide", "explorer", "more", "copy",
]  # fmt: skip
Rows = Sequence[tuple[str, str, str]]
Paper = Literal["", "all", "flagged"]
"""Rows of a table on paper: the visible rows, all rows, or those of coders to act on."""

MOST = 200  # rows of a table
PAGE = 12  # rows visible at once
FIRST_CARDS, MOST_CARDS = 6, 60


class Part(NamedTuple):
    """Part of a section: the macro of ``macros.html`` that draws it, its value, and a style."""

    kind: Kind
    value: Any
    css: str = ""


class Picture(NamedTuple):
    svg: str
    caption: str


class PageTable(NamedTuple):
    """Table of the page; `total` counts all rows, `full` is the file that contains them."""

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    full: str
    paper: Paper = ""

    @property
    def cut(self) -> bool:
        return len(self.rows) < self.total

    @property
    def first(self) -> tuple[tuple[Cell, ...], ...]:
        """Rows visible at once; all rows of the table for print."""
        return self.rows if self.paper == "all" else self.rows[:PAGE]

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
        if self.paper != "flagged":
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
        """State how many rows are shown and which file has all; empty if all are shown."""
        where = f"; all are in {self.full}" if self.full else ""
        return f" ({n:,} of {self.total:,}{where})" if n < self.total else ""


class Action(NamedTuple):
    """Recommended action: link on the page, verb with a count, and purpose."""

    href: str
    title: str
    about: str
    only: str = ""  # kind of places to filter the list by


def action(code: str, n: int, /, **words: object) -> Action | None:
    """Return an action with its texts in the messages; None if it concerns nothing."""
    texts = MESSAGES["actions"][code].items()
    return Action(**{name: filled(text, n=n, **words) for name, text in texts}) if n else None


BAR = {
    "settled": "settled", "open": "need labels", "contested": "contested", "decided": "decided",
}  # fmt: skip
"""Style and name of each state of items."""


class Head(NamedTuple):
    """The first screen: a sentence, the items by state, at most four actions, and a warning."""

    sentence: str
    bar: Sequence[tuple[str, int, str]]
    actions: Sequence[Action]
    warning: str = ""

    @classmethod
    def of(
        cls,
        sentence: str,
        states: Iterable[int],
        actions: Iterable[Action | None],
        warning: str = "",
        bar: Mapping[str, str] = BAR,
    ) -> Head:
        """Return the first screen, given the number of items in each state."""
        shown = [(css, n, name) for (css, name), n in zip(bar.items(), states, strict=True)]
        return cls(sentence, shown, list(filter(None, actions)), warning)

    @property
    def shown(self) -> list[tuple[str, int, str, float]]:
        """States with items: style, count, name, and share in percent."""
        total = max(sum(n for _, n, _ in self.bar), 1)
        return [(css, n, name, 100 * n / total) for css, n, name in self.bar if n]


class Card(NamedTuple):
    """Card of a coder: kind, sizes, facts, a sentence to send, and a confusion matrix if any."""

    coder: str
    kind: str
    about: str
    facts: Sequence[tuple[str, str]]
    feedback: str
    labels: Sequence[str] = ()
    rows: Sequence[tuple[str, tuple[int, ...]]] = ()


class Badge(NamedTuple):
    """Verdict: color, name with symbol, and reasons."""

    tone: str
    name: str
    sentences: tuple[str, ...]
    lamps: tuple[tuple[str, str], ...] = ()


Make = Callable[[Any], list[Part]]
"""Makes the parts of a section from the facts of a page."""


@dataclass(frozen=True)
class Section:
    """Section of the page; `details` moves it to the part for statisticians."""

    key: str
    title: str
    lead: str = ""
    make: Make = lambda _: []
    needs: tuple[str, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    details: bool = False
    printed: bool = True  # False for sections that need a screen, or are long

    def __call__(self, make: Make) -> Section:
        """Return the section that a decorated function makes."""
        return replace(self, make=make)

    @property
    def heading(self) -> str:
        """Anchor of the heading."""
        return f"h-{self.key.removesuffix('-section')}"

    def unsupported(self, unsupported: Callable[[str], str]) -> str:
        """Return why the section does not apply; empty if it applies."""
        return next(filter(None, map(unsupported, self.needs)), "")

    def left_out(self, unsupported: Callable[[str], str]) -> list[tuple[str, str]]:
        """List the omitted parts of the section, with the reasons."""
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


def picture(figure: Figure, key: str, **words: object) -> Part:
    """Draw a figure for the page, with the texts of its key in the messages."""
    texts = {name: filled(text, **words) for name, text in MESSAGES["pictures"][key].items()}
    svg = inline(figure, f"fig-{key}", texts["title"], texts["about"])
    return Part("picture", Picture(svg, texts["caption"]))


def drawn(figure: Part | None) -> list[Part]:
    """Return a figure as a list, empty without one."""
    return [] if figure is None else [figure]


def table(
    key: str, caption: str, declared: Sequence[Column], rows: pd.DataFrame, full: str = "",
    *, total: int = 0, otherwise: str = "", paper: Paper = "",
) -> list[Part]:  # fmt: skip
    """Show the first rows of a data frame, or `otherwise` if it is empty."""
    columns = present(declared, rows)
    cells = tuple(tuple(each.cell(r) for each in columns) for r in rows.head(MOST).itertuples())
    if cells:
        made = PageTable(key, caption, columns, cells, total or len(rows), full, paper)
        return [Part("table", made)]
    return [Part("text", otherwise)] * bool(otherwise)


def summary(
    key: str, caption: str, found: Summary, rows: pd.DataFrame | None = None, full: str = "",
    only: str = "", *, paper: Paper = "",
) -> list[Part]:  # fmt: skip
    """Show the table of a summary, or some of its rows, or only the named columns."""
    known = {column.name: column for column in found.columns}
    columns = [known[name] for name in only.split()] or found.columns
    return table(key, caption, columns, found.table if rows is None else rows, full, paper=paper)


def cards(made: Sequence[Card]) -> list[Part]:
    """Show the first cards; the others are folded."""
    first = FIRST_CARDS if len(made) > FIRST_CARDS + 2 else len(made)
    shown, rest = made[:first], made[first:]
    name = f"Cards of {counted(len(rest), 'more coder')}"
    folded = [Part("more", (name, [Part("cards", rest)]))] * bool(rest)
    return [*[Part("cards", shown)] * bool(shown), *folded]


def notes(sentences: Sequence[str], width: int = 0) -> list[Part]:
    """List sentences, cut to a width if one is given."""
    shown = [short(text, width) if width else text for text in sentences]
    return [Part("notes", shown)] * bool(shown)


def pair(*parts: Part) -> Part:
    """Place parts side by side if there is room."""
    return Part("pair", parts)


def box(*parts: Part, css: str = "") -> Part:
    return Part("box", parts, css)
