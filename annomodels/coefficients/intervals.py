"""Intervals and probabilities from draws, and the text form of results."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annomodels.coefficients.tables import over
from annomodels.errors import NotApplicable
from annomodels.types import Floats

THRESHOLDS = (0.667, 0.8)
"""Krippendorff 2004 draws tentative conclusions from the one, others from the other."""


def interval(
    draws: Floats, prob: float = 0.95, value: ArrayLike = math.nan
) -> tuple[Floats, Floats]:
    """Return equal-tailed intervals of the defined draws, [draw, ...] -> two of [...]."""
    # An interval extends to the `value` that is printed with it. If coders agree on
    # everything, draws stay below 1; a Jeffreys interval also ends at 1 by convention (Brown,
    # Cai & DasGupta 2001, doi:10.1214/ss/1009213286).
    if not 0 < prob < 1:
        raise NotApplicable(f"prob={prob!r} should lie between 0 and 1, for instance 0.95.")
    flat = draws.reshape(len(draws), math.prod(draws.shape[1:]))
    out = np.full((2, flat.shape[1]), np.nan)
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    lost = np.isnan(flat).sum(0)
    complete = lost == 0
    if len(flat) and complete.any():
        out[:, complete] = np.quantile(flat[:, complete], tails, axis=0)
    for column in np.flatnonzero((lost > 0) & (lost < len(flat))):
        values = flat[:, column]
        out[:, column] = np.quantile(values[~np.isnan(values)], tails)
    low, high = out.reshape(2, *draws.shape[1:])
    known = ~np.isnan(value) & ~np.isnan(low)
    return (
        np.where(known, np.minimum(low, value), low),
        np.where(known, np.maximum(high, value), high),
    )


def spans(name: str, value: Floats, draws: Floats) -> dict[str, Floats]:
    """Return the columns of a quantity and the ends of its interval."""
    low, high = interval(draws, value=value)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def share_above(draws: Floats, threshold: float) -> Floats:
    """Return the proportion of defined draws above a threshold, [draw, ...] -> [...]."""
    return over((draws > threshold).sum(0), (~np.isnan(draws)).sum(0))


class Drawn:
    """Base of results with sampling-posterior draws, shape [draw], NaN where undefined."""

    value: float
    draws: Floats | None

    @cached_property
    def _drawn(self) -> Floats:
        return np.empty(0) if self.draws is None else self.draws

    def interval(self, prob: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed posterior interval, extended to the value; NaN without draws.

        Parameters
        ----------
        prob
            Probability inside, between 0 and 1.

        Raises
        ------
        ValueError
            If `prob` is not between 0 and 1.
        """
        low, high = interval(self._drawn, prob, self.value)
        return float(low), float(high)

    def p_above(self, threshold: float = 0.0) -> float:
        """Return the posterior probability of exceeding a threshold; NaN without draws.

        Parameters
        ----------
        threshold
            Threshold, such as .8 or .667 (Krippendorff 2004,
            doi:10.1111/j.1468-2958.2004.tb00738.x).
        """
        return float(share_above(self._drawn, threshold))

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.interval()[0]

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return self.interval()[1]


def as_text(table: pd.DataFrame, most: int | None = None) -> str:
    """Return the first rows of a table as text, without an empty column of notes."""
    if "note" in table and not table["note"].any():
        table = table.drop(columns="note")
    return table.head(most or len(table)).to_string(
        index=False, float_format="{:.3f}".format, na_rep=""
    )
