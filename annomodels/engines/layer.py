"""Confidence of a stack: draws of its layer given known truth, or from its prior."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from annomodels.engines.source.stacked import EffectDraws
from annomodels.models.mixtures.stack import Dependence, Stack, flat_of
from annomodels.types import Floats, Ints

# number of draws of the layer, minimum number, and maximum size of P(truth) under all of them
LAYERS, FEWEST, MOST_CELLS = 1000, 200, 200_000_000
# steps of the slice sampler before the first draw of the layer, and between draws
BURN, THIN = 200, 5
# proportion of draws without signal, if the labels may be noise
NOTHING = 0.5


def draw_layer(
    stack: Stack,
    log_q: Floats,
    gold: Ints,
    dependence: Dependence,
    seed: int,
    n_items: int | None = None,
) -> EffectDraws:
    """Draw the layer given the known truth [item], or from its prior if none is known."""
    n_labels = log_q.shape[1]
    n = max(FEWEST, min(LAYERS, MOST_CELLS // ((n_items or len(log_q)) * n_labels))) // 2 * 2
    known = np.flatnonzero(gold >= 0)
    log_known, truth = log_q[known], gold[known].astype(np.int64)
    rng = np.random.default_rng([seed, 2])
    if len(known):

        def density(z: Floats) -> float:
            return log_truth(log_known, truth, *stack.layer(z[None], dependence))

        z = elliptical(density, 2 + n_labels, n, rng)
    else:
        half = rng.standard_normal((n // 2, 2 + n_labels))
        # stratified draws of the data-set effects: their tails do not depend on chance
        for column in (0, 1):
            half[:, column] = rng.permutation(ndtri((np.arange(n // 2) + 0.5) / (n // 2)))
        # pair each tilt with its opposite, so that the draws break no ties
        z = np.concatenate([half, half * np.array([1.0, 1.0, *[-1.0] * n_labels])])
    sharpness, unknown, tilt = stack.layer(z, dependence)
    if dependence.noise:
        # in some draws no item is informed (pure noise), in the others a random proportion; how far
        # the shares of the labels are those of the truth is unknown too
        nothing = rng.permutation(n)
        share = np.where(nothing < NOTHING * n, 1.0, rng.random(n))
        unknown = share[:, None] * flat_of(dependence, n_labels, rng.random(n))
    return EffectDraws(sharpness, unknown, tilt)


def log_truth(
    log_q: Floats, truth: Ints, sharpness: Floats, unknown: Floats, tilt: Floats
) -> float:
    """Return the joint log P(known truth) of all items under one draw of the layer."""
    log_p = sharpness[0] * log_q + tilt[0]
    top = log_p.max(axis=1)
    of_truth = log_p[np.arange(len(truth)), truth] - top
    of_truth -= np.log(np.exp(log_p - top[:, None]).sum(axis=1))
    with np.errstate(divide="ignore"):  # log 0 if all items are unknown
        known = np.log1p(-min(float(unknown[0].sum()), 1.0))
    return float(np.logaddexp(known + of_truth, np.log(unknown[0, truth])).sum())


def elliptical(
    density: Callable[[Floats], float], size: int, n: int, rng: np.random.Generator
) -> Floats:
    """Draw from a density times a standard normal prior, by elliptical slice sampling."""
    # I. Murray, R. P. Adams and D. J. C. MacKay (2010), AISTATS, PMLR 9, 541-548
    x, out = np.zeros(size), np.empty((n, size))
    now = density(x)
    for step in range(BURN + n * THIN):
        other = rng.standard_normal(size)
        least = now + np.log(rng.random())
        angle = 2.0 * np.pi * rng.random()
        low, high = angle - 2.0 * np.pi, angle
        while True:
            proposed = x * np.cos(angle) + other * np.sin(angle)
            now = density(proposed)
            if now > least:
                break
            low, high = (angle, high) if angle < 0.0 else (low, angle)
            angle = low + (high - low) * rng.random()
        x = proposed
        if step >= BURN and (step - BURN) % THIN == 0:
            out[(step - BURN) // THIN] = x
    return out
