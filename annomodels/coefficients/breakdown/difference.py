"""The difference of two coefficients, with its posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.breakdown.posterior import interval, share_above

__all__ = ["Difference"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Difference:
    """One coefficient less another.

    Parameters
    ----------
    title
        What is subtracted from what.
    value
        Difference of the classical values; NaN where one of them is undefined.
    draws
        Draws of the difference, shape [draw], NaN where one of them is undefined.
    notes
        Sentences a reader should know.

    Examples
    --------
    >>> found = Difference("alpha of ana - alpha of ben", 0.1, np.linspace(-0.1, 0.3, 101))
    >>> found
    alpha of ana - alpha of ben = 0.1000 [-0.0900, 0.2900] · P(> 0) = .74
    """

    title: str
    value: float
    draws: Floats
    notes: tuple[str, ...] = ()

    def interval(self, prob: float = 0.95) -> tuple[float, float]:
        """Equal-tailed posterior interval; (NaN, NaN) without draws.

        Parameters
        ----------
        prob
            Probability inside, between 0 and 1.

        Raises
        ------
        ValueError
            When `prob` is not between 0 and 1.
        """
        low, high = interval(self.draws, prob)
        return float(low), float(high)

    def p_above(self, threshold: float = 0.0) -> float:
        """Posterior probability that the difference exceeds a threshold; NaN without draws.

        Parameters
        ----------
        threshold
            0 asks whether the first is larger.
        """
        return float(share_above(self.draws, threshold))

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.interval()[0]

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return self.interval()[1]

    def __repr__(self) -> str:
        line = f"{self.title} = {self.value:.4f}"
        if not math.isnan(self.low):
            p = f"{self.p_above():.2f}".removeprefix("0")
            line += f" [{self.low:.4f}, {self.high:.4f}] · P(> 0) = {p}"
        return "\n".join([line, *self.notes])
