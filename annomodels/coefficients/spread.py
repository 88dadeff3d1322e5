"""What a method for analytic errors finds."""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["Spread"]


class Spread(NamedTuple):
    """Errors of a coefficient.

    Parameters
    ----------
    se, se0
        Standard error, and standard error under agreement by chance alone.
    df
        Degrees of freedom for the interval; infinite for the normal distribution.
    ceiling
        Where the interval is cut.
    limits
        The interval, where it is not value +- a multiple of the error.
    p
        p-value, where it does not follow from the errors.
    """

    se: float
    se0: float = math.nan
    df: float = math.inf
    ceiling: float = math.inf
    limits: tuple[float, float] | None = None
    p: float = math.nan
