"""Parameters given counts, for all models whose rows are Dirichlet given the truth.

A model says who its rows come from: `prior` [truth, label] holds the pseudo-counts of a row, fixed,
or with a `population` they are drawn anew each time. A population is (mean [truth, label],
concentration [truth], accuracy [1], scale, numbers): arrays that are updated in place, the prior of
the concentration as coefficients of its log density, and `numbers` = (strength of the prior of the
mean, the two Beta parameters of the common accuracy, whether that is estimated).
"""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel
from annomodels.kernels.dirichlet import draw_confusion, draw_prevalence
from annomodels.kernels.population import draw_accuracy, draw_population

Population = tuple[Array, Array, Array, Array, Array]


@inlined
def fill_anchor(accuracy: float, strength: float, anchor: Array) -> None:
    """Pseudo-counts of the population mean [truth, label]: `accuracy` of them on the diagonal."""
    n_classes = anchor.shape[0]
    anchor[:] = strength * (1.0 - accuracy) / max(n_classes - 1, 1)
    for k in range(n_classes):
        anchor[k, k] = strength * accuracy


@kernel
def draw_parameters(
    counts: Array,
    sizes: Array,
    prevalence: Array,
    prior: Array,
    population: Population | None,
    key: Key,
    iteration: int,
    log_prevalence: Array,
    logc: Array,
) -> None:
    """Draw population, prevalence and rows in place: a Gibbs step with the rows integrated out.

    `prevalence` holds the pseudo-counts of the classes; `prior` follows the population.
    """
    if population is not None:
        mean, concentration, accuracy, scale, numbers = population
        anchor = np.empty_like(mean)
        fill_anchor(accuracy[0], numbers[0], anchor)
        draw_population(counts, anchor, scale, 1, key, iteration, mean, concentration)
        if numbers[3] > 0:
            accuracy[0] = draw_accuracy(
                mean, numbers[1], numbers[2], numbers[0], key, iteration, accuracy[0]
            )
        for k in range(mean.shape[0]):
            for label in range(mean.shape[1]):
                prior[k, label] = concentration[k] * mean[k, label]
    draw_prevalence(sizes, prevalence, key, iteration, log_prevalence)
    draw_confusion(counts, prior, key, iteration, logc)


@inlined
def log_dirichlet_constant(alpha: Array) -> float:
    """Logarithm of the normalising constant of a Dirichlet density."""
    value, total = 0.0, 0.0
    for a in alpha:
        value -= math.lgamma(a)
        total += a
    return value + math.lgamma(total)


@kernel
def log_prior(
    prevalence: Array,
    prior: Array,
    population: Population | None,
    log_prevalence: Array,
    logc: Array,
) -> float:
    """Log prior density of prevalence, rows [coder, label, truth] and population."""
    n_rows, n_labels, n_classes = logc.shape
    value: float = log_dirichlet_constant(prevalence)
    for k in range(n_classes):
        value += (prevalence[k] - 1.0) * log_prevalence[k]
        value += n_rows * log_dirichlet_constant(prior[k])
    for j in range(n_rows):
        for label in range(n_labels):
            for k in range(n_classes):
                value += (prior[k, label] - 1.0) * logc[j, label, k]
    if population is not None:
        mean, concentration, accuracy, scale, numbers = population
        anchor = np.empty_like(mean)
        fill_anchor(accuracy[0], numbers[0], anchor)
        for k in range(n_classes):
            value += log_dirichlet_constant(anchor[k])
            for label in range(n_labels):
                value += (anchor[k, label] - 1.0) * math.log(mean[k, label])
            log_c = math.log(concentration[k])
            if concentration[k] < scale[3]:
                return -np.inf
            value += scale[0] + scale[1] * log_c + scale[2] * log_c * log_c
        if numbers[3] > 0:
            a, right, wrong = accuracy[0], numbers[1], numbers[2]
            value += (right - 1.0) * math.log(a) + (wrong - 1.0) * math.log1p(-a)
            value += math.lgamma(right + wrong) - math.lgamma(right) - math.lgamma(wrong)
    return value
