"""What a page is made of: sections, and the parts that a section is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from annomodels.plots.svg import inline
from annomodels.reporting.grid import Table
from annomodels.summaries.columns import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from annomodels.summaries.trust.checks import Check

Kind = Literal[
    "table", "picture", "notes", "matrices", "text", "heading", "tiles", "verdict", "badge",
    "kinds", "words", "code", "places", "pair", "box",
]  # fmt: skip
Rows = Sequence[tuple[str, str, str]]


class Part(NamedTuple):
    """A part of a section: which macro of ``macros.html`` draws it, of what, and in what style."""

    kind: Kind
    value: Any
    css: str = ""


class Picture(NamedTuple):
    """A figure of the page: the drawing, and how to read it."""

    svg: str
    caption: str


class Badge(NamedTuple):
    """Whether the result can be trusted: colour, name with its sign, and why."""

    tone: str
    name: str
    sentences: tuple[str, ...]
    lamps: tuple[tuple[str, str], ...] = ()

    @property
    def sentence(self) -> str:
        """The first sentence."""
        return self.sentences[0] if self.sentences else ""


@dataclass(frozen=True)
class Section:
    """A section of the page."""

    key: str
    title: str
    lead: str
    make: Callable[[Any], list[Part]]
    needs: tuple[str, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()

    @property
    def heading(self) -> str:
        """Anchor of the heading."""
        return f"h-{self.key.removesuffix('-section')}"

    def lacking(self, lacks: Callable[[str], str]) -> str:
        """Say why a page has no such section; empty where it has one."""
        return next(filter(None, map(lacks, self.needs)), "")

    def left_out(self, lacks: Callable[[str], str]) -> list[tuple[str, str]]:
        """Name what of the section is left out, with the reason."""
        if reason := self.lacking(lacks):
            return [(self.title, reason)]
        return [(name, reason) for verb, name in self.parts if (reason := lacks(verb))]


BADGES = {
    "trust": ("trust", "✓ Trust"),
    "no problem found": ("trust", "✓ No problem found"),
    "check": ("check", "! Check"),
    "do not use": ("not", "✕ Do not use"),
}


def badge_of(check: Check) -> Badge:
    """Give the badge of the verdict of a fit."""
    said = tuple(short(text, 400) for text in check.sentences)
    return Badge(*BADGES[check.verdict], said, tuple(check.lamps.items()))


def picture(figure: Figure, key: str, title: str, description: str, caption: str) -> Part:
    """Draw a figure for the page; title and description are for people who cannot see it."""
    return Part("picture", Picture(inline(figure, f"fig-{key}", title, description), caption))


def drawn(figure: Part | None) -> list[Part]:
    """Show a figure, where there is one."""
    return [] if figure is None else [figure]


def table(made: Table, otherwise: str = "") -> list[Part]:
    """Show a table, or say what it means that it is empty."""
    if made.rows:
        return [Part("table", made)]
    return [Part("text", otherwise)] if otherwise else []


def notes(sentences: Sequence[str]) -> list[Part]:
    """List sentences."""
    return [Part("notes", list(sentences))] if sentences else []


def pair(*parts: Part) -> Part:
    """Set parts side by side where there is room."""
    return Part("pair", parts)


def box(*parts: Part, css: str = "") -> Part:
    """Hold parts together."""
    return Part("box", parts, css)


def cut(texts: Sequence[str], width: int = 400) -> list[str]:
    """Cut texts that are too long for a page, and make them clean."""
    return [short(text, width) for text in texts]
