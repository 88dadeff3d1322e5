"""One pass over the items: parameters in, additive statistics out.

The table `logc` holds log P(label | truth, coder) as [coder, label, truth], so that the K numbers
an annotation needs lie side by side. Counts come out in the same layout and add over partitions.
"""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel
from annomodels.kernels.random import TRUTH, uniform_at

# log odds below which a class cannot change a sum in double precision
NEGLIGIBLE = -40.0


@inlined
def weigh(
    starts: Array,
    coder: Array,
    label: Array,
    gold: Array,
    log_prevalence: Array,
    logc: Array,
    i: int,
    p: Array,
) -> tuple[float, float]:
    """Fill `p` with P(truth | labels of item i).

    Gives the log probability of the labels of the item and the entropy of `p` in nats.
    """
    n_classes = p.shape[0]
    for k in range(n_classes):
        p[k] = log_prevalence[k]
    for n in range(starts[i], starts[i + 1]):
        j, y = coder[n], label[n]
        for k in range(n_classes):
            p[k] += logc[j, y, k]
    if gold[i] >= 0:
        known = p[gold[i]]
        for k in range(n_classes):
            p[k] = 0.0
        p[gold[i]] = 1.0
        return float(known), 0.0
    top = p[0]
    for k in range(1, n_classes):
        top = max(top, p[k])
    total = 0.0
    weighted = 0.0
    for k in range(n_classes):
        x = p[k] - top
        if x > NEGLIGIBLE:
            p[k] = math.exp(x)
            total += p[k]
            weighted += p[k] * x
        else:
            p[k] = 0.0
    for k in range(n_classes):
        p[k] /= total
    log_total = math.log(total)
    return top + log_total, log_total - weighted / total


@kernel
def soft_pass(
    starts: Array,
    coder: Array,
    label: Array,
    gold: Array,
    weight: Array,
    log_prevalence: Array,
    logc: Array,
    lo: int,
    hi: int,
    counts: Array,
    sizes: Array,
    p_out: Array,
) -> float:
    """Count expected labels (the E-step of EM) of items lo..hi; gives their log likelihood.

    Each item counts `weight` times; `counts` [coder, label, truth] and `sizes` [truth] are added
    to, `p_out` [item, truth] is written.
    """
    n_classes = log_prevalence.shape[0]
    p = np.empty(n_classes)
    total = 0.0
    for i in range(lo, hi):
        w = weight[i]
        found, _ = weigh(starts, coder, label, gold, log_prevalence, logc, i, p)
        total += w * found
        for k in range(n_classes):
            p_out[i, k] = p[k]
            sizes[k] += w * p[k]
        for n in range(starts[i], starts[i + 1]):
            j, y = coder[n], label[n]
            for k in range(n_classes):
                counts[j, y, k] += w * p[k]
    return total


@kernel
def sampled_pass(
    starts: Array,
    coder: Array,
    label: Array,
    gold: Array,
    log_prevalence: Array,
    logc: Array,
    key: Key,
    iteration: int,
    order: Array,
    keep: bool,
    lo: int,
    hi: int,
    counts: Array,
    sizes: Array,
    p_sum: Array,
    entropy_sum: Array,
) -> float:
    """Draw the truth of items lo..hi and count (a Gibbs step); gives their log likelihood.

    With `keep`, P(truth) and its entropy are added to `p_sum` and `entropy_sum`, class k standing
    at place `order[k]`.
    """
    n_classes = log_prevalence.shape[0]
    p = np.empty(n_classes)
    total = 0.0
    for i in range(lo, hi):
        found, entropy = weigh(starts, coder, label, gold, log_prevalence, logc, i, p)
        total += found
        u = uniform_at(key, iteration, TRUTH, i)
        truth = n_classes - 1
        cumulated = 0.0
        for k in range(n_classes):
            cumulated += p[k]
            if u < cumulated:
                truth = k
                break
        while p[truth] == 0.0:  # rounding may leave u above the last sum
            truth -= 1
        sizes[truth] += 1
        for n in range(starts[i], starts[i + 1]):
            counts[coder[n], label[n], truth] += 1
        if keep:
            for k in range(n_classes):
                p_sum[i, order[k]] += p[k]
            entropy_sum[i] += entropy
    return total


@kernel
def truth_pass(
    starts: Array,
    coder: Array,
    label: Array,
    gold: Array,
    log_prevalence: Array,
    logc: Array,
    lo: int,
    hi: int,
    p_sum: Array,
    entropy_sum: Array,
) -> float:
    """Add P(truth) and its entropy under one draw of the parameters; gives the log likelihood."""
    n_classes = log_prevalence.shape[0]
    p = np.empty(n_classes)
    total = 0.0
    for i in range(lo, hi):
        found, entropy = weigh(starts, coder, label, gold, log_prevalence, logc, i, p)
        total += found
        for k in range(n_classes):
            p_sum[i, k] += p[k]
        entropy_sum[i] += entropy
    return total


@kernel
def close_batch(batch: Array, length: int, p_sum: Array, p_square: Array, lo: int, hi: int) -> None:
    """Move the mean of a batch of draws into the running sums, for Monte Carlo errors."""
    for i in range(lo, hi):
        for k in range(batch.shape[1]):
            mean = batch[i, k] / length
            p_sum[i, k] += mean
            p_square[i, k] += mean * mean
            batch[i, k] = 0.0
