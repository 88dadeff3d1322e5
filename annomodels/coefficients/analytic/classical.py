r"""Errors and intervals that a single paper gives for a single kind of coefficient.

**Kappa and weighted kappa**, from the table of two coders: with agreement weights :math:`w_{ij} = 1
- d_{ij} / \max d`, their means over the margins :math:`\bar w_{i.}` and :math:`\bar w_{.j}`, and n
items

.. math::

    var = \frac{\sum_{ij} p_{ij} [w_{ij}(1 - p_e) - (\bar w_{i.} + \bar w_{.j})(1 - p_o)]^2
          - (p_o p_e - 2 p_e + p_o)^2}{n (1 - p_e)^4}

.. math::

    var_0 = \frac{\sum_{ij} p_{i.} p_{.j} [w_{ij} - (\bar w_{i.} + \bar w_{.j})]^2
            - p_e^2}{n (1 - p_e)^2}

Source: Fleiss, Cohen & Everitt 1969, doi:10.1037/h0028106.

**Intraclass correlations**, from the F distribution. Source: McGraw & Wong 1996,
doi:10.1037/1082-989X.1.1.30 (table 7); Shrout & Fleiss 1979, doi:10.1037/0033-2909.86.2.420.

**Hughes's alpha**: the jackknife of log(MSA / MSE) over the items. Source: Hughes 2022,
doi:10.48550/arXiv.2210.13265.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from annomodels.coefficients.analytic.linearised import Spread
from annomodels.coefficients.counts import Counts, count_pairs
from annomodels.coefficients.evaluation import among_items, item_sizes, one_way_convention
from annomodels.coefficients.formulas import mean_squares, observed
from annomodels.coefficients.rows import CONVENTIONS
from annomodels.coefficients.weights import Basis
from annomodels.errors import NotApplicable
from annomodels.types import Floats

MOST_LABELS = 2_000


def fleiss_cohen_everitt(basis: Basis, value: float, prob: float) -> Spread:
    """Errors of (weighted) kappa on the items that both coders labelled."""
    request, rows = basis.request, basis.sample.rows
    k = rows.n_labels
    if request.convention == "gwet" and not basis.data.is_complete:
        raise NotApplicable(
            "Fleiss, Cohen & Everitt take the items that both coders labelled. "
            'Use method="gwet", or missing="listwise".'
        )
    if k > MOST_LABELS:
        raise NotApplicable(
            f"The table of {k:,} x {k:,} labels is too large. Use the draws (interval())."
        )
    counts = (count_pairs(rows).joint @ basis.sample.point).reshape(k, k)
    n = counts.sum()
    p = counts / n
    left, right = p.sum(1), p.sum(0)
    codes = np.arange(k)
    pooled = left + right
    apart = request.distance.pairs(np.repeat(codes, k), np.tile(codes, k), pooled).reshape(k, k)
    largest = apart.max()
    if not largest > 0:
        return Spread(np.nan)
    w = 1.0 - apart / largest
    observed, expected = (p * w).sum(), left @ w @ right
    margin = (w @ right)[:, None] + (left @ w)[None, :]
    inner = (p * (w * (1 - expected) - margin * (1 - observed)) ** 2).sum()
    outer = (observed * expected - 2 * expected + observed) ** 2
    var = (inner - outer) / (n * (1 - expected) ** 4)
    chance = (np.outer(left, right) * (w - margin) ** 2).sum() - expected**2
    var0 = chance / (n * (1 - expected) ** 2)
    return Spread(float(np.sqrt(max(var, 0.0))), float(np.sqrt(max(var0, 0.0))))


def f_interval(basis: Basis, value: float, prob: float) -> Spread:
    """Interval, and p-value of the hypothesis that items do not differ."""
    request, rows = basis.request, basis.sample.rows
    tables = Counts(rows, CONVENTIONS[request.convention]).tables(basis.sample.point)
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
    counts = Counts(basis.sample.rows, one_way_convention(request.convention))
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
