"""Progress of long runs: the callback, and the reporter for terminals and notebooks.

Every parameter called ``progress`` is a :data:`Progress`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from importlib import import_module
from typing import Any, Self

Progress = Callable[[str, float, str], object]
"""Callback with a stage, its completed fraction (0 to 1), and a message."""

SECONDS_OF_A_LINE = 60.0
QUIET_SECONDS = 1.0  # shorter runs show no bar in a notebook


def silent(stage: str, share: float, message: str = "") -> None:
    """Show nothing."""


_NAMES = {
    "starting": "finding starting points",
    "compiling": "compiling the model",
    "warm-up": "warming up",
    "coders": "estimating the coders",
}
"""Display names of engine stages; all others are clear."""


class Reporter:
    """Progress display: a bar in a terminal or notebook, else a line per stage and minute."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._notebook = in_notebook()
        self._drawn = sys.stderr.isatty() and not os.environ.get("CI")
        self._bars: Any = None  # bars of rich, or a notebook display
        self._tasks: dict[str, Any] = {}
        self._known: dict[str, float] = {}
        self._began = self._said = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pause()

    def pause(self) -> None:
        """Hide the bars until the next step, to write a line."""
        bars, self._bars = self._bars, None
        self._tasks.clear()
        if bars is not None and self._notebook:
            bars.update(import_module("IPython.display").HTML(""))
        elif bars is not None:
            bars.stop()

    def __call__(self, stage: str, share: float = 0.0, message: str = "") -> None:
        """Show the progress of a stage."""
        share, stage = min(max(share, 0.0), 1.0), _NAMES.get(stage, stage)
        if self._quiet:
            return
        if self._notebook:
            self._display(stage, share, message)
        elif self._drawn:
            self._draw(stage, share, f"{stage} ({message})" if message else stage)
        else:
            self._say(stage, share)

    def _say(self, stage: str, share: float) -> None:
        """Write a line when a stage begins, and one per minute after that."""
        now = time.monotonic()
        if stage not in self._known:
            self._known[stage] = self._said = now
            _write(f"{stage} ...")
        elif now - self._said >= SECONDS_OF_A_LINE and 0 < share < 1:
            self._said = now
            done, left = _percent(share), duration((now - self._known[stage]) * (1 - share) / share)
            _write(f"{stage} {done}, {left} left")

    def _draw(self, stage: str, share: float, text: str) -> None:
        """Move a bar of the terminal."""
        if self._bars is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, Task, TextColumn, TimeRemainingColumn
            from rich.text import Text

            plain = bool(os.environ.get("NO_COLOR"))
            console = Console(stderr=True, color_system=None if plain else "auto")

            class Left(TimeRemainingColumn):
                def render(self, task: Task) -> Text:
                    return super().render(task) if task.time_remaining is not None else Text()

            kinds = TextColumn("{task.description}", markup=False), BarColumn()
            self._bars = Progress(*kinds, Left(), console=console, transient=True)
            self._bars.start()
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(text, total=1.0)
        self._bars.update(self._tasks[stage], completed=share, description=text)

    def _display(self, stage: str, share: float, message: str) -> None:
        """Move the bar of a notebook, at most five times a second."""
        now = time.monotonic()
        if now - self._began < QUIET_SECONDS or (now - self._said < 0.2 and share < 1):
            return
        self._said, shown = now, import_module("IPython.display")
        made = shown.HTML(
            f'<progress max="1" value="{share:.3f}"></progress> '
            f"{escape(stage)} {_percent(share)} {escape(message)}"
        )
        if self._bars is None:
            self._bars = shown.display(made, display_id=True)
        else:
            self._bars.update(made)


def _write(line: str) -> None:
    """Write a line; ignore a closed stream."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def _percent(share: float) -> str:
    from annomodels.data.columns import percent  # keep command-line help light

    return percent(share, 0)


def in_notebook() -> bool:
    """Return True in a notebook kernel, without loading IPython."""
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")


@contextmanager
def reporting(progress: Progress | None) -> Iterator[Progress]:
    """Yield the callback of a run: the given function, a notebook bar, or `silent`."""
    if progress is not None or not in_notebook():
        yield progress or silent
        return
    with Reporter() as shown:
        yield shown


def duration(seconds: float) -> str:
    """Return a duration as text.

    >>> duration(3.2), duration(80), duration(4000), duration(200_000)
    ('about 5 seconds', 'about 80 seconds', 'about 67 minutes', 'about 56 hours')
    """
    if seconds < 100:
        return f"about {max(5, round(seconds / 5) * 5)} seconds"
    if seconds < 7200:
        return f"about {round(seconds / 60)} minutes"
    return f"about {round(seconds / 3600)} hours"
