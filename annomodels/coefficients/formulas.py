"""Every coefficient is 1 - D_o / D_e; they differ in D_e.

D_o is the mean distance of two labels of an item, D_e the one expected by chance. Intraclass
correlations, and the bounds from two coders' margins, come from the same label-pair tables;
docs/coefficients.md has their formulas.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from annomodels.coefficients.distances import Distance, Nominal, Squared, unit
from annomodels.coefficients.tables import Evaluated, PairTables, over
from annomodels.errors import NotApplicable
from annomodels.types import Floats


def _margins(tables: PairTables) -> tuple[Floats, Floats]:
    """Return both coders' label proportions, shape [..., label]; means over listed pairs."""
    both = []
    for rows in (tables.left, tables.right):
        share = over(rows, rows.sum(-1, keepdims=True))
        both.append((share * tables.sign[:, None]).sum(-2) / tables.sign.sum())
    return both[0], both[1]


def _kappa_max(tables: PairTables, distance: Distance, d_o: Floats) -> Evaluated:
    one, other = _margins(tables)
    most = 1.0 - np.minimum(one, other).sum(-1)
    chance = 1.0 - (one * other).sum(-1)
    value = 1.0 - np.divide(most, chance, out=np.full_like(most, np.nan), where=chance > NEGLIGIBLE)
    return Evaluated(value, most, chance)


def _index(second: float) -> Callable[[PairTables, Distance, Floats], Evaluated]:
    """Return the prevalence index (a - d) / n or bias index (b - c) / n; NaN unless binary."""

    def evaluate(tables: PairTables, distance: Distance, d_o: Floats) -> Evaluated:
        one, other = _margins(tables)
        nothing = np.full_like(d_o, np.nan)
        if tables.n_labels != 2:
            return Evaluated(nothing, nothing, nothing)
        return Evaluated(one[..., 0] + second * other[..., 0] - (second > 0), nothing, nothing)

    return evaluate


def _between_coders(tables: PairTables, x: Floats) -> Floats:
    """Return half the mean squared distance between the means of two coders."""
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


def _icc(name: str) -> Callable[[PairTables, Distance, Floats], Evaluated]:
    """Return an intraclass correlation of complete items by the same coders, from mean squares."""

    def evaluate(tables: PairTables, distance: Distance, d_o: Floats) -> Evaluated:
        if not isinstance(distance, Squared):
            raise NotApplicable(
                f"An intraclass correlation needs the distance 'interval', not {distance.name!r}."
            )
        k = tables.n_coders
        weight = np.maximum(tables.pooled.sum(-1, keepdims=True), np.finfo(float).tiny)
        share = tables.pooled / weight
        x = distance.values - (share * distance.values).sum(-1, keepdims=True)
        # half the mean squared distance of any two labels, of two labels of an item, of coder means
        total = np.asarray((share * x * x).sum(-1))
        within = d_o / 2
        between = _between_coders(tables, x[..., None, :])
        n = tables.n / k
        per_item = np.divide(1.0, n, out=np.full_like(total, np.nan), where=n > 1)
        grow = 1.0 / (1.0 - per_item)
        rest = grow * (within - between)  # residual mean square after the coders
        error = within if name in ("icc_1", "icc_1k") else rest
        true = (grow * (k * total - (k - 1) * within) - error) / k
        if name in ("icc_a1", "icc_ak"):
            error = error + between - rest * per_item  # and the variance of the coders
        if name.endswith("k"):
            error = error / k
        whole = true + error
        some = whole > NEGLIGIBLE * np.maximum(total, np.finfo(float).tiny)
        ratio_of = np.divide(error, whole, out=np.full_like(error, np.nan), where=some)
        whole = np.where(some, whole, np.where(whole <= 0, 0, whole))
        return Evaluated(1.0 - ratio_of, error, whole)

    return evaluate


ICC = ("icc_1", "icc_a1", "icc_c1", "icc_1k", "icc_ak", "icc_ck")
STATISTICS: dict[str, Callable[[PairTables, Distance, Floats], Evaluated]] = {
    "kappa_max": _kappa_max,
    "prevalence_index": _index(1.0),
    "bias_index": _index(-1.0),
    **{name: _icc(name) for name in ICC},
}
"""Coefficients with a separate observed part, from tables, distance and D_o."""


NEGLIGIBLE = 1e-12


def _share(weights: Floats) -> Floats:
    """Normalize weights to sum to 1; NaN if all are 0."""
    return over(weights, weights.sum(-1, keepdims=True))


def observed(tables: PairTables, distance: Distance) -> Floats:
    """Return the mean distance of the listed pairs, shape [...]; NaN without pairs."""
    apart = distance.pairs(tables.first, tables.second, tables.pooled)
    total = tables.together.sum(-1)
    apart_total = np.asarray((tables.together * apart).sum(-1), dtype=float)
    return over(apart_total, total)


def uniform(tables: PairTables, distance: Distance) -> Floats:
    r"""Treat all q labels as equally likely (S): :math:`A_e = 1 / q`."""
    even = np.full(tables.pooled.shape, 1.0 / tables.n_labels)
    return distance.form(even, even, tables.pooled)


