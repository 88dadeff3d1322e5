"""Classical intervals of intraclass correlations, from the F distribution.

Source: McGraw & Wong 1996, doi:10.1037/1082-989X.1.1.30 (table 7); Shrout & Fleiss 1979,
doi:10.1037/0033-2909.86.2.420.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from annomodels.coefficients.basis import Basis
from annomodels.coefficients.conventions import CONVENTIONS
from annomodels.coefficients.counts import count
from annomodels.coefficients.formulas import observed
from annomodels.coefficients.spread import Spread
from annomodels.coefficients.variances import mean_squares

__all__ = ["f_interval"]


def f_interval(basis: Basis, value: float, prob: float) -> Spread:
    """Interval, and p-value of the hypothesis that items do not differ."""
    request, rows = basis.request, basis.sample.rows
    tables = count(rows, CONVENTIONS[request.convention]).tables(basis.sample.point)
    found = mean_squares(tables, request.distance, observed(tables, request.distance))
    name, k, n = request.coefficient.name, found.k, float(found.n)
    rows_ms, error = float(found.rows), float(found.error)
    df1, df2 = n - 1, (n - 1) * (k - 1)
    if name in ("icc_1", "icc_1k"):
        error, df2 = float(found.within), n * (k - 1)
    ratio = float(np.float64(rows_ms) / error)
    p = float(special.fdtrc(df1, df2, ratio))
    if math.isnan(ratio) or math.isinf(ratio):
        return Spread(math.nan, limits=(value, value), p=p)
    upper = (1 + prob) / 2
    if name.startswith("icc_a"):
        coders = n * (float(found.coders) + error / n)
        limits = _absolute(rows_ms, coders, error, n, k, upper)
    else:
        low = ratio / special.fdtri(df1, df2, upper)
        high = ratio * special.fdtri(df2, df1, upper)
        limits = tuple(float((f - 1) / (f + k - 1)) for f in (low, high))
    if name.endswith("k"):
        limits = tuple(k * one / (1 + (k - 1) * one) for one in limits)
    return Spread(math.nan, limits=(limits[0], limits[1]), p=p)


def _absolute(
    rows: float, coders: float, error: float, n: float, k: int, upper: float
) -> tuple[float, ...]:
    """Limits of ICC(A,1), whose F has estimated degrees of freedom."""
    icc = (rows - error) / (rows + (k - 1) * error + k * (coders - error) / n)
    a = k * icc / (n * (1 - icc))
    b = 1 + k * icc * (n - 1) / (n * (1 - icc))
    parts = (a * coders) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    v = (a * coders + b * error) ** 2 / parts
    beyond, within = special.fdtri(n - 1, v, upper), special.fdtri(v, n - 1, upper)
    rest = k * coders + (k * n - k - n) * error
    low = n * (rows - beyond * error) / (beyond * rest + n * rows)
    high = n * (within * rows - error) / (rest + n * within * rows)
    return float(low), float(high)
