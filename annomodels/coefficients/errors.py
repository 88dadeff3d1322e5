"""Gwet's analytic standard error, to compare with other packages; see docs/coefficients.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.distances import OrdinalDistance, Squared
from annomodels.coefficients.reasons import used_items
from annomodels.coefficients.rows import CONVENTIONS, Basis
from annomodels.coefficients.sums import of_items, without_each_item
from annomodels.coefficients.tables import over
from annomodels.data.columns import percent
from annomodels.errors import NotApplicable

MOST_CELLS = 50_000_000
STEP = 1e-4  # relative change of item weights for the difference quotients


@dataclass(frozen=True, repr=False)
class Analytic:
    """Analytic error and interval of a coefficient (Gwet 2014).

    Parameters
    ----------
    value
        The coefficient.
    se
        Its standard error.
    low, high
        Interval with the probability `prob`, from the t distribution and not above 1.
    se0, z0
        Standard error if the coders agreed by chance alone, and value / se0; NaN for other
        coefficients than pi and K with equally many labels on every item.
    p
        Two-sided p-value of the hypothesis that the coefficient is 0: from z0 if there is one,
        else from value / se.
    df
        Degrees of freedom of the t distribution.
    prob
        Probability of the interval.
    """

    value: float
    se: float
    low: float
    high: float
    se0: float
    z0: float
    p: float
    df: float
    prob: float

    def __repr__(self) -> str:
        parts = (
            f"{self.value:.4f}",
            f"se {self.se:.4f}",
            f"{percent(self.prob, 0)} interval {self.low:.4f} to {self.high:.4f}",
            "" if math.isnan(self.z0) else f"z0 {self.z0:.3f}",
            "" if math.isnan(self.p) else f"p {self.p:.3g}",
        )
        return " · ".join(filter(None, parts))


def analytic(basis: Basis, value: float, prob: float) -> Analytic:
    if not 0 < prob < 1:
        raise ValueError(f"prob={prob!r} should lie between 0 and 1, for instance 0.95.")
    entry = basis.request.coefficient
    if not entry.analytic:
        have = ", ".join(name for name, other in COEFFICIENTS.items() if other.analytic)
        raise NotApplicable(
            f"{entry.title} has no analytic error. Use the draws (interval()). These have: {have}."
        )
    se, df, se0 = math.nan, math.nan, math.nan
    if not math.isnan(value):
        with np.errstate(divide="ignore", invalid="ignore"):
            se, df = linearised(basis, value)
        if entry.expectation == "pooled":
            se0 = chance_error(basis)
    reach = float(special.stdtrit(df, (1 + prob) / 2)) * se if df > 0 else math.nan
    z0, p = value / se0 if se0 > 0 else math.nan, math.nan
    if not math.isnan(z0):
        p = float(2 * special.ndtr(-abs(z0)))
    elif se > 0 and df > 0:
        p = float(2 * special.stdtr(df, -abs(value / se)))
    high = math.nan if math.isnan(reach) else min(value + reach, 1.0)
    return Analytic(value, se, value - reach, high, se0, z0, p, df, prob)


def chance_error(basis: Basis) -> float:
    """Return the error under chance; NaN unless nominal with equally many labels per item."""
    # Fleiss, Nee & Landis 1979, doi:10.1037/0033-2909.86.5.974
    request, rows = basis.request, basis.sample.rows
    if request.distance.name != "nominal" or request.margins is not None:
        return math.nan
    real = (basis.sample.point > 0) & used_items(rows, request.convention)
    sizes = np.unique(rows.per_item[real])
    if len(sizes) != 1:
        return math.nan
    m, n = int(sizes[0]), float(basis.sample.point[real].sum())
    weight = np.where(real, basis.sample.point, 0.0)[rows.item]
    p = np.bincount(rows.label, weights=weight, minlength=rows.n_labels) / (n * m)
    pq = p * (1 - p)
    total = pq.sum()
    if not total > 0:
        return math.nan
    inside = max(total**2 - (pq * (1 - 2 * p)).sum(), 0.0)
    return float(np.sqrt(2 * inside / (n * m * (m - 1))) / total)


def linearised(basis: Basis, value: float) -> tuple[float, float]:
    """Return the error from the derivative by item weights, and its degrees of freedom."""
    request, rows, t = basis.request, basis.sample.rows, basis.sample.point
    if request.convention == "pairwise":
        raise NotApplicable(
            "The mean over pairs of coders has no linearized error. "
            'Use the draws (interval()), or missing="gwet".'
        )
    if request.coefficient.expectation == "between" and rows.n_coders * rows.n_labels > MOST_CELLS:
        raise NotApplicable(
            f"{rows.n_coders:,} coders with {rows.n_labels:,} labels each are too many for an "
            "analytic error. Use the draws (interval())."
        )
    sums = of_items(rows, CONVENTIONS[request.convention])
    if request.coefficient.expectation == "without_replacement":
        # Gwet leaves alpha's correction for n out of the error
        request = replace(request, coefficient=replace(request.coefficient, expectation="pooled"))
    if isinstance(request.distance, OrdinalDistance):  # which does not depend on the weights here
        places = request.distance.places(np.asarray(sums.of_all @ t))
        request = replace(request, distance=Squared("ordinal", places))
    less, more = (without_each_item(request, sums, t, share) for share in (STEP, -STEP))
    real = t > 0
    if np.isnan(less[real]).all():
        raise NotApplicable(
            f"{rows.n_items:,} items are too many for an analytic error. Use the draws "
            "(interval())."
        )
    linear = np.where(real, over(more - less, 2 * STEP * t, 0.0), 0.0)
    per_item = rows.per_item
    counted = per_item >= (2 if request.convention != "gwet" else 1)
    if request.convention == "listwise":
        counted &= per_item == rows.n_coders
    n = float(t[counted].sum())
    if request.convention == "gwet":
        # Gwet treats the proportion of items with two or more labels as known.
        share = float(t[per_item >= 2].sum()) / n
        at_value = float(sums.evaluate(t, request).value)
        linear = linear + at_value * ((per_item >= 2) / share - 1.0) / n
    se = math.sqrt(n / (n - 1) * float(t @ linear**2)) if n > 1 else math.nan
    return se, n - 1
