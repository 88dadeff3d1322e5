"""P(truth) of an opinion pool: its models fitted to the labels alone, and put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult
from annomodels.engines.catalog import choose, runner
from annomodels.engines.pool_weights import PoolDraws, draw_pool
from annomodels.engines.settings import Clock, Progress, Settings
from annomodels.models.base import Model
from annomodels.models.mixtures.opinion_pool import OpinionPool, pooled_probabilities

__all__ = ["member_beliefs", "pooled", "pooled_truth"]

Floats = NDArray[np.float64]
CELLS = 4_000_000


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
