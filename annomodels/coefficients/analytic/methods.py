"""Analytic standard errors and intervals of other packages; docs/coefficients.md has formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.counts import Counts
from annomodels.coefficients.distances import Distance, unit
from annomodels.coefficients.entries import plain_name_of
from annomodels.coefficients.evaluation import among_items, item_sizes, one_way_convention
from annomodels.coefficients.formulas import mean_squares, observed
from annomodels.coefficients.grouped import all_pairs
from annomodels.coefficients.reasons import used_items
from annomodels.coefficients.rows import CONVENTIONS
from annomodels.coefficients.tables import over
from annomodels.coefficients.weights import Basis
from annomodels.data.columns import percent
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
    """Error of two coders who both labeled every item, with n in the place of n - 1."""
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
            "The mean over pairs of coders has no linearized error. "
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
            d_e, slope_e = _slope(expectation, counts, t, pooled, distance)
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


def _slope(
    expectation: str, counts: Counts, t: Floats, pooled: Floats, distance: Distance
) -> tuple[float, Floats]:
    """Find the expected disagreement, and its change with the weight of each item."""
    if expectation == "between":
        return _between(counts, t, pooled, distance)
    p, q = pooled / pooled.sum(), len(pooled)
    even, derivative = np.full(q, 1.0 / q), np.zeros(q)
    reached = distance.reach(p, pooled)
    if expectation == "uniform":
        d_e = float(even @ distance.reach(even, pooled))
    elif expectation == "gwet":
        none = float(unit(distance, pooled))
        factor = q * (none - float(even @ distance.reach(even, pooled))) / (q - 1)
        d_e = none - factor * float((p * (1 - p)).sum())
        derivative = -factor * (1 - 2 * p)
    else:  # Gwet leaves alpha's correction for n out of the error
        d_e, derivative = float(p @ reached), 2 * reached
    slope = counts.pooled.T @ derivative - (counts.pooled.sum(0) * float(p @ derivative))
    return d_e, np.asarray(slope).reshape(-1) / pooled.sum()


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


MOST_LABELS = 2_000


def fleiss_cohen_everitt(basis: Basis, value: float, prob: float) -> Spread:
    """Errors of (weighted) kappa on the items that both coders labeled."""
    request, rows = basis.request, basis.sample.rows
    k = rows.n_labels
    if request.convention == "gwet" and not basis.data.is_complete:
        raise NotApplicable(
            "Fleiss, Cohen & Everitt take the items that both coders labeled. "
            'Use method="gwet", or missing="listwise".'
        )
    if k > MOST_LABELS:
        raise NotApplicable(
            f"The table of {k:,} x {k:,} labels is too large. Use the draws (interval())."
        )
    matrix, _, first, second = all_pairs(rows, request).cells
    counts: Floats = np.zeros((k, k))
    counts[first, second] = matrix @ basis.sample.point
    n = counts.sum()
    p = counts / n
    left, right = p.sum(1), p.sum(0)
    codes = np.arange(k)
    pooled = left + right
    apart = request.distance.pairs(np.repeat(codes, k), np.tile(codes, k), pooled).reshape(k, k)
    largest = float(apart.max())
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
    return Spread(float(np.sqrt(np.maximum(var, 0.0))), float(np.sqrt(np.maximum(var0, 0.0))))


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
        # ICC(A,1), whose F has estimated degrees of freedom
        coders = n * (float(found.coders) + error / n)
        icc = (rows_ms - error) / (rows_ms + (k - 1) * error + k * (coders - error) / n)
        a = k * icc / (n * (1 - icc))
        b = 1 + k * icc * (n - 1) / (n * (1 - icc))
        parts = (a * coders) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
        v = (a * coders + b * error) ** 2 / parts
        beyond, within = special.fdtri(n - 1, v, upper), special.fdtri(v, n - 1, upper)
        rest = k * coders + (k * n - k - n) * error
        low = n * (rows_ms - beyond * error) / (beyond * rest + n * rows_ms)
        high = n * (within * rows_ms - error) / (rest + n * within * rows_ms)
        limits = float(low), float(high)
    else:
        low = ratio / special.fdtri(df1, df2, upper)
        high = ratio * special.fdtri(df2, df1, upper)
        limits = float((low - 1) / (low + k - 1)), float((high - 1) / (high + k - 1))
    if name.endswith("k"):
        least, most = (k * one / (1 + (k - 1) * one) for one in limits)
        limits = least, most
    return Spread(math.nan, limits=limits, p=p)


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


@dataclass(frozen=True, repr=False)
class Analytic:
    """Analytic error and interval of a coefficient.

    Parameters
    ----------
    value
        The coefficient.
    se
        Its standard error; NaN where the method gives an interval only.
    low, high
        Interval with the probability `prob`.
    se0, z0
        Standard error if the coders agreed by chance alone, and value / se0; NaN where the method
        has none.
    p
        Two-sided p-value of the hypothesis that the coefficient is 0: from z0 where there is one,
        else from value / se; for intraclass correlations one-sided, from F.
    df
        Degrees of freedom of the t distribution; infinite for the normal.
    prob
        Probability of the interval.
    method, formula
        Name of the method, and what it does.
    citation, doi
        Where it comes from.
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
    method: str
    formula: str
    citation: str
    doi: str

    def __repr__(self) -> str:
        span = f"{percent(self.prob, 0)} interval {self.low:.4f} to {self.high:.4f}"
        parts = (
            f"{self.value:.4f}",
            "" if math.isnan(self.se) else f"se {self.se:.4f}",
            span,
            "" if math.isnan(self.z0) else f"z0 {self.z0:.3f}",
            "" if math.isnan(self.p) else f"p {self.p:.3g}",
            f"{self.formula} ({self.citation})",
        )
        return " · ".join(filter(None, parts))

    @property
    def var(self) -> float:
        """Square of the standard error."""
        return self.se**2

    @property
    def var0(self) -> float:
        """Square of the standard error under agreement by chance alone."""
        return self.se0**2


