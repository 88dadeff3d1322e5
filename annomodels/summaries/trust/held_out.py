"""Predictive density of held-out items or labels, by smoothed importance weights."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.columns import Column, columns
from annomodels.models.encoded import Encoded, encode
from annomodels.summaries.draws import SMALLEST, Draws, per_item, thinned
from annomodels.types import Floats

# Smoothed weights and power-scaling sensitivity are implemented here because importing ArviZ takes
# longer than the page of a small fit; tests compare them with ArviZ.

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


By = Literal["item", "label"]

BLOCK = 8_000_000
# fewest draws for reliable PSIS
FEWEST_DRAWS = 100
COLUMNS = columns(
    "model elpd se",
    Column("difference", "Difference to the best", "quantity"),
    "difference_se weight unreliable verdict",
)


@dataclass(frozen=True, eq=False)
class HeldOut:
    r"""Leave-one-out log density of each point, estimated from the full fit."""

    elpd: Floats
    in_sample: Floats
    pareto_k: Floats
    good_k: float
    n_draws: int

    @property
    def total(self) -> float:
        return float(self.elpd.sum())

    @property
    def error(self) -> float:
        n = len(self.elpd)
        return float(np.sqrt(n * self.elpd.var(ddof=1))) if n > 1 else float("nan")

    @property
    def n_bad(self) -> int:
        return int((self.pareto_k > self.good_k).sum())


def held_out(
    tree: xr.DataTree,
    data: Annotations,
    by: By = "item",
    draws: Draws | None = None,
    r_eff: float = 1.0,
) -> HeldOut:
    """Estimate leave-one-out densities of items or labels by importance sampling (PSIS)."""
    # Discrete truths are summed out. A label's density is the ratio of two such sums. Vehtari,
    # Gelman & Gabry 2017, doi:10.1007/s11222-016-9696-4. `r_eff`: effective draws per draw.
    draws = draws or whole_chains(tree, data)
    codes = encode(data, kind=draws.kinds_of(data))
    n_points = codes.n_patterns if by == "item" else len(codes.row)
    elpd, in_sample, pareto_k = (np.empty(n_points) for _ in range(3))
    for points, values in pointwise(draws, codes, by):
        each = [smoothed(-of_one, r_eff) for of_one in np.ascontiguousarray(values.T)]
        pareto_k[points] = [k for _, k in each]
        log_weights = np.transpose([weights for weights, _ in each])
        elpd[points] = _log_mean_exp(log_weights + values, normalised=True)
        in_sample[points] = _log_mean_exp(values)
    places = codes.inverse
    if by == "label":
        lengths = np.diff(data.starts)
        inside = np.arange(len(data)) - np.repeat(data.starts[:-1], lengths)
        places = np.repeat(codes.starts[codes.inverse], lengths) + inside
    good_k = min(1.0 - 1.0 / np.log10(max(len(draws), 2)), 0.7)
    return HeldOut(elpd[places], in_sample[places], pareto_k[places], good_k, len(draws))


def whole_chains(tree: xr.DataTree, data: Annotations) -> Draws:
    """Return all draws or, if they need much memory, the same number from each chain."""
    draws = thinned(tree, data)
    over = len(draws) % int(tree["posterior"].sizes["chain"])
    return thinned(tree, data, len(draws) - over) if over else draws


def _log_mean_exp(values: Floats, normalised: bool = False) -> Floats:
    total = np.logaddexp.reduce(values, axis=0)
    return np.asarray(total if normalised else total - np.log(len(values)))


def pointwise(draws: Draws, codes: Encoded, by: By) -> Iterator[tuple[slice, Floats]]:
    """Yield the log density of each point on each draw, in blocks of points."""
    log_share = np.log(np.maximum(draws.share, SMALLEST))
    log_truth = np.log([np.maximum(draws.truth(d), 1e-300) for d in range(len(draws))])
    lengths = np.diff(codes.starts)
    heavy = np.maximum(lengths, 1) * len(draws) * log_share.shape[1]
    edges = np.searchsorted(np.cumsum(heavy), np.arange(0, heavy.sum() + BLOCK, BLOCK))
    edges = np.unique(np.clip(edges, 0, codes.n_patterns))
    edges = np.unique(np.append(edges, [0, codes.n_patterns]))
    for first, last in itertools.pairwise(edges.tolist()):
        inside = slice(int(codes.starts[first]), int(codes.starts[last]))
        row, label = codes.row[inside], codes.label[inside]
        # [annotation, draw, state]
        each = np.log(np.maximum(draws.emission[:, row, :, label], SMALLEST))
        starts = codes.starts[first : last + 1] - codes.starts[first]
        before = log_share
        if codes.kind is not None:
            kinds = codes.kind[first:last]
            before = np.stack([draws.log_share(d, kinds) for d in range(len(draws))], axis=1)
        joint = per_item(each, starts) + before
        gold = codes.gold[first:last]
        known = np.flatnonzero(gold >= 0)
        joint[known] += log_truth.transpose(2, 0, 1)[gold[known]]
        whole = np.logaddexp.reduce(joint, axis=2)
        if by == "item":
            yield slice(first, last), whole.T
            continue
        owner = np.repeat(np.arange(last - first), lengths[first:last])
        others = np.logaddexp.reduce(joint[owner] - each, axis=2)
        yield inside, (whole[owner] - others).T
