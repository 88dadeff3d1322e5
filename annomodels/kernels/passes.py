"""One pass over the items: parameters in, additive statistics out."""

# Tables hold P(label | truth, coder) as [coder, label, truth], so that the K numbers an annotation
# needs are adjacent: cell is the place coder * labels + label of an annotation there. Counts come
# out in the same layout and add over partitions.
# The lines that weigh an item are repeated in each pass: a function of them, even a melted one,
# counts references to its arrays for every item, which takes as long as the rest.

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel, melted
from annomodels.kernels.products import (
    LEAST_TOTAL,
    Chances,
    add,
    entropy_of,
    multiply,
    pick,
)
from annomodels.kernels.random import TRUTH, uniform_at

# log odds below which a class cannot change a sum in double precision
NEGLIGIBLE = -40.0


def chances(log_prevalence: Array, logc: Array) -> Chances:
    """Return the parameters that a pass takes."""
    return log_prevalence, logc, np.exp(log_prevalence), np.exp(logc)


@inlined
def weigh(
    starts: Array, cell: Array, gold: Array, log_prevalence: Array, table: Array, i: int, p: Array
) -> float:
    """Fill `p` with P(truth | labels of item i); gives the log probability of the labels."""
    # table is log P(label | truth, coder) as [cell, truth]
    n_classes = p.shape[0]
    for k in range(n_classes):
        p[k] = log_prevalence[k]
    # labels outside, classes inside: the K numbers of a cell lie side by side in one cache line
    for n in range(starts[i], starts[i + 1]):
        c = cell[n]
        for k in range(n_classes):
            p[k] += table[c, k]
    if gold[i] >= 0:
        # a known truth: its log joint probability is the evidence, and nothing is left to sum
        known = p[gold[i]]
        for k in range(n_classes):
            p[k] = 0.0
        p[gold[i]] = 1.0
        return float(known)
    # the largest term taken out, so that the sum neither overflows nor vanishes
    top = p[0]
    for k in range(1, n_classes):
        top = max(top, p[k])
    total = 0.0
    for k in range(n_classes):
        x = p[k] - top
        p[k] = math.exp(x) if x > NEGLIGIBLE else 0.0
        total += p[k]
    for k in range(n_classes):
        p[k] /= total
    return float(top + math.log(total))


@melted
def by_cell(chances: Chances) -> Chances:
    """Parameters with their tables as [cell, truth]."""
    log_prevalence, logc, prevalence, rows = chances
    k = len(prevalence)
    return log_prevalence, logc.reshape(-1, k), prevalence, rows.reshape(-1, k)


@kernel
def soft_pass(
    starts: Array,
    cell: Array,
    gold: Array,
    weight: Array,
    chances: Chances,
    lo: int,
    hi: int,
    counts: Array,
    sizes: Array,
    p_out: Array,
) -> float:
    """Count expected labels (the E-step of EM) of items lo..hi; gives their log likelihood."""
    # each item counts weight times; counts [coder, label, truth] and sizes [truth] are added to,
    # p_out [item, truth] is written unless it is empty
    n_classes = len(sizes)
    added = counts.reshape(-1, n_classes)
    p = np.empty(n_classes)
    log_prevalence, log_table, prevalence, table = by_cell(chances)
    log_likelihood = 0.0
    for i in range(lo, hi):
        w = weight[i]
        total = multiply(prevalence, table, cell, starts[i], starts[i + 1], p)
        if total >= LEAST_TOTAL and gold[i] < 0:
            found = math.log(total)
        else:
            found = weigh(starts, cell, gold, log_prevalence, log_table, i, p)
            total = 1.0
        log_likelihood += w * found
        if len(p_out) > 0:
            for k in range(n_classes):
                p_out[i, k] = p[k] / total
        # P(labels, truth) w / P(labels): normalised and weighted in one pass
        w /= total
        for k in range(n_classes):
            p[k] *= w
            sizes[k] += p[k]
        add(p, cell, starts[i], starts[i + 1], added)
    return log_likelihood


def soft(
    arrays: Sequence[Array], weight: Array, n_rows: int, given: Chances, items: bool = True
) -> tuple[Array, Array, Array, float]:
    """E-step: expected counts, sizes, class probabilities if wanted, and the log likelihood."""
    k, n_items = len(given[0]), len(weight)
    counts, sizes = np.zeros((n_rows, k, k)), np.zeros(k)
    p_truth = np.empty((n_items if items else 0, k))
    found = soft_pass(*arrays, weight, given, 0, n_items, counts, sizes, p_truth)
    return counts, sizes, p_truth, float(found)


@kernel
def sampled_pass(
    starts: Array,
    cell: Array,
    gold: Array,
    chances: Chances,
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
    """Draw the truth of items lo..hi and count (a Gibbs step); gives their log likelihood."""
    # with keep, P(truth) and its entropy are added to p_sum and entropy_sum, class k at place
    # order[k]; item 0 is item first of the whole, to which random numbers belong
    n_classes = len(sizes)
    added = counts.reshape(-1, n_classes)
    p = np.empty(n_classes)
    log_prevalence, log_table, prevalence, table = by_cell(chances)
    log_likelihood = 0.0
    for i in range(lo, hi):
        # by the item's place in the whole, so that blocks and threads draw what one pass would
        u = uniform_at(key, iteration, TRUTH, first + i)
        total = multiply(prevalence, table, cell, starts[i], starts[i + 1], p)
        if total >= LEAST_TOTAL and gold[i] < 0:
            found = math.log(total)
        else:
            found = weigh(starts, cell, gold, log_prevalence, log_table, i, p)
            total = 1.0
        truth = pick(p, total, u)
        log_likelihood += found
        # whole numbers: sums of them are exact in any order, so partitions add up bit for bit
        sizes[truth] += 1
        for n in range(starts[i], starts[i + 1]):
            added[cell[n], truth] += 1
        if keep:
            for k in range(n_classes):
                p[k] /= total
                p_sum[i, order[k]] += p[k]
            entropy_sum[i] += entropy_of(p)
    return log_likelihood


@kernel
def truth_pass(
    starts: Array,
    cell: Array,
    gold: Array,
    chances: Chances,
    lo: int,
    hi: int,
    p_sum: Array,
    entropy_sum: Array,
) -> float:
    """Add P(truth) and its entropy under one draw of the parameters; gives the log likelihood."""
    n_classes = len(chances[0])
    p = np.empty(n_classes)
    log_prevalence, log_table, prevalence, table = by_cell(chances)
    log_likelihood = 0.0
    for i in range(lo, hi):
        total = multiply(prevalence, table, cell, starts[i], starts[i + 1], p)
        if total >= LEAST_TOTAL and gold[i] < 0:
            found = math.log(total)
        else:
            found = weigh(starts, cell, gold, log_prevalence, log_table, i, p)
            total = 1.0
        log_likelihood += found
        for k in range(n_classes):
            p[k] /= total
            p_sum[i, k] += p[k]
        entropy_sum[i] += entropy_of(p)
    return log_likelihood
