"""Hughes's interval for alpha: the jackknife of log(MSA / MSE) over the items.

Source: Hughes 2022, doi:10.48550/arXiv.2210.13265.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from annomodels.coefficients.basis import Basis
from annomodels.coefficients.own import OneWay, one_way
from annomodels.coefficients.spread import Spread

__all__ = ["jackknife"]

Floats = NDArray[np.float64]

BLOCK = 2_000_000


def jackknife(basis: Basis, value: float, prob: float) -> Spread:
    """Interval by leaving out each item in turn; the error of alpha is its delta approximation."""
    request, point = basis.request, basis.sample.point
    made = OneWay(basis.sample.rows, request.distance, request.convention)
    eta = float(one_way(made.tables(point), request.distance, point @ made.sizes)[1])
    items, labels, squares = point @ made.sizes
    left_out = np.flatnonzero((point > 0) & (made.sizes[:, 0] > 0))
    times = point[left_out]
    pseudo = items * eta - (items - 1) * _without(made, point, left_out)
    mean = (times * pseudo).sum() / items
    var = (times * (pseudo - mean) ** 2).sum() / (items - 1)
    error = float(np.sqrt(var / items))
    per_item = (labels - squares / labels) / (items - 1)
    reach = float(special.stdtrit(items - 1, (1 + prob) / 2)) * error
    low, high = (np.expm1(x) / (np.expm1(x) + per_item) for x in (eta - reach, eta + reach))
    slope = per_item * math.exp(eta) / (math.exp(eta) + per_item - 1) ** 2
    return Spread(float(slope * error), df=float(items - 1), limits=(float(low), float(high)))


def _without(made: OneWay, point: Floats, items: NDArray[np.int64]) -> Floats:
    """log(MSA / MSE) without one item of each kind, from sums less what the item adds."""
    whole = made.tables(point)
    sizes = point @ made.sizes
    block = max(1, BLOCK // max(made.width, 1))
    found = []
    for start in range(0, len(items), block):
        some = items[start : start + block]
        less = dataclasses.replace(
            whole,
            together=whole.together - made.counts.together[:, some].toarray().T,
            pooled=whole.pooled - made.all_labels[:, some].toarray().T,
        )
        found.append(one_way(less, made.distance, sizes - made.sizes[some])[1])
    return np.concatenate(found)
