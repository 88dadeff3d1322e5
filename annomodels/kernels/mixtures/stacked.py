"""Truths drawn from a stack, and what follows from them for the coders."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, kernel
from annomodels.kernels.random import TRUTH, uniform_at


@kernel
def stacked_truths(
    starts: Array,
    cell: Array,
    gold: Array,
    log_q: Array,
    sharpness: Array,
    unknown: float,
    tilt: Array,
    best: Array,
    key: Key,
    iteration: int,
    first: int,
    counts: Array,
    sizes: Array,
) -> int:
    """Draw the truth of every item given the layer of a stack, and count."""
    # log_q [item, 2, truth] and sharpness [2] are those of its two mixtures. Random numbers are
    # those of item first and the items after it. Adds to counts [cell, truth] and sizes [truth],
    # which begin at zero, and gives the number of items of unknown truth whose best class was not
    # the one drawn.
    n_classes = log_q.shape[2]
    p = np.empty(n_classes)
    wrong = 0
    for i in range(gold.shape[0]):
        if gold[i] >= 0:
            truth = np.int64(gold[i])
        else:
            top = -np.inf
            for k in range(n_classes):
                p[k] = sharpness[0] * log_q[i, 0, k] + sharpness[1] * log_q[i, 1, k] + tilt[k]
                top = max(top, p[k])
            total = 0.0
            for k in range(n_classes):
                p[k] = math.exp(p[k] - top)
                total += p[k]
            left = uniform_at(key, iteration, TRUTH, first + i)
            truth = np.int64(n_classes - 1)
            for k in range(n_classes):
                left -= (1.0 - unknown) * p[k] / total + unknown / n_classes
                if left < 0.0:
                    truth = np.int64(k)
                    break
            wrong += truth != best[i]
        sizes[truth] += 1
        for n in range(starts[i], starts[i + 1]):
            counts[cell[n], truth] += 1
    return wrong
