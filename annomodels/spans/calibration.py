"""Calibration of the posterior for errors that coders share: classes, borders, missed spans.

Coder errors are correlated: a name that misleads one coder misleads others, and all coders miss a
span that is easy to overlook. A posterior that assumes independent errors is therefore
overconfident, even with many coders. As in the stack of models for items, the rates of shared
errors are unknown effects of the data set, with priors from public data with known truth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit, logit

from annomodels.spans.groups import Groups
from annomodels.spans.model import Draws, SpanModel
from annomodels.types import AnyArray, Floats


def calibrated(groups: Groups, draws: Draws, model: SpanModel, seed: int) -> Draws:
    """Return the draws with shared errors of the coders added.

    Parameters
    ----------
    groups, draws, model
        Data, draws of the Gibbs chains, and priors.
    seed
        Random seed.
    """
    rng = np.random.default_rng([seed, 1])
    n, count = draws.truth.shape
    wrong_class, wrong_border = error_rates(groups, draws)
    spread = model.effects[3:]
    effects: list[Floats] = [
        np.asarray(
            expit(logit(np.clip(times * rate, 1e-4, 0.6)) + sd * rng.permutation(_normal(n)))
        )
        for times, rate, sd in zip(model.effects, (wrong_class, wrong_border), spread, strict=False)
    ]
    misled, shifted = effects
    given, sizes = answers_given(groups), np.diff(groups.shape_first)
    ends = np.cumsum(given, axis=1)
    unknown = groups.known < 0
    truth, shape = draws.truth.copy(), draws.truth_shape.copy()
    for d in range(n):
        other = unknown & (rng.random(count) < misled[d])
        drawn: AnyArray = np.asarray((ends < rng.random((count, 1))).sum(axis=1))
        truth[d, other] = drawn[other]
        other = unknown & (rng.random(count) < shifted[d])
        shape[d, other] = np.floor(rng.random(count) * sizes).astype(np.int16)[other]
    u, b = np.where(unknown, misled.mean(), 0.0), np.where(unknown, shifted.mean(), 0.0)
    p_class = (1 - u[:, None]) * draws.p_class + u[:, None] * given
    group = np.repeat(np.arange(count), sizes)
    alone = draws.p_shape / np.maximum(1 - draws.p_class[:, 0], 1e-12)[group]
    p_shape = ((1 - b[group]) * alone + b[group] / sizes[group]) * (1 - p_class[group, 0])
    unseen = unseen_spans(groups, truth) * np.exp(
        np.log(model.effects[2]) + spread[2] * rng.permutation(_normal(n))
    )
    return replace(
        draws, truth=truth, truth_shape=shape, p_class=p_class, p_shape=p_shape, unseen=unseen
    )


def _normal(n: int) -> Floats:
    """Return evenly spaced quantiles of the normal distribution, so that tails are covered."""
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(n) + 0.5) / n))


def error_rates(groups: Groups, draws: Draws) -> tuple[float, float]:
    """Return the share of answers with a wrong class, and of marks with wrong borders.

    Parameters
    ----------
    groups, draws
        Data and draws of the Gibbs chains.
    """
    group = np.repeat(np.arange(len(groups)), np.diff(groups.answer_first))
    right = float(draws.p_class[group, groups.label].mean())
    marked = groups.label > 0
    shape = draws.p_shape[groups.shape_first[group[marked]] + groups.shape[marked]]
    present = 1 - draws.p_class[group[marked], 0]
    return 1 - right, 1 - float(shape.sum() / max(present.sum(), 1e-12))


def answers_given(groups: Groups) -> Floats:
    """Return the uniform distribution over the classes given in each group, [group, class]."""
    classes = len(groups.labels) + 1
    group = np.repeat(np.arange(len(groups)), np.diff(groups.answer_first))
    counts = np.bincount(group * classes + groups.label, minlength=len(groups) * classes)
    given = (counts.reshape(-1, classes) > 0).astype(float)
    given[given.sum(axis=1) == 0, 0] = 1.0  # no coder saw it
    return np.asarray(given / given.sum(axis=1, keepdims=True))


def unseen_spans(groups: Groups, truth: AnyArray) -> Floats:
    """Estimate the number of unmarked true spans from the spans marked once and twice.

    References
    ----------
    A. Chao (1987). Estimating the population size for capture-recapture data with unequal
    catchability. Biometrics 43, 783-791, doi:10.2307/2531532.
    """
    group = np.repeat(np.arange(len(groups)), np.diff(groups.answer_first))
    marks = np.bincount(group, groups.label > 0, len(groups))
    seen = np.diff(groups.answer_first)
    once = ((truth > 0) & (marks == 1) & (seen > 1)).sum(axis=1).astype(float)
    twice = ((truth > 0) & (marks == 2)).sum(axis=1)
    return np.asarray(once * np.maximum(once - 1, 0) / (2 * (twice + 1)))
