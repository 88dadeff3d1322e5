"""Marginal probability of an item's labels by quadrature adapted to the mode."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from annomodels.models.continuous.contrasts import log_softmax
from annomodels.types import Floats, Ints

BATCHES, POINTS = 8, 64
FREEDOM = 6.0  # degrees of freedom of the proposal
STEPS, CLOSE = 30, 1e-8


@dataclass(frozen=True, eq=False)
class Marginal:
    """Log probability of the labels of an item given each class, and its standard error."""

    log: Floats  # shape [truth]
    error: Floats  # shape [truth]


def log_marginal(logit: Floats, scale: Floats, label: Ints, points: int = POINTS) -> Marginal:
    """Integrate out the effects of one item, given each class."""
    # Computes the log integral of N(z; 0, I) prod_n softmax(beta_nk + s_k z)_{y_n}. The integrand
    # is log-concave, so Newton's method finds its mode. Importance sampling uses a t distribution
    # at the mode with the curvature there, and points from eight scrambled Sobol sequences. The
    # standard deviation of the eight estimates gives the error (Naylor and Smith 1982,
    # doi:10.2307/2347995).
    # logit [annotation, truth, contrast], scale [truth, contrast], label [annotation]
    mode, root = _mode(logit, scale, label)
    n_truths, n_dims = scale.shape
    raw, log_density = _proposal(n_dims, points)
    z = mode[:, None] + np.einsum("kde,me->kmd", root, raw)
    log = -0.5 * (z**2).sum(axis=2) - 0.5 * n_dims * np.log(2.0 * np.pi)
    effect = scale[:, None] * z
    for n, y in enumerate(label):
        log += log_softmax(logit[n][:, None] + effect, np)[:, :, y]
    size = np.linalg.slogdet(root)[1]
    log += size[:, None] - log_density
    each = np.logaddexp.reduce(log.reshape(n_truths, BATCHES, points), axis=2) - np.log(points)
    total = np.logaddexp.reduce(each, axis=1) - np.log(BATCHES)
    ratio = np.exp(each - total[:, None])
    return Marginal(total, ratio.std(axis=1, ddof=1) / np.sqrt(BATCHES))


def _mode(logit: Floats, scale: Floats, label: Ints) -> tuple[Floats, Floats]:
    """Return the mode [truth, contrast] of the effects, and a root of the inverse curvature."""
    n_truths, n_dims = scale.shape
    eye = np.eye(n_dims)
    given = np.array([(label == c).sum() for c in range(n_dims)], dtype=float)

    def parts(z: Floats) -> tuple[Floats, Floats, Floats]:
        logs = log_softmax(logit + scale * z, np)
        value = logs[np.arange(len(label)), :, label].sum(axis=0) - 0.5 * (z**2).sum(axis=1)
        p = np.exp(logs[:, :, :-1])
        slope = scale * (given - p.sum(axis=0)) - z
        inner = p.sum(axis=0)[:, :, None] * eye - np.einsum("nkc,nkd->kcd", p, p)
        return value, slope, eye + scale[:, :, None] * inner * scale[:, None, :]

    z = np.zeros((n_truths, n_dims))
    value, slope, bend = parts(z)
    for _ in range(STEPS):
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        share = np.ones(n_truths)
        for _ in range(STEPS):
            there = parts(z + share[:, None] * step)
            worse = there[0] < value - 1e-12
            if not worse.any():
                break
            share[worse] /= 2.0
        z = z + share[:, None] * step
        value, slope, bend = there
        if np.abs(slope).max() < CLOSE:
            break
    return z, np.linalg.cholesky(np.linalg.inv(bend))


@lru_cache(maxsize=8)
def _proposal(n_dims: int, points: int) -> tuple[Floats, Floats]:
    """Return points [point, dimension] of a t distribution and their log density."""
    from scipy.special import gammaln, ndtri
    from scipy.stats import chi2
    from scipy.stats.qmc import Sobol

    rng = np.random.default_rng(n_dims)
    uniform = np.concatenate([Sobol(n_dims + 1, rng=rng).random(points) for _ in range(BATCHES)])
    uniform = np.clip(uniform, 1e-12, 1.0 - 1e-12)
    spread = np.sqrt(FREEDOM / chi2.ppf(uniform[:, -1], FREEDOM))
    raw = ndtri(uniform[:, :-1]) * spread[:, None]
    square = (raw**2).sum(axis=1)
    constant = gammaln((FREEDOM + n_dims) / 2) - gammaln(FREEDOM / 2)
    constant -= 0.5 * n_dims * np.log(FREEDOM * np.pi)
    return raw, constant - 0.5 * (FREEDOM + n_dims) * np.log1p(square / FREEDOM)
