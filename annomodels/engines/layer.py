"""Confidence of a stack: draws of its layer given known truth, else from its prior."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from annomodels.engines.source.stacked import Layer
from annomodels.models.mixtures.stack import APART, POOLED, Dependence, Stack
from annomodels.types import Floats, Ints

# draws of the layer: so many, fewer where they would take more than so many numbers in all
LAYERS, FEWEST, MOST_CELLS = 1000, 200, 200_000_000
# steps of the slice sampler before the first draw of the layer, and between two
BURN, THIN = 200, 5
# draws of the proposal for the evidence; share of the draws in which a crowd that may be noise
# knows nothing
PROPOSED, NOTHING = 400, 0.5


def draw_layer(
    stack: Stack,
    log_q: Floats,
    gold: Ints,
    dependence: Dependence,
    seed: int,
    n_items: int | None = None,
) -> Layer:
    """Draw the layer given the known truth [item], otherwise from its prior."""
    # Independent errors of the coders have a prior probability, which known truth updates by the
    # evidence for both mixtures; that share of the draws has the members apart.
    n_labels = log_q.shape[2]
    n = max(FEWEST, min(LAYERS, MOST_CELLS // ((n_items or len(log_q)) * n_labels)))
    known = np.flatnonzero(gold >= 0)
    log_known, truth = log_q[known], gold[known].astype(np.int64)
    rng = np.random.default_rng([seed, 2])
    # members that tell nothing of dependence are pooled
    independent = max(dependence.independent, 1e-12)
    drawn, odds = [], [np.log1p(-independent), np.log(independent)]
    for view in (POOLED, APART):
        if not len(known):
            drawn.append(stack.layer(rng.standard_normal((n, 2 + n_labels)), dependence, view))
            continue

        def density(z: Floats, view: int = view) -> float:
            return log_truth(log_known, truth, *stack.layer(z[None], dependence, view))

        z = elliptical(density, 2 + n_labels, n, rng)
        odds[view] += log_evidence(density, z, rng)
        drawn.append(stack.layer(z, dependence, view))
    apart = 1.0 / (1.0 + np.exp(np.clip(odds[POOLED] - odds[APART], -700, 700)))
    chosen = rng.permutation(n) < round(apart * n)
    sharpness, unknown, tilt = (
        np.where(chosen.reshape(-1, *[1] * (one.ndim - 1)), other, one)
        for one, other in zip(*drawn, strict=True)
    )
    if dependence.noise:
        # if the labels depend on no truth, the crowd knows nothing; they may all the same
        nothing = rng.permutation(n)
        unknown = np.where(nothing < NOTHING * n, 1.0, rng.random(n))
    return Layer(sharpness, unknown, tilt)


def log_evidence(density: Callable[[Floats], float], z: Floats, rng: np.random.Generator) -> float:
    """Log of the mean of exp(density) under a standard normal prior, by importance sampling."""
    size = z.shape[1]
    cov = 1.2 * np.cov(z, rowvar=False) + 0.02 * np.eye(size)
    root, mean = np.linalg.cholesky(cov), z.mean(axis=0)
    e = rng.standard_normal((PROPOSED, size))
    at = mean + e @ root.T
    log_w = np.array([density(each) for each in at])
    log_w += 0.5 * (e**2).sum(axis=1) - 0.5 * (at**2).sum(axis=1)
    return float(np.logaddexp.reduce(log_w) - np.log(PROPOSED) + np.log(np.diag(root)).sum())


def log_truth(
    log_q: Floats, truth: Ints, sharpness: Floats, unknown: Floats, tilt: Floats
) -> float:
    """Log P(known truth) of all items together under one draw of the layer."""
    log_p = sharpness[0, 0] * log_q[:, 0] + sharpness[0, 1] * log_q[:, 1] + tilt[0]
    top = log_p.max(axis=1)
    of_truth = log_p[np.arange(len(truth)), truth] - top
    of_truth -= np.log(np.exp(log_p - top[:, None]).sum(axis=1))
    flat = np.log(unknown[0] / log_q.shape[2])
    with np.errstate(divide="ignore"):  # of no item anything is known
        known = np.log1p(-unknown[0])
    return float(np.logaddexp(known + of_truth, flat).sum())


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
