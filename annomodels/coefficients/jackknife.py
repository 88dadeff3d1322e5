"""Hughes's interval for alpha: the jackknife of log(MSA / MSE) over the items.

Source: Hughes 2022, doi:10.48550/arXiv.2210.13265.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from annomodels.coefficients.basis import Basis
from annomodels.coefficients.counts import count
from annomodels.coefficients.own import among_items, item_sizes, one_way_convention
from annomodels.coefficients.spread import Spread

__all__ = ["jackknife"]

Floats = NDArray[np.float64]


def jackknife(basis: Basis, value: float, prob: float) -> Spread:
    """Interval by leaving out each item in turn; the error of alpha is its delta approximation."""
    point, sizes = basis.sample.point, item_sizes(basis.sample.rows, basis.request.convention)
    eta, without = _log_ratios(basis, sizes)
    used = (point > 0) & (sizes[:, 0] > 0)
    times, items = point[used], float(point @ sizes[:, 0])
    pseudo = items * eta - (items - 1) * without[used]
    mean = (times * pseudo).sum() / items
    var = (times * (pseudo - mean) ** 2).sum() / (items - 1)
    error = float(np.sqrt(var / items))
    per_item = float(among_items(np.zeros(()), np.zeros(()), point @ sizes)[1])
    reach = float(special.stdtrit(items - 1, (1 + prob) / 2)) * error
    low, high = (np.expm1(x) / (np.expm1(x) + per_item) for x in (eta - reach, eta + reach))
    slope = per_item * math.exp(eta) / (math.exp(eta) + per_item - 1) ** 2
    return Spread(float(slope * error), df=items - 1, limits=(float(low), float(high)))


def _log_ratios(basis: Basis, sizes: Floats) -> tuple[float, Floats]:
    """log(MSA / MSE) of all items, and without one item of each kind, from sums less its own."""
    request, point = basis.request, basis.sample.point
    counts = count(basis.sample.rows, one_way_convention(request.convention))
    distance, pooled = request.distance, counts.pooled @ point
    reached = distance.reach(pooled, pooled)
    apart = distance.pairs(counts.first, counts.second, pooled)
    pairs = np.asarray(counts.together.sum(0)).reshape(-1)
    pairs_apart = np.asarray(counts.together.T @ apart).reshape(-1)
    # All pairs of labels of which one or both are the item's own.
    crossing = np.asarray(counts.pooled.T @ reached).reshape(-1)
    inside = pairs_apart * np.maximum(sizes[:, 1] - 1, 0)
    found = []
    for less in (0.0, 1.0):
        total = point @ pairs - less * pairs
        within = (point @ pairs_apart - less * pairs_apart) / np.where(total > 0, total, np.nan) / 2
        every = pooled @ reached - less * (2 * crossing - inside)
        among, _ = among_items(within, every, point @ sizes - less * sizes)
        found.append(np.log(among / within))
    return float(found[0][0]), found[1]
