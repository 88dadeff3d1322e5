"""One finding of a check: a number, its limit, and a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["CHECK", "FINE", "FORBIDS", "Finding", "Severity"]

Severity = Literal[0, 1, 2]
FINE: Severity = 0
CHECK: Severity = 1
FORBIDS: Severity = 2


@dataclass(frozen=True)
class Finding:
    """One line of a check.

    Parameters
    ----------
    name
        What was looked at.
    value
        Number that was found.
    limit
        Number from which it is a concern.
    sentence
        What it means.
    severity
        0 fine, 1 needs a look, 2 forbids the use of the fit.

    Examples
    --------
    >>> Finding("divergences", 3, 0, "3 draws diverged.", 1).row()
    ('divergences', 3, 0, False, '3 draws diverged.')
    """

    name: str
    value: float
    limit: float
    sentence: str
    severity: Severity = FINE

    def row(self) -> tuple[str, float, float, bool, str]:
        """Give the columns name, value, limit, ok and sentence."""
        return self.name, self.value, self.limit, not self.severity, self.sentence
