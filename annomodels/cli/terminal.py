"""Tables drawn on stdout, progress on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from annomodels.cli.screen.wrapping import width_of, wrapped
from annomodels.cli.session import current
from annomodels.progress import Reporter

if TYPE_CHECKING:
    from rich.console import Console

    from annomodels.cli.screen.layout import Drawn

_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), " ")


def draw(title: str, columns: Sequence[Drawn], *, every: bool = False) -> tuple[set[str], int]:
    """Draw a table of user text as it is; return the drawn columns and the number of cut names."""
    from rich.text import Text

    from annomodels.cli.screen.layout import draw as lay_out

    current().pause()
    width = width_of(sys.stdout)
    console = _console(width)
    if title:
        console.print(Text("\n".join(wrapped(title, width)), style="italic"), soft_wrap=True)
    found = lay_out(console, columns, width, every=every)
    console.print()
    return found


class Stages(Reporter):
    """The reporter of a command: quiet with --quiet, and off the screen while lines are written."""

    def __init__(self) -> None:
        super().__init__(quiet=current().quiet)
        current().live = self.pause

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        current().live = None


def between(seconds: float, spread: float = 1.4) -> str:
    """Return a guess as what it is good for: a range from its part to its multiple.

    >>> between(4), between(30), between(600), between(30_000)
    ('3 to 6 seconds', '20 to 40 seconds', '7 to 14 minutes', '6 to 12 hours')
    """
    low, high = seconds / spread, seconds * spread
    for size, word in ((5400, "hours"), (90, "minutes"), (0, "seconds")):
        if seconds >= size:
            unit = {"hours": 3600, "minutes": 60, "seconds": 5 if seconds >= 15 else 1}[word]
            scale = unit if word == "seconds" else 1
            counts = [round(part / unit) for part in (low, high)]
            return f"{max(counts[0], 1) * scale} to {max(counts[1], 2) * scale} {word}"
    raise AssertionError


def _console(width: int) -> Console:
    """Return a console that is plain under NO_COLOR: no colour, and no bold or italics either."""
    from rich.console import Console

    plain = bool(os.environ.get("NO_COLOR"))
    return Console(width=width, color_system=None if plain else "auto")


def shown(text: str) -> str:
    """Return a text without control characters, and not without end."""
    text = text.translate(_CONTROL)
    return text if len(text) <= 200 else text[:199] + "…"