@dataclass(frozen=True)
class _Method:
    """A way to find the spread, and how it is called."""

    spread: Callable[[Basis, float, float], Spread]
    formula: str
    citation: str
    doi: str
    aliases: tuple[str, ...] = ()


METHODS: dict[str, _Method] = {
    "gwet": _Method(
        linearised, "linearized variance over items, t interval, not above 1",
        "Gwet 2014", "", ("linearised", "linearized", "irrcac"),
    ),
    "gwet_table": _Method(
        linearised_table,
        "variance of the table of two coders, divided by n instead of n - 1, t interval",
        "Gwet 2014", "", ("table", "irrcac_table"),
    ),
    "fleiss_cohen_everitt": _Method(
        fleiss_cohen_everitt, "large-sample variance of the table of label pairs, normal interval",
        "Fleiss, Cohen & Everitt 1969", "10.1037/h0028106",
        ("fce", "fleiss_cohen_everitt_1969", "statsmodels", "asymptotic"),
    ),
    "fleiss": _Method(
        fleiss_nee_landis,
        "large-sample variance if coders agree by chance alone, normal interval",
        "Fleiss, Nee & Landis 1979", "10.1037/0033-2909.86.5.974",
        ("fleiss_nee_landis", "irr", "h0"),
    ),
    "f": _Method(
        f_interval, "F distribution of the mean squares",
        "McGraw & Wong 1996", "10.1037/1082-989X.1.1.30", ("anova", "pingouin", "shrout_fleiss"),
    ),
    "jackknife": _Method(
        jackknife, "jackknife of log(MSA / MSE) over items, t interval",
        "Hughes 2022", "10.48550/arXiv.2210.13265", ("hughes",),
    ),
}  # fmt: skip
"""Methods by name; which of them a coefficient has stands in the catalogue."""


def analytic(basis: Basis, value: float, method: str | None, prob: float) -> Analytic:
    """Find the error of a coefficient by a method that it has."""
    if not 0 < prob < 1:
        raise ValueError(f"prob={prob!r} should lie between 0 and 1, for instance 0.95.")
    entry = basis.request.coefficient
    if not entry.analytic:
        have = ", ".join(name for name, other in COEFFICIENTS.items() if other.analytic)
        raise NotApplicable(
            f"{entry.title} has no analytic error. Use the draws (interval()). These have: {have}."
        )
    name = _choose(basis, method)
    chosen = METHODS[name]
    if math.isnan(value):
        found = Spread(math.nan)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = chosen.spread(basis, value, prob)
    upper, t = (1 + prob) / 2, not math.isinf(found.df)
    if found.limits:
        low, high = found.limits
    else:
        steps = special.stdtrit(found.df, upper) if t else special.ndtri(upper)
        reach = float(steps) * found.se if found.df > 0 else math.nan
        low = value - reach
        # symmetric, cut where the method cuts it
        high = math.nan if math.isnan(reach) else min(value + reach, found.ceiling)
    z0, p = value / found.se0 if found.se0 > 0 else math.nan, found.p
    if math.isnan(p) and not math.isnan(z0):
        p = float(2 * special.ndtr(-abs(z0)))
    elif math.isnan(p) and found.se > 0 and found.df > 0:
        z = -abs(value / found.se)
        p = float(2 * (special.stdtr(found.df, z) if t else special.ndtr(z)))
    return Analytic(
        value=value,
        se=found.se,
        low=low,
        high=high,
        se0=found.se0,
        z0=z0,
        p=p,
        df=found.df,
        prob=prob,
        method=name,
        formula=chosen.formula,
        citation=chosen.citation,
        doi=chosen.doi,
    )


def _choose(basis: Basis, method: str | None) -> str:
    """Name of the method asked for, or of the first that the coefficient has."""
    entry = basis.request.coefficient
    if method is None:
        # With Gwet's convention the margins come from other items than the table of both coders.
        other = basis.request.convention == "gwet" and not basis.data.is_complete
        return "gwet" if other and "gwet" in entry.analytic else entry.analytic[0]
    plain = plain_name_of(method)
    for name, known in METHODS.items():
        if plain in (name, *known.aliases) and name in entry.analytic:
            return name
    raise NotApplicable(
        f"{entry.title} has no analytic error called {method!r}. "
        f"Use one of {', '.join(entry.analytic)}."
    )
