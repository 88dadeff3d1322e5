r"""How much groups differ beyond what their small samples explain.

The value of group g is taken as normal around its true value with the standard deviation
:math:`s_g` of its draws, and the true values as normal around a common mean with the standard
deviation :math:`\tau`: the random-effects model (Higgins, Thompson & Spiegelhalter 2009,
doi:10.1111/j.1467-985X.2008.00552.x). The mean is integrated out, :math:`\tau` is evenly
distributed between 0 and 1 beforehand, and its posterior is computed on a grid.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["between_groups"]

Floats = NDArray[np.float64]

GRID = 2001
FEWEST_GROUPS = 3
SMALLEST_ERROR = 1e-3


def between_groups(values: Floats, errors: Floats) -> tuple[float, float, float]:
    """Posterior median and 95 % interval of the standard deviation between groups.

    Parameters
    ----------
    values, errors
        Value of each group and the standard deviation of its draws, shape [group].

    Returns
    -------
    median, low, high
        NaN with fewer than three groups.

    Examples
    --------
    >>> median, low, high = between_groups(np.array([0.2, 0.5, 0.8]), np.full(3, 0.05))
    >>> low < 0.3 < high
    True
    """
    known = np.isfinite(values) & np.isfinite(errors)
    y, s = values[known], np.maximum(errors[known], SMALLEST_ERROR)
    if len(y) < FEWEST_GROUPS:
        return float("nan"), float("nan"), float("nan")
    tau = np.linspace(0, 1, GRID)
    precision = 1 / (s**2 + tau[:, None] ** 2)
    total = precision.sum(1)
    mean = (precision * y).sum(1) / total
    fit = (precision * (y - mean[:, None]) ** 2).sum(1)
    log_p = 0.5 * (np.log(precision).sum(1) - np.log(total) - fit)
    p = np.exp(log_p - log_p.max())
    below = np.cumsum((p[1:] + p[:-1]) / 2)
    below = np.concatenate([[0.0], below / below[-1]])
    low, median, high = np.interp([0.025, 0.5, 0.975], below, tau)
    return float(median), float(low), float(high)
