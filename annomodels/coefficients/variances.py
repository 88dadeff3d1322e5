r"""Intraclass correlations from the same tables of label pairs as every other coefficient.

For n items by the same k coders the mean squares of McGraw & Wong (1996,
doi:10.1037/1082-989X.1.1.30) are functions of three mean squared distances: W, half that of two
labels of an item; T, half that of any two labels, with replacement; and B, half that of the means
of two coders. With :math:`c = n / (n - 1)`

.. math::

    MS_{within} = W, \quad MS_{rows} = c (k T - (k - 1) W), \quad
    MS_{error} = c (W - B), \quad MS_{columns} = n B

so that the value, its draws and (n to infinity) what a model implies are one piece of code. Each
correlation is 1 - (error variance) / (total variance).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.distances import Distance, Squared
from annomodels.coefficients.tables import Evaluated, Tables
from annomodels.errors import NotApplicable

__all__ = ["ICC", "MeanSquares", "mean_squares"]

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-12


class MeanSquares(NamedTuple):
    """Mean squares of items by coders, shape [...] each.

    Parameters
    ----------
    rows, within, error
        Mean squares of the items, within the items, and of what is left after the coders.
    coders
        Variance of the coders' means less what error contributes, (MS columns - MS error) / n.
    total
        Half the mean squared distance of any two labels, a scale for what is negligible.
    n
        Number of items.
    k
        Number of coders.
    """

    rows: Floats
    within: Floats
    error: Floats
    coders: Floats
    total: Floats
    n: Floats
    k: int


def _between_coders(tables: Tables, x: Floats) -> Floats:
    """Half the mean squared distance of the means of two different coders."""
    left, right = tables.left.sum(-1), tables.right.sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        left_mean = np.where(left > 0, (tables.left * x).sum(-1) / left, 0.0)
        right_mean = np.where(right > 0, (tables.right * x).sum(-1) / right, 0.0)
        if not (tables.sign < 0).any():
            weight = left * right * tables.sign
            apart = (weight * (left_mean - right_mean) ** 2).sum(-1)
            return np.asarray(apart / weight.sum(-1) / 2)
        # The first row is all coders together, the others are the coders.
        own, mean = left[..., 1:], left_mean[..., 1:]
        all_together = own.sum(-1)
        apart = all_together * (own * mean**2).sum(-1) - (own * mean).sum(-1) ** 2
        return np.asarray(apart / (all_together**2 - (own**2).sum(-1)))


def mean_squares(tables: Tables, distance: Distance, d_o: Floats) -> MeanSquares:
    """Mean squares of complete items by the same coders.

    Raises
    ------
    NotApplicable
        With another distance than squared differences.
    """
    if not isinstance(distance, Squared):
        raise NotApplicable(
            f"An intraclass correlation takes the distance 'interval', not {distance.name!r}."
        )
    k = tables.n_coders
    weight = np.maximum(tables.pooled.sum(-1, keepdims=True), np.finfo(float).tiny)
    share = tables.pooled / weight
    x = distance.values - (share * distance.values).sum(-1, keepdims=True)
    total = np.asarray((share * x * x).sum(-1))
    within = d_o / 2
    between = _between_coders(tables, x[..., None, :])
    n = tables.n / k
    per_item = np.divide(1.0, n, out=np.full_like(total, np.nan), where=n > 1)
    grow = 1.0 / (1.0 - per_item)
    error = grow * (within - between)
    rows = grow * (k * total - (k - 1) * within)
    return MeanSquares(rows, within, error, between - error * per_item, total, n, k)


def _parts(name: str, found: MeanSquares) -> tuple[Floats, Floats]:
    """Error variance and total variance of one label, or of the mean of k."""
    error, rows, k = found.error, found.rows, found.k
    if name in ("icc_1", "icc_1k"):
        error = found.within
    single = error + found.coders if name in ("icc_a1", "icc_ak") else error
    true = (rows - error) / k
    return (single, true + single) if name.endswith("1") else (single / k, true + single / k)


def _icc(name: str) -> Callable[[Tables, Distance, Floats], Evaluated]:
    def evaluate(tables: Tables, distance: Distance, d_o: Floats) -> Evaluated:
        found = mean_squares(tables, distance, d_o)
        error, whole = _parts(name, found)
        some = whole > NEGLIGIBLE * np.maximum(found.total, np.finfo(float).tiny)
        share = np.divide(error, whole, out=np.full_like(error, np.nan), where=some)
        return Evaluated(1.0 - share, error, np.where(some, whole, np.where(whole <= 0, 0, whole)))

    return evaluate


ICC: dict[str, Callable[[Tables, Distance, Floats], Evaluated]] = {
    name: _icc(name) for name in ("icc_1", "icc_a1", "icc_c1", "icc_1k", "icc_ak", "icc_ck")
}
"""Intraclass correlations, from tables, distance and D_o."""
