"""One pass over the items: parameters in, additive statistics out.

The table `logc` holds log P(label | truth, coder) as [coder, label, truth], so that the K numbers
an annotation needs lie side by side: `cell` is the place coder * labels + label of an annotation
there. Counts come out in the same layout and add over partitions.
"""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel, melted
from annomodels.kernels.random import TRUTH, uniform_at
from annomodels.kernels.registers import weigh_five, weigh_four, weigh_three

# log odds below which a class cannot change a sum in double precision
NEGLIGIBLE = -40.0


@inlined
def weigh(
    starts: Array, cell: Array, gold: Array, log_prevalence: Array, table: Array, i: int, p: Array
) -> tuple[float, float]:
    """Fill `p` with P(truth | labels of item i); `table` is `logc` as [cell, truth].

    Gives the log probability of the labels of the item and the entropy of `p` in nats.
    """
    n_classes = p.shape[0]
    for k in range(n_classes):
        p[k] = log_prevalence[k]
    for n in range(starts[i], starts[i + 1]):
        c = cell[n]
        for k in range(n_classes):
            p[k] += table[c, k]
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


@melted
def weigh_two(
    log_prevalence: Array,
    table: Array,
    cell: Array,
    lo: int,
    hi: int,
    u: float,
    p: Array,
) -> tuple[float, float, int]:
    """Do the same for labels lo..hi of an item of two classes in registers, and draw one."""
    first, second = log_prevalence[0], log_prevalence[1]
    for n in range(lo, hi):
        c = cell[n]
        first += table[c, 0]
        second += table[c, 1]
    gap = abs(first - second)
    odds = math.exp(-gap) if gap < -NEGLIGIBLE else 0.0
    small = odds / (1.0 + odds)
    log_total = math.log1p(odds)
    if first >= second:
        p[0], p[1] = 1.0 - small, small
    else:
        p[0], p[1] = small, 1.0 - small
    truth = int(u >= p[0])
    if p[truth] == 0.0:  # rounding may make the number one
        truth = 1 - truth
    entropy = log_total + small * gap if odds > 0.0 else 0.0
    return max(first, second) + log_total, entropy, truth


@melted
def draw_truth(
    starts: Array,
    cell: Array,
    gold: Array,
    log_prevalence: Array,
    table: Array,
    i: int,
    u: float,
    keep: bool,
    p: Array,
) -> tuple[float, float, int]:
    """Draw the class of item i by the uniform number `u`; see `weigh`.

    Gives the log probability of the labels, the entropy of P(truth) in nats and the class. `p` is
    P(truth) with `keep`, and room for it without.
    """
    n_classes = p.shape[0]
    written_out = gold[i] < 0 and 2 <= n_classes <= 5
    lo, hi = starts[i], starts[i + 1]
    if written_out and n_classes == 2:
        found, entropy, truth = weigh_two(log_prevalence, table, cell, lo, hi, u, p)
    elif written_out and n_classes == 3:
        found, entropy, truth = weigh_three(log_prevalence, table, cell, lo, hi, u, keep, p)
    elif written_out and n_classes == 4:
        found, entropy, truth = weigh_four(log_prevalence, table, cell, lo, hi, u, keep, p)
    elif written_out:
        found, entropy, truth = weigh_five(log_prevalence, table, cell, lo, hi, u, keep, p)
    else:
        found, entropy = weigh(starts, cell, gold, log_prevalence, table, i, p)
        truth = n_classes - 1
        cumulated = 0.0
        for k in range(n_classes):
            cumulated += p[k]
            if u < cumulated:
                truth = k
                break
        while p[truth] == 0.0:  # rounding may leave u above the last sum
            truth -= 1
    return found, entropy, truth


@kernel
def soft_pass(
    starts: Array,
    cell: Array,
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
    to, `p_out` [item, truth] is written unless it is empty.
    """
    n_classes = log_prevalence.shape[0]
    table, added = logc.reshape(-1, n_classes), counts.reshape(-1, n_classes)
    p = np.empty(n_classes)
    total = 0.0
    for i in range(lo, hi):
        w = weight[i]
        found, _, _ = draw_truth(starts, cell, gold, log_prevalence, table, i, 0.0, True, p)
        total += w * found
        if len(p_out) > 0:
            for k in range(n_classes):
                p_out[i, k] = p[k]
        for k in range(n_classes):
            p[k] *= w
            sizes[k] += p[k]
        for n in range(starts[i], starts[i + 1]):
            c = cell[n]
            for k in range(n_classes):
                added[c, k] += p[k]
    return total


@kernel
def sampled_pass(
    starts: Array,
    cell: Array,
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
    first: int = 0,
) -> float:
    """Draw the truth of items lo..hi and count (a Gibbs step); gives their log likelihood.

    With `keep`, P(truth) and its entropy are added to `p_sum` and `entropy_sum`, class k standing
    at place `order[k]`. Item 0 is item `first` of the whole, to which random numbers belong.
    """
    n_classes = log_prevalence.shape[0]
    table, added = logc.reshape(-1, n_classes), counts.reshape(-1, n_classes)
    p = np.empty(n_classes)
    total = 0.0
    for i in range(lo, hi):
        u = uniform_at(key, iteration, TRUTH, first + i)
        found, entropy, truth = draw_truth(starts, cell, gold, log_prevalence, table, i, u, keep, p)
        total += found
        sizes[truth] += 1
        for n in range(starts[i], starts[i + 1]):
            added[cell[n], truth] += 1
        if keep:
            for k in range(n_classes):
                p_sum[i, order[k]] += p[k]
            entropy_sum[i] += entropy
    return total


@kernel
def truth_pass(
    starts: Array,
    cell: Array,
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
    table = logc.reshape(-1, n_classes)
    p = np.empty(n_classes)
    total = 0.0
    for i in range(lo, hi):
        found, entropy, _ = draw_truth(starts, cell, gold, log_prevalence, table, i, 0.0, True, p)
        total += found
        for k in range(n_classes):
            p_sum[i, k] += p[k]
        entropy_sum[i] += entropy
    return total
