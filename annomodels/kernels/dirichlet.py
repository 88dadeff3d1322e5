"""Draws of confusion matrices and prevalences given counts."""

from __future__ import annotations

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined
from annomodels.kernels.random import CONFUSION, PREVALENCE, address, log_dirichlet


@inlined
def draw_confusion(counts: Array, alpha: Array, key: Key, iteration: int, out: Array) -> None:
    """Draw every coder's rows: theta[j, k] ~ Dirichlet(alpha[k] + counts[j, :, k])."""
    # counts and out are [coder, label, truth], alpha is [truth, label]; out contains logarithms
    n_coders, n_labels, n_classes = out.shape
    state = np.empty(1, dtype=np.uint64)
    pair = np.empty(2)
    shape = np.empty(n_labels)
    row = np.empty(n_labels)
    for j in range(n_coders):
        # one stream per coder: draws do not depend on the order of coders or their threads
        state[0] = address(key, iteration, CONFUSION, j)
        for k in range(n_classes):
            for label in range(n_labels):
                shape[label] = alpha[k, label] + counts[j, label, k]
            log_dirichlet(state, pair, shape, row)
            for label in range(n_labels):
                out[j, label, k] = row[label]


@inlined
def draw_prevalence(sizes: Array, alpha: Array, key: Key, iteration: int, out: Array) -> None:
    """Draw the prevalence: pi ~ Dirichlet(alpha + sizes); fill `out` with logarithms."""
    state = np.empty(1, dtype=np.uint64)
    state[0] = address(key, iteration, PREVALENCE, 0)
    shape = np.empty(len(sizes))
    for k in range(len(sizes)):
        shape[k] = alpha[k] + sizes[k]
    log_dirichlet(state, np.empty(2), shape, out)
