r"""Every coefficient is one formula, :math:`1 - D_o / D_e`; they differ in :math:`D_e`.

:math:`D_o` is the mean distance of two labels of the same item, :math:`D_e` the mean distance that
chance would give. With the nominal distance :math:`A_o = 1 - D_o` and :math:`A_e = 1 - D_e`, and
the coefficient is the familiar :math:`(A_o - A_e) / (1 - A_e)`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.catalogue import find
from annomodels.coefficients.distances import Distance, Nominal
from annomodels.coefficients.margins_of_two import TWO_CODERS
from annomodels.coefficients.tables import Evaluated, Tables
from annomodels.coefficients.variances import ICC
from annomodels.errors import NotApplicable

__all__ = [
    "EXPECTED",
    "STATISTICS",
    "Evaluated",
    "evaluate",
    "evaluate_observed",
    "evaluate_with",
    "observed",
    "ratio",
]

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-12


def _share(weights: Floats) -> Floats:
    """Weights as shares; NaN where there are none."""
    total = weights.sum(-1, keepdims=True)
    return np.asarray(np.divide(weights, total, out=np.full_like(weights, np.nan), where=total > 0))


def observed(tables: Tables, distance: Distance) -> Floats:
    """Mean distance of the listed pairs, shape [...]; NaN where there is no pair."""
    apart = distance.pairs(tables.first, tables.second, tables.pooled)
    total = tables.together.sum(-1)
    apart_total = np.asarray((tables.together * apart).sum(-1), dtype=float)
    out = np.full_like(apart_total, np.nan)
    return np.asarray(np.divide(apart_total, total, out=out, where=total > 0))


def uniform(tables: Tables, distance: Distance) -> Floats:
    r"""Take all q labels as equally likely (S): :math:`A_e = 1 / q`."""
    even = np.full(tables.pooled.shape, 1.0 / tables.n_labels)
    return distance.form(even, even, tables.pooled)


def pooled(tables: Tables, distance: Distance) -> Floats:
    r"""Take one distribution for all coders (pi, K): :math:`A_e = \sum_k (n_k / N)^2`."""
    p = _share(tables.pooled)
    return distance.form(p, p, tables.pooled)


def smoothed(tables: Tables, distance: Distance) -> Floats:
    r"""Put a uniform prior on K's (van Oest): :math:`A_e = \sum_k ((n_k + 1) / (N + q))^2`."""
    n, q = tables.n[..., None], tables.n_labels
    keep = np.where(np.isinf(n), 1.0, n / np.where(np.isinf(n), 1.0, n + q))
    p = keep * _share(tables.pooled) + (1 - keep) / q
    return distance.form(p, p, tables.pooled)


def without_replacement(tables: Tables, distance: Distance) -> Floats:
    r"""Draw two different labels (alpha): :math:`D_e = \sum_{kl} n_k n_l d_{kl} / (n (n - 1))`."""
    n = tables.n
    some = np.where(n > 1, n, np.nan)
    return np.asarray(pooled(tables, distance) / (1.0 - 1.0 / some))


def between(tables: Tables, distance: Distance) -> Floats:
    r"""Take every coder's own distribution (kappa and its kin): :math:`\sum P(k|a) P(k|b)`."""
    apart = distance.form(tables.left, tables.right, tables.pooled[..., None, :])
    apart = np.asarray((apart * tables.sign).sum(-1))
    weight = (tables.left.sum(-1) * tables.right.sum(-1) * tables.sign).sum(-1)
    enough = np.asarray(weight > NEGLIGIBLE * np.square(tables.left.sum((-1, -2))))
    return np.divide(apart, weight, out=np.full_like(apart, np.nan), where=enough)


