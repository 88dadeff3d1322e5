"""P(truth) of an item as a product of probabilities, without logarithms or exponentials."""

# Products of dozens of probabilities fit into double precision and take a third of the time of log
# sums, which is mostly spent on exp. If a product is too small, `passes` uses logarithms. Code for
# the common numbers of classes is unrolled: a loop over a variable number of classes takes 50 %
# longer. The functions after these are for statistics of draws and items: order of the classes,
# batch means, entropies.

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, kernel, melted

# A class whose product underflows is negligible next to a total of this size, so the total and all
# probabilities are exact up to rounding.
LEAST_TOTAL = 1e-200
# probability below which a class does not change an entropy in double precision
LEAST_SHARE = 1e-18


# Two to five classes stay in registers; with `p[k]` in memory each factor would be a load and a
# store, since the compiler cannot rule out that `p` and `table` overlap.
@melted
def _two(prevalence: Array, table: Array, cell: Array, lo: int, hi: int, p: Array) -> float:
    a, b = prevalence[0], prevalence[1]
    for n in range(lo, hi):
        at = cell[n]
        a *= table[at, 0]
        b *= table[at, 1]
    p[0], p[1] = a, b
    return float(a + b)


@melted
def _three(prevalence: Array, table: Array, cell: Array, lo: int, hi: int, p: Array) -> float:
    a, b, c = prevalence[0], prevalence[1], prevalence[2]
    for n in range(lo, hi):
        at = cell[n]
        a *= table[at, 0]
        b *= table[at, 1]
        c *= table[at, 2]
    p[0], p[1], p[2] = a, b, c
    return float(a + b + c)


@melted
def _four(prevalence: Array, table: Array, cell: Array, lo: int, hi: int, p: Array) -> float:
    a, b, c, d = prevalence[0], prevalence[1], prevalence[2], prevalence[3]
    for n in range(lo, hi):
        at = cell[n]
        a *= table[at, 0]
        b *= table[at, 1]
        c *= table[at, 2]
        d *= table[at, 3]
    p[0], p[1], p[2], p[3] = a, b, c, d
    return float(a + b + c + d)


@melted
def _five(prevalence: Array, table: Array, cell: Array, lo: int, hi: int, p: Array) -> float:
    a, b, c, d, e = prevalence[0], prevalence[1], prevalence[2], prevalence[3], prevalence[4]
    for n in range(lo, hi):
        at = cell[n]
        a *= table[at, 0]
        b *= table[at, 1]
        c *= table[at, 2]
        d *= table[at, 3]
        e *= table[at, 4]
    p[0], p[1], p[2], p[3], p[4] = a, b, c, d, e
    return float(a + b + c + d + e)


@melted
def _any(prevalence: Array, table: Array, cell: Array, lo: int, hi: int, p: Array) -> float:
    n_classes = len(p)
    for k in range(n_classes):
        p[k] = prevalence[k]
    for n in range(lo, hi):
        at = cell[n]
        for k in range(n_classes):
            p[k] *= table[at, k]
    total = 0.0
    for k in range(n_classes):
        total += p[k]
    return total


@melted
def multiply(prevalence: Array, table: Array, cell: Array, lo: int, hi: int, p: Array) -> float:
    """Fill `p` with P(labels lo..hi, truth), and return the sum. `table` is [cell, truth]."""
    n_classes = len(p)
    if n_classes == 2:
        total = _two(prevalence, table, cell, lo, hi, p)
    elif n_classes == 3:
        total = _three(prevalence, table, cell, lo, hi, p)
    elif n_classes == 4:
        total = _four(prevalence, table, cell, lo, hi, p)
    elif n_classes == 5:
        total = _five(prevalence, table, cell, lo, hi, p)
    else:
        total = _any(prevalence, table, cell, lo, hi, p)
    return float(total)


@melted
def add(p: Array, cell: Array, lo: int, hi: int, added: Array) -> None:
    """Add `p` [truth] to the rows of `added` [cell, truth] of labels lo..hi."""
    n_classes = len(p)
    if n_classes == 2:
        a, b = p[0], p[1]
        for n in range(lo, hi):
            at = cell[n]
            added[at, 0] += a
            added[at, 1] += b
    elif n_classes == 3:
        a, b, c = p[0], p[1], p[2]
        for n in range(lo, hi):
            at = cell[n]
            added[at, 0] += a
            added[at, 1] += b
            added[at, 2] += c
    elif n_classes == 4:
        a, b, c, d = p[0], p[1], p[2], p[3]
        for n in range(lo, hi):
            at = cell[n]
            added[at, 0] += a
            added[at, 1] += b
            added[at, 2] += c
            added[at, 3] += d
    elif n_classes == 5:
        a, b, c, d, e = p[0], p[1], p[2], p[3], p[4]
        for n in range(lo, hi):
            at = cell[n]
            added[at, 0] += a
            added[at, 1] += b
            added[at, 2] += c
            added[at, 3] += d
            added[at, 4] += e
    else:
        for n in range(lo, hi):
            at = cell[n]
            for k in range(n_classes):
                added[at, k] += p[k]


@melted
def pick(p: Array, total: float, u: float) -> int:
    """Draw a class with probabilities proportional to `p`, given a uniform number `u`."""
    mark = u * total if u < 1.0 else 0.5 * total  # rounding may give u = 1
    # branch-free: the class is the number of thresholds up to the mark
    truth = 0
    reached = 0.0
    for k in range(len(p) - 1):
        reached += p[k]
        truth += int(mark >= reached)
    return truth


@melted
def entropy_of(p: Array) -> float:
    """Return the entropy of probabilities in nats."""
    entropy = 0.0
    for k in range(len(p)):
        if p[k] > LEAST_SHARE:
            entropy -= p[k] * math.log(p[k])
    return entropy


@kernel
def diagonal_leads(log_prevalence: Array, logc: Array, volume: Array) -> bool:
    """Return True if the diagonal of P(truth, label) leads in all rows or in all columns."""
    # Then no other assignment of the classes has more right labels. volume [row] is the proportion
    # of the labels from each matrix; logc is [row, label, truth]. Labels that are no classes are
    # never right.
    n_rows, _, n_classes = logc.shape
    table = np.empty((n_classes, n_classes))
    for k in range(n_classes):
        for label in range(n_classes):
            table[k, label] = 0.0
    for j in range(n_rows):
        for label in range(n_classes):
            for k in range(n_classes):
                table[k, label] += volume[j] * math.exp(logc[j, label, k] + log_prevalence[k])
    # Sufficient, not necessary: an assignment takes one cell of each row and each column, so none
    # beats the diagonal if every row, or every column, has its largest cell there.
    in_rows, in_columns = True, True
    for k in range(n_classes):
        for label in range(n_classes):
            in_rows = in_rows and table[k, k] >= table[k, label]
            in_columns = in_columns and table[label, label] >= table[k, label]
    return in_rows or in_columns


@kernel
def close_batch(batch: Array, length: int, p_sum: Array, p_square: Array) -> None:
    """Add the mean of a batch of draws to the running sums, for Monte Carlo errors."""
    for i in range(len(batch)):
        for k in range(batch.shape[1]):
            # unlike successive draws, batch means are hardly correlated: their spread is the error
            mean = batch[i, k] / length
            p_sum[i, k] += mean
            p_square[i, k] += mean * mean
            batch[i, k] = 0.0


@kernel
def entropies(p: Array) -> Array:
    """Return the entropy of each item's class probabilities [item, truth], in nats."""
    found = np.empty(len(p))
    for i in range(len(p)):
        found[i] = entropy_of(p[i])
    return found
