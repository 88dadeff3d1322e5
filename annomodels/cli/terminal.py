"""Drawing with rich: tables on stdout, progress on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import click

from annomodels.cli.screen.wrapping import width_of, wrapped
from annomodels.cli.session import current
from annomodels.data.columns import percent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from annomodels.cli.screen.layout import Drawn

SECONDS_OF_A_LINE = 60.0
_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), " ")


def draw(title: str, columns: Sequence[Drawn], *, every: bool = False) -> tuple[set[str], int]:
    """Draw a table of user text as it is; return the drawn columns and the number of cut names."""
    from rich.text import Text

    from annomodels.cli.screen.layout import draw as lay_out

    current().pause()
    width = width_of(sys.stdout)
    console = _console(width=width)
    if title:
        console.print(Text("\n".join(wrapped(title, width)), style="italic"), soft_wrap=True)
    found = lay_out(console, columns, width, every=every)
    console.print()
    return found


class Stages:
    """Progress of (stage, share, message): a bar on a terminal, else lines, or nothing."""

    def __init__(self) -> None:
        self._quiet = current().quiet
        self._drawn = not self._quiet and sys.stderr.isatty() and not os.environ.get("CI")
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._known: dict[str, float] = {}
        self._said = 0.0

    def __enter__(self) -> Stages:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.pause()
        current().live = None

    def pause(self) -> None:
        """Take the bars away, so that a line can be written; the next step brings them back."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None
            self._tasks.clear()

    def __call__(self, stage: str, done: float = 0.0, message: str = "") -> None:
        """Show how far a stage is."""
        if self._quiet:
            return
        if not self._drawn:
            self._say(stage, done)
            return
        bars = self._bars or self._start()
        text = f"{stage} {message}".strip()
        if stage not in self._tasks:
            self._tasks[stage] = bars.add_task(text, total=1.0)
        bars.update(self._tasks[stage], completed=min(max(done, 0.0), 1.0), description=text)

    def _say(self, stage: str, done: float) -> None:
        """Write a line when a stage begins, and one a minute while it goes on."""
        now = time.monotonic()
        if stage not in self._known:
            self._known[stage] = self._said = now
            click.echo(f"{stage} ...", err=True)
        elif now - self._said >= SECONDS_OF_A_LINE and 0 < done < 1:
            self._said = now
            left = (now - self._known[stage]) * (1 - done) / done
            click.echo(f"{stage} {percent(done, 0)}, {duration(left)} left", err=True)

    def _start(self) -> Progress:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeRemainingColumn(),
            console=_console(stderr=True, width=width_of(sys.stderr)),
            transient=True,
        )
        self._bars.start()
        current().live = self.pause
        return self._bars


def duration(seconds: float) -> str:
    """Return a length of time in words.

    >>> duration(3.2), duration(80), duration(4000), duration(200_000)
    ('about 5 seconds', 'about 80 seconds', 'about 67 minutes', 'about 56 hours')
    """
    if seconds < 100:
        return f"about {max(5, round(seconds / 5) * 5)} seconds"
    if seconds < 7200:
        return f"about {round(seconds / 60)} minutes"
    return f"about {round(seconds / 3600)} hours"


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


def _console(*, stderr: bool = False, width: int | None = None) -> Console:
    """Return a console that is plain under NO_COLOR: no colour, and no bold or italics either."""
    from rich.console import Console

    plain = bool(os.environ.get("NO_COLOR"))
    return Console(stderr=stderr, width=width, color_system=None if plain else "auto")


def shown(text: str) -> str:
    """Return a text without control characters, and not without end."""
    text = text.translate(_CONTROL)
    return text if len(text) <= 200 else text[:199] + "…"
