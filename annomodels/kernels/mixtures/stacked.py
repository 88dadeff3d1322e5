"""Passes of a stack: its mode, the correlation of errors, and truths with their counts."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, kernel
from annomodels.kernels.random import TRUTH, uniform_at

# integer units per label, and per pair of labels, in which expected counts are added
UNIT, PAIR = 2.0**30, 2.0**20


@kernel
def stacked_truths(
    starts: Array,
    cell: Array,
    gold: Array,
    log_q: Array,
    sharpness: float,
    unknown: Array,
    tilt: Array,
    best: Array,
    key: Key,
    iteration: int,
    first: int,
    counts: Array,
    sizes: Array,
) -> int:
    """Draw and count the truth of each item given the layer of a stack."""
    # log_q [item, truth] is log P(truth) of the mixture. Item 0 has the random numbers of item
    # `first` of the source. Adds to counts [cell, truth] and sizes [truth]. Returns the number of
    # items of unknown truth whose best class differs from the drawn one.
    n_classes = log_q.shape[1]
    p = np.empty(n_classes)
    informed = 1.0 - unknown.sum()
    wrong = 0
    for i in range(gold.shape[0]):
        if gold[i] >= 0:
            truth = np.int64(gold[i])
        else:
            top = -np.inf
            for k in range(n_classes):
                p[k] = sharpness * log_q[i, k] + tilt[k]
                top = max(top, p[k])
            total = 0.0
            for k in range(n_classes):
                p[k] = math.exp(p[k] - top)
                total += p[k]
            left = uniform_at(key, iteration, TRUTH, first + i)
            truth = np.int64(n_classes - 1)
            for k in range(n_classes):
                left -= informed * p[k] / total + unknown[k]
                if left < 0.0:
                    truth = np.int64(k)
                    break
            wrong += truth != best[i]
        sizes[truth] += 1
        for n in range(starts[i], starts[i + 1]):
            counts[cell[n], truth] += 1
    return wrong


@kernel
def weighed_pass(
    starts: Array,
    cell: Array,
    gold: Array,
    log_rows: Array,
    log_prevalence: Array,
    correlation: float,
    log_p: Array,
    counts: Array,
    sizes: Array,
) -> None:
    """Compute log P(truth) of each item from weighted labels, and add expected counts."""
    # Each of n labels has the weight 1 / (1 + correlation (n - 1)). log_rows is [cell, truth]; if
    # empty, P(truth) comes from smoothed vote shares. Items with known truth count at it, while
    # log_p [item, truth] depends on labels only. Adds to counts [cell, truth] and sizes [truth] in
    # integer units, so that their sums do not depend on the order.
    n_classes = sizes.shape[0]
    p = np.empty(n_classes)
    for i in range(gold.shape[0]):
        begin, end = starts[i], starts[i + 1]
        weight = 1.0 / (1.0 + correlation * max(end - begin - 1, 0))
        if len(log_rows) == 0:
            for k in range(n_classes):
                p[k] = 0.5
            for n in range(begin, end):
                p[np.int64(cell[n]) % n_classes] += 1.0
            for k in range(n_classes):
                p[k] = math.log(p[k])
        else:
            for k in range(n_classes):
                p[k] = log_prevalence[k]
            for n in range(begin, end):
                for k in range(n_classes):
                    p[k] += weight * log_rows[cell[n], k]
        top = -np.inf
        for k in range(n_classes):
            top = max(top, p[k])
        total = 0.0
        for k in range(n_classes):
            total += math.exp(p[k] - top)
        whole = top + math.log(total)
        for k in range(n_classes):
            log_p[i, k] = p[k] - whole
            p[k] = math.exp(log_p[i, k])
        if gold[i] >= 0:
            for k in range(n_classes):
                p[k] = 1.0 if k == gold[i] else 0.0
        for k in range(n_classes):
            sizes[k] += round(p[k] * UNIT)
            p[k] *= weight * UNIT
        for n in range(begin, end):
            for k in range(n_classes):
                counts[cell[n], k] += round(p[k])


@kernel
def correlated_errors(
    starts: Array, cell: Array, gold: Array, right: Array, log_p: Array, sums: Array
) -> None:
    """Sum products of the errors of label pairs of an item, given its truth."""
    # right [row, truth] is the probability that a coder gives the true label. Adds to sums, in
    # integer units: products of centered errors, products of their standard deviations, and the
    # variance of the first sum for independent errors.
    n_classes = right.shape[1]
    for i in range(gold.shape[0]):
        for k in range(n_classes):
            p = math.exp(log_p[i, k])
            if gold[i] >= 0:
                p = 1.0 if k == gold[i] else 0.0
            if p < 1e-12:
                continue
            of_error, squares, deviations, variance, fourth = 0.0, 0.0, 0.0, 0.0, 0.0
            for n in range(starts[i], starts[i + 1]):
                c = np.int64(cell[n])
                a = right[c // n_classes, k]
                error = (1.0 if c % n_classes == k else 0.0) - a
                v = a * (1.0 - a)
                of_error += error
                squares += error * error
                deviations += math.sqrt(v)
                variance += v
                fourth += v * v
            sums[0] += round(p * (of_error * of_error - squares) * PAIR)
            sums[1] += round(p * (deviations * deviations - variance) * PAIR)
            sums[2] += round(p * 2.0 * (variance * variance - fourth) * PAIR)
