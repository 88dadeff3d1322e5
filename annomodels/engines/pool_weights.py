"""How far the models of an opinion pool may be believed, as items of known truth teach it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.errors import EngineError

if TYPE_CHECKING:
    from annomodels.models.mixtures.opinion_pool import OpinionPool

__all__ = ["PoolDraws", "draw_pool", "log_truth"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DRAWS = 2048
KEPT = 512
ROUNDS = 60
# share of the draws that must count before a proposal is taken, and while one is sought
GOOD, ENOUGH = 0.3, 0.1
FREEDOM = 5.0
SMALLEST_ERROR, LARGEST_ERROR = 1e-300, 1.0 - 1e-12


@dataclass(frozen=True, eq=False)
class PoolDraws:
    """Draws of the weights of the models and of the share of items that no model knows of.

    Parameters
    ----------
    weight
        Shape [draw, model].
    error
        Shape [draw].
    """

    weight: Floats
    error: Floats


def draw_pool(model: OpinionPool, log_p: Floats, truth: Ints) -> PoolDraws:
    """Draw weights and error given items of known truth, by adaptive importance sampling.

    The variables are sought on the scale on which their prior is standard normal. A tempered
    likelihood leads a multivariate t proposal to where the posterior is (population Monte Carlo,
    Cappé et al. 2004, doi:10.1198/106186004X12803); its weighted draws are then resampled.

    Parameters
    ----------
    model
        The pool.
    log_p
        Log P(truth) of each model for the items of known truth, shape [model, item, truth].
    truth
        Their truth, shape [item]; none leaves the prior.

    Raises
    ------
    EngineError
        When no proposal was found that the posterior resembles.
    """
    # the same numbers for all data: a sum over points rather than one more source of noise
    rng = np.random.default_rng(0)
    n = len(model.weights) + 1
    mean, root = np.zeros(n), np.eye(n)
    for number in range(ROUNDS):
        u = _proposed(rng, mean, root, normal=number == 0)
        weight, error = _variables(model, u)
        gain = log_truth(weight, error, log_p, truth)
        rest = _log_prior(u) - _log_proposal(u, mean, root, normal=number == 0)
        share = _shares(rest + gain)
        if _effective(share) >= GOOD * DRAWS:
            chosen = _resampled(share, rng)
            return PoolDraws(weight[chosen], error[chosen])
        share = _shares(rest + _temperature(rest, gain) * gain)
        mean = share @ u
        spread = (u - mean).T @ (share[:, None] * (u - mean)) + 1e-9 * np.eye(n)
        root = np.linalg.cholesky(spread)
    raise EngineError(
        "The weights of the opinion pool could not be learnt from the known truth. Use the model "
        "readings instead."
    )


def log_truth(weight: Floats, error: Floats, log_p: Floats, truth: Ints) -> Floats:
    """Log P(known truth) of all items together under each draw, shape [draw]."""
    out = np.zeros(len(weight))
    k = log_p.shape[2]
    for i, label in enumerate(truth):
        pooled = weight @ log_p[:, i]
        top = pooled.max(axis=1, keepdims=True)
        of_truth = pooled[:, label] - top[:, 0] - np.log(np.exp(pooled - top).sum(axis=1))
        out += np.logaddexp(np.log1p(-error) + of_truth, np.log(error / k))
    return out


def _variables(model: OpinionPool, u: Floats) -> tuple[Floats, Floats]:
    """Weights [draw, model] and error [draw] from numbers that are standard normal a priori."""
    from scipy.special import betaincinv, ndtr

    weight = np.array(model.weights) * np.exp(model.spread * u[:, :-1])
    error = betaincinv(model.error.a, model.error.b, ndtr(u[:, -1]))
    return weight, np.clip(error, SMALLEST_ERROR, LARGEST_ERROR)


def _proposed(rng: np.random.Generator, mean: Floats, root: Floats, *, normal: bool) -> Floats:
    z = rng.standard_normal((DRAWS, len(mean)))
    if normal:
        return z
    heavy = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, DRAWS))
    return np.asarray(mean + heavy[:, None] * (z @ root.T))


def _log_prior(u: Floats) -> Floats:
    return np.asarray(-0.5 * (u**2).sum(axis=1))


def _log_proposal(u: Floats, mean: Floats, root: Floats, *, normal: bool) -> Floats:
    """Up to a constant, which is the same for all draws of a round."""
    if normal:
        return _log_prior(u)
    z = np.linalg.solve(root, (u - mean).T)
    return np.asarray(-0.5 * (FREEDOM + len(mean)) * np.log1p((z**2).sum(axis=0) / FREEDOM))


def _shares(log_weight: Floats) -> Floats:
    share = np.exp(log_weight - log_weight.max())
    return np.asarray(share / share.sum())


def _effective(share: Floats) -> float:
    return float(1.0 / (share**2).sum())


def _temperature(rest: Floats, gain: Floats) -> float:
    """Largest power of the likelihood, up to 1, with which enough draws still count."""
    low, high = 0.0, 1.0
    if _effective(_shares(rest + gain)) >= ENOUGH * DRAWS:
        return 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if _effective(_shares(rest + middle * gain)) >= ENOUGH * DRAWS:
            low = middle
        else:
            high = middle
    return low


def _resampled(share: Floats, rng: np.random.Generator) -> Ints:
    """Systematic resampling: every draw so often as its share says, but for a rest."""
    at = (np.arange(KEPT) + rng.random()) / KEPT
    return np.minimum(np.searchsorted(np.cumsum(share), at), len(share) - 1)
