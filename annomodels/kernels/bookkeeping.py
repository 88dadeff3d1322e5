"""What is noted of draws and of items: whether classes stand in order, batch means, entropies."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, kernel
from annomodels.kernels.products import entropy_of


@kernel
def diagonal_leads(log_prevalence: Array, logc: Array, volume: Array) -> bool:
    """Whether the right label leads in all rows, or in all columns, of P(truth, label).

    No other assignment of the classes has more right labels then. `volume` [row] is the share of
    the labels that each matrix gave; `logc` is [row, label, truth].
    """
    n_rows, n_labels, n_classes = logc.shape
    table = np.empty((n_classes, n_labels))
    for k in range(n_classes):
        for label in range(n_labels):
            table[k, label] = 0.0
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
def close_batch(batch: Array, length: int, p_sum: Array, p_square: Array, lo: int, hi: int) -> None:
    """Move the mean of a batch of draws into the running sums, for Monte Carlo errors."""
    for i in range(lo, hi):
        for k in range(batch.shape[1]):
            mean = batch[i, k] / length
            p_sum[i, k] += mean
            p_square[i, k] += mean * mean
            batch[i, k] = 0.0


@kernel
def entropies(p: Array) -> Array:
    """Entropy of each item's class probabilities [item, truth], in nats."""
    found = np.empty(len(p))
    for i in range(len(p)):
        found[i] = entropy_of(p[i])
    return found
