r"""Gwet's linearised standard errors, for every coefficient of tables of label pairs.

A coefficient :math:`1 - D_o / D_e` is replaced by its linear part in the weights of the items,

.. math:: z_i = -\big(\Delta_i D_o - (D_o / D_e)\, \Delta_i D_e\big) / D_e

and the variance is :math:`n / (n - 1) \sum_i z_i^2` over n items. On complete data, and under the
convention "gwet", these are the errors of Gwet's handbook and of irrCAC; they treat the distance as
known. Source: Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition.

The error of Fleiss' kappa if the coders agree by chance alone is, with n items of m labels each and
the label shares :math:`p_j`, :math:`q_j = 1 - p_j`

.. math::

    se_0 = \frac{\sqrt 2}{\sum_j p_j q_j \sqrt{n m (m - 1)}}
           \sqrt{\Big(\sum_j p_j q_j\Big)^2 - \sum_j p_j q_j (q_j - p_j)}

Source: Fleiss, Nee & Landis 1979, doi:10.1037/0033-2909.86.5.974, which corrects Fleiss 1971.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from annomodels.coefficients.counts import Counts
from annomodels.coefficients.distances import Distance, unit
from annomodels.coefficients.reasons import used_items
from annomodels.coefficients.rows import CONVENTIONS
from annomodels.coefficients.tables import over
from annomodels.coefficients.weights import Basis
from annomodels.errors import NotApplicable
from annomodels.types import Floats


class Spread(NamedTuple):
    """Errors of a coefficient."""

    se: float  # standard error, and standard error under agreement by chance alone
    se0: float = math.nan
    # degrees of freedom for the interval; infinite for the normal distribution
    df: float = math.inf
    ceiling: float = math.inf  # where the interval is cut
    # the interval, where it is not value +- a multiple of the error
    limits: tuple[float, float] | None = None
    p: float = math.nan  # p-value, where it does not follow from the errors


def chance_error(basis: Basis) -> float:
    """Find the error under chance; NaN unless labels are nominal and as many on every item."""
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


def fleiss_nee_landis(basis: Basis, value: float, prob: float) -> Spread:
    """Error under chance, which some packages take for the interval too."""
    error = chance_error(basis)
    if math.isnan(error):
        raise NotApplicable(
            "The formula of Fleiss, Nee & Landis is for nominal labels, as many on every item. "
            'Use method="gwet".'
        )
    return Spread(error, error)


MOST_CELLS = 50_000_000


def linearised_table(basis: Basis, value: float, prob: float) -> Spread:
    """Error of two coders who both labelled every item, with n in the place of n - 1."""
    if basis.rows.n_coders != 2 or not basis.data.is_complete:
        raise NotApplicable(
            "Gwet's formulas for tables are for two coders without missing labels. "
            'Use method="gwet".'
        )
    found = linearised(basis, value, prob)
    return found._replace(se=found.se * math.sqrt(found.df / (found.df + 1)))


def linearised(basis: Basis, value: float, prob: float) -> Spread:
    """Error from the linear part of a coefficient."""
    request, rows, t = basis.request, basis.sample.rows, basis.sample.point
    if request.convention == "pairwise":
        raise NotApplicable(
            "There is no linearised error for the mean over pairs of coders. "
            'Use the draws (interval()), or missing="gwet".'
        )
    if request.coefficient.expectation == "between" and rows.n_coders * rows.n_labels > MOST_CELLS:
        raise NotApplicable(
            f"{rows.n_coders:,} coders with {rows.n_labels:,} labels each are too many for an "
            "analytic error. Use the draws (interval())."
        )
    counts = Counts(rows, CONVENTIONS[request.convention])
    pooled = counts.pooled @ t if request.margins is None else request.margins
    distance = request.distance
    apart = distance.pairs(counts.first, counts.second, pooled)
    pairs = np.asarray(counts.together.sum(0)).reshape(-1)
    pairs_apart = np.asarray(counts.together.T @ apart).reshape(-1)
    total = float(t @ pairs)
    d_o = float(t @ pairs_apart) / total
    slope_o = (pairs_apart - pairs * d_o) / total
    expectation = request.coefficient.expectation
    if expectation is None:
        whole = float(unit(distance, pooled))
        linear, at_value = -slope_o / whole if whole > 0 else 0 * slope_o, value
    else:
        if request.margins is not None and expectation != "between":
            d_e, slope_e = d_o / (1 - value) if value != 1 else 1.0, np.zeros_like(t)
        else:
            d_e, slope_e = _SLOPES[expectation](counts, t, pooled, distance)
        linear = -(slope_o - d_o / d_e * slope_e) / d_e
        at_value = 1 - d_o / d_e
    per_item = rows.per_item
    counted = per_item >= (2 if request.convention != "gwet" else 1)
    if request.convention == "listwise":
        counted &= per_item == rows.n_coders
    n = float(t[counted].sum())
    if request.convention == "gwet":
        # Gwet takes the share of items with two labels or more as known.
        share = float(t[per_item >= 2].sum()) / n
        linear = linear + at_value * ((per_item >= 2) / share - 1.0) / n
    se = math.sqrt(n / (n - 1) * float(t @ linear**2)) if n > 1 else math.nan
    se0 = chance_error(basis) if expectation == "pooled" else math.nan
    return Spread(se, se0, df=n - 1, ceiling=1.0)


Slope = Callable[[Counts, Floats, Floats, Distance], tuple[float, Floats]]


def _uniform(counts: Counts, t: Floats, pooled: Floats, distance: Distance) -> tuple[float, Floats]:
    even = np.full(len(pooled), 1.0 / len(pooled))
    return float(even @ distance.reach(even, pooled)), np.zeros_like(t)


def _pooled(counts: Counts, t: Floats, pooled: Floats, distance: Distance) -> tuple[float, Floats]:
    total = pooled.sum()
    p = pooled / total
    reached = distance.reach(p, pooled)
    d_e = float(p @ reached)
    own = np.asarray(counts.pooled.T @ reached).reshape(-1)
    given = np.asarray(counts.pooled.sum(0)).reshape(-1)
    return d_e, 2 * (own - given * d_e) / total


def _gwet(counts: Counts, t: Floats, pooled: Floats, distance: Distance) -> tuple[float, Floats]:
    q, total = len(pooled), pooled.sum()
    p = pooled / total
    none = float(unit(distance, pooled))
    ones = np.ones(q)
    factor = (q * q * none - float(ones @ distance.reach(ones, pooled))) / (q * (q - 1))
    own = np.asarray(counts.pooled.T @ (1 - 2 * p)).reshape(-1)
    given = np.asarray(counts.pooled.sum(0)).reshape(-1)
    slope = (own - given * float(p @ (1 - 2 * p))) / total
    return none - factor * float((p * (1 - p)).sum()), -factor * slope


def _between(counts: Counts, t: Floats, pooled: Floats, distance: Distance) -> tuple[float, Floats]:
    own = np.asarray(counts.coders @ t).reshape(counts.n_coders, -1)
    given = own.sum(-1)
    scale = np.ones_like(given)
    if counts.convention.equal_coders:
        scale = over(1.0, given, 0.0)
    own = own * scale[:, None]
    mass = own.sum(-1)
    # What every label of every coder adds to the sum over the other coders.
    others = distance.reach(own.sum(0), pooled)[None, :] - distance.reach(own, pooled)
    weight = float(mass.sum() ** 2 - (mass**2).sum())
    d_e = float((own * others).sum()) / weight
    if counts.convention.equal_coders:
        others = others - (own * others).sum(-1, keepdims=True) / np.maximum(mass, 1e-300)[:, None]
    else:
        others = others - d_e * (mass.sum() - mass)[:, None]
    slope = 2 * np.asarray(counts.coders.T @ (others * scale[:, None]).reshape(-1)) / weight
    return d_e, slope.reshape(-1)


_SLOPES: dict[str, Slope] = {
    "uniform": _uniform,
    "pooled": _pooled,
    "without_replacement": _pooled,  # Gwet leaves the correction for n out of the error
    "gwet": _gwet,
    "between": _between,
}
"""Expected disagreement and its change with the weight of each item."""