def pooled(tables: PairTables, distance: Distance) -> Floats:
    r"""Use one distribution for all coders (pi, K): :math:`A_e = \sum_k (n_k / N)^2`."""
    p = _share(tables.pooled)
    return distance.form(p, p, tables.pooled)


def smoothed(tables: PairTables, distance: Distance) -> Floats:
    r"""Put a uniform prior on K's (van Oest): :math:`A_e = \sum_k ((n_k + 1) / (N + q))^2`."""
    n, q = tables.n[..., None], tables.n_labels
    keep = np.where(np.isinf(n), 1.0, n / np.where(np.isinf(n), 1.0, n + q))
    p = keep * _share(tables.pooled) + (1 - keep) / q
    return distance.form(p, p, tables.pooled)


def without_replacement(tables: PairTables, distance: Distance) -> Floats:
    r"""Draw two different labels (alpha): :math:`D_e = \sum_{kl} n_k n_l d_{kl} / (n (n - 1))`."""
    n = tables.n
    some = np.where(n > 1, n, np.nan)
    return np.asarray(pooled(tables, distance) / (1.0 - 1.0 / some))


def between(tables: PairTables, distance: Distance) -> Floats:
    r"""Use the distribution of each coder (kappa and variants): :math:`\sum P(k|a) P(k|b)`."""
    apart = distance.form(tables.left, tables.right, tables.pooled[..., None, :])
    apart = np.asarray((apart * tables.sign).sum(-1))
    weight = (tables.left.sum(-1) * tables.right.sum(-1) * tables.sign).sum(-1)
    enough = np.asarray(weight > NEGLIGIBLE * np.square(tables.left.sum((-1, -2))))
    return np.divide(apart, weight, out=np.full_like(apart, np.nan), where=enough)


def gwet(tables: PairTables, distance: Distance) -> Floats:
    r"""Use Gwet's probability of a random label (AC1, AC2).

    :math:`A_e = T_w / (q (q - 1)) \sum_k \pi_k (1 - \pi_k)`. Agreement weights are
    1 - distance / unit; T_w is their sum over all q x q cells. The value depends on the unit: see
    :func:`~.distances.unit`.
    """
    q = tables.n_labels
    if q < 2:
        return np.full(tables.pooled.shape[:-1], np.nan)
    p = _share(tables.pooled)
    none = unit(distance, tables.pooled)
    ones = np.ones(tables.pooled.shape)
    weights = q * q * none - distance.form(ones, ones, tables.pooled)
    return np.asarray(none - weights / (q * (q - 1)) * (p * (1 - p)).sum(-1))


EXPECTED: dict[str, Callable[[PairTables, Distance], Floats]] = {
    "uniform": uniform,
    "pooled": pooled,
    "smoothed": smoothed,
    "without_replacement": without_replacement,
    "between": between,
    "gwet": gwet,
}


def less(share: Floats) -> Floats:
    """Return 1 - share, with 0 in place of rounding errors.

    >>> less(np.array([0.25, 1.0 + 2e-15])).tolist()
    [0.75, 0.0]
    """
    rest = 1.0 - share
    return np.where(np.abs(rest) < NEGLIGIBLE, 0.0, rest)


def ratio(d_o: Floats, d_e: Floats, largest: Floats) -> Evaluated:
    """Return 1 - D_o / D_e, NaN if D_e is negligible relative to the largest distance."""
    d_e = np.where(np.isnan(d_o), np.nan, d_e)
    defined = d_e > NEGLIGIBLE * np.maximum(largest, np.finfo(float).tiny)
    share = np.divide(d_o, d_e, out=np.full_like(d_o, np.nan), where=defined)
    return Evaluated(less(share), d_o, np.where(defined, d_e, np.where(np.isnan(d_e), np.nan, 0.0)))


def evaluate_with(
    expectation: str | None, tables: PairTables, distance: Distance | None = None
) -> Evaluated:
    """Evaluate a coefficient by its expected disagreement (None: observed agreement only)."""
    distance = distance or Nominal()
    return evaluate_observed(expectation, tables, distance, observed(tables, distance))


def evaluate_observed(
    expectation: str | None, tables: PairTables, distance: Distance, d_o: Floats
) -> Evaluated:
    """Evaluate a coefficient from its observed disagreement; `tables` need no pairs."""
    if expectation in STATISTICS:
        return STATISTICS[expectation](tables, distance, d_o)
    largest = np.broadcast_to(distance.largest(tables.pooled), d_o.shape)
    if expectation is None:
        none = np.where(np.isnan(d_o), np.nan, 0.0)
        whole = np.broadcast_to(unit(distance, tables.pooled), d_o.shape)
        apart = np.divide(d_o, whole, out=none, where=whole > 0)
        return Evaluated(less(apart), d_o, np.full_like(d_o, np.nan))
    d_e = np.broadcast_to(EXPECTED[expectation](tables, distance), d_o.shape)
    return ratio(d_o, d_e, largest)