def gwet(tables: Tables, distance: Distance) -> Floats:
    r"""Take Gwet's chance of a random label (AC1, AC2).

    :math:`A_e = T_w / (q (q - 1)) \sum_k \pi_k (1 - \pi_k)`. Agreement weights are
    1 - distance / largest distance; T_w is their sum over all q x q cells.
    """
    q = tables.n_labels
    if q < 2:
        return np.full(tables.pooled.shape[:-1], np.nan)
    p = _share(tables.pooled)
    largest = distance.largest(tables.pooled)
    ones = np.ones(tables.pooled.shape)
    weights = q * q * largest - distance.form(ones, ones, tables.pooled)
    return np.asarray(largest - weights / (q * (q - 1)) * (p * (1 - p)).sum(-1))


EXPECTED: dict[str, Callable[[Tables, Distance], Floats]] = {
    "uniform": uniform,
    "pooled": pooled,
    "smoothed": smoothed,
    "without_replacement": without_replacement,
    "between": between,
    "gwet": gwet,
}


STATISTICS: dict[str, Callable[[Tables, Distance, Floats], Evaluated]] = {**TWO_CODERS, **ICC}
"""Coefficients with an observed part of their own, from tables, distance and D_o."""


def ratio(d_o: Floats, d_e: Floats, largest: Floats) -> Evaluated:
    """1 - D_o / D_e, NaN where D_e is nothing beside the largest distance."""
    d_e = np.where(np.isnan(d_o), np.nan, d_e)
    defined = d_e > NEGLIGIBLE * np.maximum(largest, np.finfo(float).tiny)
    share = np.divide(d_o, d_e, out=np.full_like(d_o, np.nan), where=defined)
    return Evaluated(1.0 - share, d_o, np.where(defined, d_e, np.where(np.isnan(d_e), np.nan, 0.0)))


def evaluate_with(
    expectation: str | None, tables: Tables, distance: Distance | None = None
) -> Evaluated:
    """Coefficient from the name of its expected disagreement (None: observed agreement alone)."""
    distance = distance or Nominal()
    return evaluate_observed(expectation, tables, distance, observed(tables, distance))


def evaluate_observed(
    expectation: str | None, tables: Tables, distance: Distance, d_o: Floats
) -> Evaluated:
    """Coefficient where the observed disagreement is known; `tables` need no pairs then.

    Observed agreement is 1 - D_o / largest distance.
    """
    if expectation in STATISTICS:
        return STATISTICS[expectation](tables, distance, d_o)
    largest = np.broadcast_to(distance.largest(tables.pooled), d_o.shape)
    if expectation is None:
        none = np.where(np.isnan(d_o), np.nan, 0.0)
        apart = np.divide(d_o, largest, out=none, where=largest > 0)
        return Evaluated(1.0 - apart, d_o, np.full_like(d_o, np.nan))
    d_e = np.broadcast_to(EXPECTED[expectation](tables, distance), d_o.shape)
    return ratio(d_o, d_e, largest)


def evaluate(name: str, tables: Tables, distance: Distance | None = None) -> Evaluated:
    """Coefficient of tables of label pairs; see :data:`~.catalogue.COEFFICIENTS` for the names.

    Parameters
    ----------
    name
        Name or alias of the coefficient.
    tables
        Joint tables with any leading batch dimensions.
    distance
        Distance between labels; nominal by default.

    Raises
    ------
    NotApplicable
        When the coefficient is unknown or is no function of such tables.

    Examples
    --------
    >>> from annomodels.coefficients.tables import from_joint
    >>> found = evaluate("scott", from_joint([[77, 1, 2], [1, 6, 3], [2, 3, 5]]))
    >>> found.value.round(4), (1 - found.expected).round(2)
    (np.float64(0.6471), np.float64(0.66))
    """
    entry = find(name)
    if entry.own and not (entry.implied and np.isinf(tables.n).all()):
        raise NotApplicable(
            f"{entry.title} needs the items, not only tables of label pairs. "
            "Use annomodels.agreement."
        )
    return evaluate_with(entry.expectation, tables, distance)
