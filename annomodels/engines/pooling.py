"""P(truth) of an opinion pool: its models fitted to the labels alone, and put together.

How far each may be believed is learnt from the items of known truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult
from annomodels.engines.catalog import choose, runner
from annomodels.engines.settings import Clock, Progress, Settings
from annomodels.errors import EngineError
from annomodels.models.base import Model
from annomodels.models.mixtures.opinion_pool import OpinionPool, pooled_probabilities
from annomodels.types import Floats, Ints

CELLS = 4_000_000
DRAWS = 2048
KEPT = 512
ROUNDS = 60
# share of the draws that must count before a proposal is taken, and while one is sought
GOOD, ENOUGH = 0.3, 0.1
FREEDOM = 5.0
SMALLEST_ERROR, LARGEST_ERROR = 1e-300, 1.0 - 1e-12


def pooled(
    model: OpinionPool, data: Annotations, found: RawResult, settings: Settings
) -> RawResult:
    """Give the result of the readings with the P(truth) of the pool.

    A run that was stopped or interrupted keeps the P(truth) of the readings, and says so: a pool
    of some of its models is none.

    Parameters
    ----------
    model
        The pool, which knows the data.
    data
        The annotations, known truth among them.
    found
        Result of the readings, fitted with the known truth.
    settings
        The options of the run.
    """
    parts = members(model, data, found, settings)
    stopped = next((part.attrs["stopped"] for part in parts if part.attrs.get("stopped")), "")
    seconds = float(sum(part.attrs["seconds"] for part in parts))
    if parts[0] is not found:
        seconds += float(found.attrs["seconds"])
    attrs = {**found.attrs, "seconds": seconds, "stopped": stopped}
    if len(parts) < len(model.names):
        return replace(found, attrs={**attrs, "unpooled": True})
    watched = {"rhat_max": max, "ess_min": min}
    attrs["members"] = {
        name: {key: float(part.attrs[key]) for key in watched}
        for name, part in zip(model.names, parts, strict=True)
        if part is not found
    }
    for key, worst in watched.items():
        attrs[key] = worst(float(part.attrs[key]) for part in (found, *parts))
    log_p = member_beliefs(model, [part.p_truth for part in parts])
    draws = taught(model, log_p, data)
    p, entropy = pooled_truth(log_p, draws)
    mcse = _error(p, parts, draws)
    if data.gold is not None:
        known = np.flatnonzero(data.gold >= 0)
        p[known] = np.eye(p.shape[1])[data.gold[known]]
        mcse[known], entropy[known] = 0.0, 0.0
    pool = {"weight": draws.weight, "error": draws.error, "member_log_p": log_p}
    return replace(
        found, p_truth=p, p_truth_mcse=mcse, conditional_entropy=entropy, attrs=attrs, pool=pool
    )


def members(
    model: OpinionPool, data: Annotations, found: RawResult, settings: Settings
) -> list[RawResult]:
    """Fit the models that are pooled to the labels alone, up to one that is stopped early."""
    alone = data.replace(gold=None, dont_know=(), unanswered=None)
    clock = Clock(settings.time_limit)
    clock.before = float(found.attrs["seconds"])
    runs: list[Model] = [model.readings, *model.others]
    parts = []
    if data.gold is None and data.unanswered is None:
        parts.append(found)
    seeds = np.random.SeedSequence([settings.seed, len(runs)]).generate_state(len(runs))
    for n, part in enumerate(runs[len(parts) :], len(parts)):
        if (parts and parts[-1].attrs.get("stopped")) or found.attrs.get("stopped") or clock.over:
            break
        left = None if clock.limit is None else max(clock.limit - clock.seconds, 1e-3)
        own = replace(
            settings, seed=int(seeds[n]), time_limit=left, progress=_named(settings, part)
        )
        parts.append(_run(part, alone, str(found.attrs["engine"]), own))
    return parts or [found]


def _run(model: Model, data: Annotations, engine: str, settings: Settings) -> RawResult:
    name = choose(model, engine if engine in model.engines else "auto")
    result: RawResult = runner(name)(model, data, settings)
    return result


def _named(settings: Settings, model: Model) -> Progress | None:
    """Progress that says which model of the pool is meant."""
    told = settings.progress
    if told is None:
        return None
    tell: Callable[[str, float, str], Any] = told
    return lambda stage, share, message: tell(stage, share, f"{model.name} {message}".strip())


def member_beliefs(model: OpinionPool, p_truth: list[Floats]) -> Floats:
    """Log P(truth) of the models, none of them below what is believed, [model, item, truth]."""
    return np.log(np.maximum(np.stack(p_truth), model.least))


def taught(model: OpinionPool, log_p: Floats, data: Annotations) -> PoolDraws:
    """Draw weights and error given the known truth of the data."""
    gold = np.full(data.n_items, -1) if data.gold is None else data.gold
    known = np.flatnonzero(gold >= 0)
    return draw_pool(model, log_p[:, known], gold[known].astype(np.int64))


def pooled_truth(log_p: Floats, draws: PoolDraws) -> tuple[Floats, Floats]:
    """Average P(truth) over draws of weights and error, and its entropy in nats.

    Parameters
    ----------
    log_p
        Log P(truth) of each model, shape [model, item, truth].
    draws
        Weights and errors.

    Returns
    -------
    p, entropy
        Shapes [item, truth] and [item].
    """
    _, n, k = log_p.shape
    p, entropy = np.empty((n, k)), np.empty(n)
    step = max(1, CELLS // (len(draws.error) * k))
    for begin in range(0, n, step):
        some = slice(begin, begin + step)
        each = pooled_probabilities(log_p[:, some], draws.weight, draws.error)
        p[some] = each.mean(axis=0)
        entropy[some] = -(each * np.log(np.maximum(each, 1e-300))).sum(axis=2).mean(axis=0)
    return p, entropy


def _error(p: Floats, parts: list[RawResult], draws: PoolDraws) -> Floats:
    """Monte Carlo error of pooled P(truth), to first order from those of the models."""
    weight = draws.weight.mean(axis=0)
    variance = np.zeros_like(p)
    for part, w in zip(parts, weight, strict=True):
        # where P is tiny its relative error is that of a number of draws, not of P
        relative = (w * part.p_truth_mcse / np.maximum(part.p_truth, 1e-3)) ** 2
        cross = (p**2 * relative).sum(axis=1, keepdims=True)
        variance += p**2 * (relative * (1.0 - 2.0 * p) + cross)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


# -- weights of the models, from items of known truth ------------------------------------------


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
