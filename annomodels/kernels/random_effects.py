"""Log density and gradient of models with item effects on logits, equal to those of PyMC."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, inlined, kernel
from annomodels.kernels.transforms import (
    half_normals,
    log_simplex,
    log_simplex_back,
    normals,
    partly_centred,
    partly_centred_back,
    state_likelihood,
)

# indices of the constants of the priors; the last is the constant of the log density
LOCATION, CODER, ITEM, CONSTANT = range(4)


@inlined
def fill_logits(logit: Array, effect: Array, points: Array, table: Array) -> None:
    """Fill `table` [row * labels + label, class * points + point] with log probabilities."""
    # logit and effect are [row, truth * contrast] and [truth * contrast], points [point, contrast];
    # the logit of the last label is 0
    n_points, contrasts = points.shape
    k = contrasts + 1
    x = np.empty(k)
    for j in range(len(logit)):
        for t in range(k):
            for m in range(n_points):
                top = x[contrasts] = 0.0
                for c in range(contrasts):
                    at = t * contrasts + c
                    x[c] = logit[j, at] + effect[at] * points[m, c]
                    top = max(top, x[c])
                total = 0.0
                for label in range(k):
                    total += math.exp(x[label] - top)
                total = top + math.log(total)
                for label in range(k):
                    table[j * k + label, t * n_points + m] = x[label] - total


@inlined
def logits_back(
    points: Array, table: Array, grad: Array, logit_grad: Array, effect_grad: Array
) -> None:
    """Add the gradient for the arguments of `fill_logits`; `grad` is that of its table."""
    n_points, contrasts = points.shape
    k = contrasts + 1
    for j in range(len(logit_grad)):
        for t in range(k):
            for m in range(n_points):
                s = t * n_points + m
                total = 0.0
                for label in range(k):
                    total += grad[j * k + label, s]
                for c in range(contrasts):
                    at = t * contrasts + c
                    g = grad[j * k + c, s] - total * math.exp(table[j * k + c, s])
                    logit_grad[j, at] += g
                    effect_grad[at] += g * points[m, c]


@kernel
def random_effects_density(
    x: Array,
    grad: Array,
    n_coders: int,
    prior: Array,
    alpha: Array,
    share: Array,
    points: Array,
    log_weights: Array,
    starts: Array,
    cell: Array,
    gold: Array,
    weight: Array,
) -> float:
    """Return the log density at unconstrained `x`, and fill `grad`."""
    # n_coders is 0 if coders are exchangeable; then item effects are added to the logits, otherwise
    # subtracted. alpha: pseudo-counts of the prevalence. share: degree of centering per coder.
    # points [point, contrast] and log_weights: quadrature. Unconstrained values are in the order of
    # the PyMC variables.
    k, n_points = len(alpha), len(points)
    size = k * (k - 1)
    grad[:] = 0.0
    value = prior[CONSTANT]
    log_pi, pi_grad = np.empty(k), alpha.copy()
    log_simplex(x[: k - 1], log_pi)
    for t in range(k):
        value += alpha[t] * log_pi[t]

    at = k - 1
    of_location = slice(at, at + size)
    value += normals(x[of_location], prior[LOCATION], grad[of_location])
    at += size
    of_coders = slice(at, at + (size if n_coders else 0))
    value += half_normals(x[of_coders], prior[CODER], grad[of_coders])
    at = of_coders.stop
    of_items = slice(at, at + size)
    value += half_normals(x[of_items], prior[ITEM], grad[of_items])
    of_logit = slice(of_items.stop, len(x))
    sign = -1.0 if n_coders else 1.0
    location, effect = x[of_location], sign * np.exp(x[of_items])
    logit = np.empty((max(n_coders, 1), size))
    scale = np.exp(x[of_coders])
    if n_coders:
        value += partly_centred(x[of_logit], share, location, scale, logit)
    else:
        logit[0] = location

    n_states = k * n_points
    log_share, truth = np.empty(n_states), np.empty(n_states, dtype=np.int64)
    for t in range(k):
        for m in range(n_points):
            log_share[t * n_points + m] = log_pi[t] + log_weights[m]
            truth[t * n_points + m] = t
    table = np.empty((len(logit) * k, n_states))
    fill_logits(logit, effect, points, table)
    share_grad, table_grad = np.zeros(n_states), np.zeros(table.shape)
    value += state_likelihood(
        starts, cell, gold, weight, truth, log_share, table, share_grad, table_grad
    )

    logit_grad, effect_grad = np.zeros(logit.shape), np.zeros(size)
    logits_back(points, table, table_grad, logit_grad, effect_grad)
    for t in range(k):
        for m in range(n_points):
            pi_grad[t] += share_grad[t * n_points + m]
    log_simplex_back(log_pi, pi_grad, grad[: k - 1])
    for n in range(size):
        grad[of_items.start + n] += effect_grad[n] * effect[n]
    if n_coders:
        partly_centred_back(
            x[of_logit], share, location, scale, logit_grad,
            grad[of_logit], grad[of_location], grad[of_coders],
        )  # fmt: skip
    else:
        for n in range(size):
            grad[of_location.start + n] += logit_grad[0, n]
    return float(value)
