"""How sure a stack may be: draws of its layer given known truth, else from its prior."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from annomodels.engines.source.stacked import Layer
from annomodels.models.mixtures.stack import Stack
from annomodels.types import Floats, Ints

# draws of the layer: so many, fewer where they would take more than so many numbers in all
LAYERS, FEWEST, MOST_CELLS = 1000, 200, 200_000_000
# steps of the slice sampler before the first draw of the layer, and between two
BURN, THIN = 200, 5


def draw_layer(
    stack: Stack, log_q: Floats, gold: Ints, gain: float, seed: int, n_items: int | None = None
) -> Layer:
    """Draw the layer given the known truth, else from its prior.

    Parameters
    ----------
    stack
        The stack.
    log_q
        Log of the mixture, shape [item, truth].
    gold
        Truth of these items, -1 where it is not known, shape [item].
    gain
        See :meth:`annomodels.models.Stack.gain`.
    seed
        Seed of the run.
    n_items
        Number of items of the data, where these are not all.
    """
    n_labels = log_q.shape[1]
    n = max(FEWEST, min(LAYERS, MOST_CELLS // ((n_items or len(log_q)) * n_labels)))
    known = np.flatnonzero(gold >= 0)
    rng = np.random.default_rng([seed, 2])
    if not len(known):
        return Layer(*stack.layer(rng.standard_normal((n, 2 + n_labels)), gain))
    log_known, truth = log_q[known], gold[known].astype(np.int64)

    def density(z: Floats) -> float:
        return log_truth(log_known, truth, *stack.layer(z[None], gain))

    return Layer(*stack.layer(elliptical(density, 2 + n_labels, n, rng), gain))


def log_truth(
    log_q: Floats, truth: Ints, sharpness: Floats, unknown: Floats, tilt: Floats
) -> float:
    """Log P(known truth) of all items together under one draw of the layer."""
    log_p = sharpness[0] * log_q + tilt[0]
    top = log_p.max(axis=1)
    of_truth = log_p[np.arange(len(truth)), truth] - top
    of_truth -= np.log(np.exp(log_p - top[:, None]).sum(axis=1))
    flat = np.log(unknown[0] / log_q.shape[1])
    return float(np.logaddexp(np.log1p(-unknown[0]) + of_truth, flat).sum())


def elliptical(
    density: Callable[[Floats], float], size: int, n: int, rng: np.random.Generator
) -> Floats:
    """Draw from a density times a standard normal prior, by elliptical slice sampling.

    Parameters
    ----------
    density
        Log likelihood at a point, shape [size].
    size
        Number of variables.
    n
        Number of draws.
    rng
        Source of chance.

    Returns
    -------
    ndarray
        Shape [n, size].

    References
    ----------
    I. Murray, R. P. Adams and D. J. C. MacKay (2010). Elliptical slice sampling. AISTATS, PMLR 9,
    541-548.
    """
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
