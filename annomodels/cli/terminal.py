"""Progress of a command on stderr, and estimated times."""

from __future__ import annotations

from annomodels.cli.session import current
from annomodels.progress import Reporter


class Stages(Reporter):
    """Progress reporter of a command: silent with --quiet, hidden while lines are written."""

    def __init__(self) -> None:
        super().__init__(quiet=current().quiet)
        current().live = self.pause

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        current().live = None


def between(seconds: float, spread: float = 1.4) -> str:
    """Format an estimated time as a range, from seconds / spread to seconds * spread.

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
