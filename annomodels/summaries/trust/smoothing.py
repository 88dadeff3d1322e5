"""Pareto-smoothed importance weights, and power-scaling sensitivity.

Both are implemented here because importing ArviZ takes longer than the page of a small fit;
tests compare them with ArviZ.
"""

from __future__ import annotations

import numpy as np

from annomodels.types import Floats

# draws up to which the tail is a fifth of them (then 3 sqrt(n)), and fewest draws in a tail
FEW, FEWEST = 225, 5
# prior mean of the tail shape, and its weight in tail draws
SHAPE, WEIGHT = 0.5, 10


def smoothed(log_ratios: Floats, r_eff: float = 1.0) -> tuple[Floats, float]:
    """Pareto-smooth log importance ratios [draw]; return them and the shape of the tail."""
    # Vehtari et al. (2024), Pareto smoothed importance sampling, JMLR 25(72).
    n = len(log_ratios)
    n_tail = min(int(3 * (n / r_eff) ** 0.5 if n * r_eff > FEW else n / 5), n - 1)
    if n_tail < FEWEST:
        raise ValueError(f"{n} draws are too few to smooth their weights.")
    values = log_ratios - log_ratios.max()
    order = np.argsort(values)
    places = order[n - n_tail :]
    tail = values[places]
    most = tail.max()
    if most - tail.min() < np.finfo(float).tiny:
        raise ValueError("All ratios of the tail are the same.")
    below = np.exp(values[order[n - n_tail - 1]])
    k, scale = _pareto(np.exp(tail) - below)
    if np.isfinite(k):
        p = np.arange(0.5, n_tail) / n_tail
        values[places] = np.minimum(np.log(_quantiles(p, k, scale, below)), most)
    values -= _log_sum_exp(values)
    return values, float(k)


def _pareto(excess: Floats) -> tuple[float, float]:
    """Fit a generalized Pareto distribution (Zhang & Stephens, doi:10.1198/tech.2009.08017)."""
    n = len(excess)
    quartile = excess[int(n / 4 + 0.5) - 1]
    if quartile <= excess[0]:  # far from any Pareto distribution
        return np.nan, np.nan
    points = 30 + int(n**0.5)
    b = 1 - np.sqrt(points / (np.arange(1, points + 1, dtype=float) - 0.5))
    b /= 3 * quartile
    b += 1 / excess[-1]
    k = np.mean(np.log1p(-b[:, None] * excess), axis=1)
    log_weight = n * (np.log(-b / k) - k - 1)
    weight = np.exp(log_weight - _log_sum_exp(log_weight))
    counts = weight >= 10 * np.finfo(float).eps
    weight, b = weight[counts], b[counts]
    weight /= weight.sum()
    mean = np.sum(b * weight)
    shape = np.mean(np.log1p(-mean * excess))
    scale = -shape / mean
    shape = (n * shape + WEIGHT * SHAPE) / (n + WEIGHT)
    return (np.inf, np.nan) if np.isnan(shape) else (float(shape), float(scale))


def _quantiles(p: Floats, k: float, scale: float, below: float) -> Floats:
    """Return quantiles of a generalized Pareto distribution that begins at `below`."""
    if scale <= 0:
        return np.full_like(p, np.nan)
    if k == 0:
        return np.asarray(below - scale * np.log1p(-p))
    return np.asarray(below + scale * np.expm1(-k * np.log1p(-p)) / k)


def _log_sum_exp(values: Floats) -> float:
    most = values.max()
    return float(np.log(np.exp(values - most).sum()) + most)


def power_sensitivity(
    values: Floats, weights: tuple[Floats, Floats], powers: tuple[float, float]
) -> float:
    """Measure the sensitivity of draws to the power of a density, in bits per doubling."""
    # The larger cumulative Jensen-Shannon distance of the values or their negatives (Kallioinen
    # 2024).
    slopes = [
        max(_distance(values, weight), _distance(-values, weight)) / abs(np.log2(power))
        for weight, power in zip(weights, powers, strict=True)
    ]
    return float(sum(slopes) / 2)


def _distance(values: Floats, weights: Floats) -> float:
    order = np.argsort(values)
    weights, n = weights[order], len(values)
    width = np.diff(values[order])
    p = np.linspace(1 / n, 1 - 1 / n, n - 1)
    q = np.cumsum(weights / np.sum(weights))[:-1]
    area_p, area_q = np.dot(p, width), np.dot(q, width)
    parts = (p, q, 0.5 * (p + q))
    log_p, log_q, middle = (np.log2(x, out=np.zeros_like(x), where=x != 0) for x in parts)
    more = 0.5 / np.log(2) * (area_q - area_p)
    apart = max(0.0, np.sum(width * (p * (log_p - middle))) + more)
    apart += max(0.0, np.sum(width * (q * (log_q - middle))) - more)
    with np.errstate(invalid="ignore"):
        return float(np.sqrt(apart / (area_p + area_q)))
