"""Draws of confusion matrices and prevalences given counts, and densities of Dirichlet and Beta."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined
from annomodels.kernels.random import CONFUSION, PREVALENCE, address, log_dirichlet


@inlined
def log_dirichlet_constant(alpha: Array) -> float:
    """Logarithm of the normalising constant of a Dirichlet density."""
    value, total = 0.0, 0.0
    for a in alpha:
        value -= math.lgamma(a)
        total += a
    return value + math.lgamma(total)


@inlined
def log_beta_density(x: float, a: float, b: float) -> float:
    """Log density of Beta(a, b)."""
    value = (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x)
    return value + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)


@inlined
def draw_confusion(counts: Array, alpha: Array, key: Key, iteration: int, out: Array) -> None:
    """Draw every coder's rows: theta[j, k] ~ Dirichlet(alpha[k] + counts[j, :, k])."""
    # counts and out are [coder, label, truth], alpha is [truth, label]; out gets logarithms
    n_coders, n_labels, n_classes = out.shape
    state = np.empty(1, dtype=np.uint64)
    pair = np.empty(2)
    shape = np.empty(n_labels)
    row = np.empty(n_labels)
    for j in range(n_coders):
        # one stream a coder: any order and any split of the coders over threads gives these draws
        state[0] = address(key, iteration, CONFUSION, j)
        for k in range(n_classes):
            for label in range(n_labels):
                shape[label] = alpha[k, label] + counts[j, label, k]
            log_dirichlet(state, pair, shape, row)
            for label in range(n_labels):
                out[j, label, k] = row[label]


@inlined
def draw_own(counts: Array, own: Array, key: Key, iteration: int, out: Array) -> None:
    """Draw again the rows of coders with their own pseudo-counts [row, truth, label], not 0."""
    n_labels, n_classes = out.shape[1], out.shape[2]
    state = np.empty(1, dtype=np.uint64)
    pair, shape, row = np.empty(2), np.empty(n_labels), np.empty(n_labels)
    for j in range(len(own)):
        if own[j, 0, 0] > 0.0:
            # the stream of the same coder once more: what it gave before is thrown away
            state[0] = address(key, iteration, CONFUSION, j)
            for k in range(n_classes):
                for label in range(n_labels):
                    shape[label] = own[j, k, label] + counts[j, label, k]
                log_dirichlet(state, pair, shape, row)
                for label in range(n_labels):
                    out[j, label, k] = row[label]


@inlined
def draw_prevalence(sizes: Array, alpha: Array, key: Key, iteration: int, out: Array) -> None:
    """Draw the prevalence: pi ~ Dirichlet(alpha + sizes); `out` gets logarithms."""
    state = np.empty(1, dtype=np.uint64)
    state[0] = address(key, iteration, PREVALENCE, 0)
    shape = np.empty(len(sizes))
    for k in range(len(sizes)):
        shape[k] = alpha[k] + sizes[k]
    log_dirichlet(state, np.empty(2), shape, out)
