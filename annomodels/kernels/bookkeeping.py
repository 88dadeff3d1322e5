"""What is computed of every kept draw, in one call each so that chains do not wait in Python."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, kernel


@kernel
def diagonal_leads(log_prevalence: Array, logc: Array, volume: Array) -> bool:
    """Whether the right label leads in all rows, or in all columns, of P(truth, label).

    No other assignment of the classes has more right labels then. `volume` [row] is the share of
    the labels that each matrix gave; `logc` is [row, label, truth].
    """
    n_rows, n_labels, n_classes = logc.shape
    table = np.zeros((n_classes, n_labels))
    for j in range(n_rows):
        for label in range(n_labels):
            for k in range(n_classes):
                table[k, label] += volume[j] * math.exp(logc[j, label, k] + log_prevalence[k])
    in_rows, in_columns = True, True
    for k in range(n_classes):
        for label in range(n_labels):
            in_rows = in_rows and table[k, k] >= table[k, label]
            in_columns = in_columns and table[label, label] >= table[k, label]
    return in_rows or in_columns


@kernel
def prior_logp(log_prevalence: Array, alpha_prevalence: Array, logc: Array, alpha: Array) -> float:
    """Log density of the prevalence and of all rows [row, label, truth], Dirichlet both.

    `alpha` holds the pseudo-counts of a matrix, [truth, label].
    """
    n_rows, n_labels, n_classes = logc.shape
    value = math.lgamma(alpha_prevalence.sum())
    for k in range(n_classes):
        value -= math.lgamma(alpha_prevalence[k])
        value += (alpha_prevalence[k] - 1.0) * log_prevalence[k]
        normaliser = math.lgamma(alpha[k].sum())
        for label in range(n_labels):
            normaliser -= math.lgamma(alpha[k, label])
            for j in range(n_rows):
                value += (alpha[k, label] - 1.0) * logc[j, label, k]
        value += n_rows * normaliser
    return value
