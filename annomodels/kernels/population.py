"""Slice steps for the population of coders, with confusion matrices integrated out."""

# Row k of the population has a mean m (on the simplex) and a concentration c; the rows of the
# coders are Dirichlet(c m) and their counts Dirichlet-multinomial. The sum over coders of log
# Gamma(a + n) - log Gamma(a) is the sum over i of (number of coders with n > i) log(a + i), so the
# cost does not depend on the number of coders (Minka 2000).

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel
from annomodels.kernels.random import POPULATION, address, slice_step

# largest count per coder in a tally; larger counts are listed individually
CAP = 256
# limit of products: one more factor, at most exp(30) + CAP, does not overflow
MOST_PRODUCT = 1e280
# indices of `scale`: the log density of a concentration c is CONSTANT + LINEAR log c + SQUARE
# (log c)^2, and -inf below LEAST
CONSTANT, LINEAR, SQUARE, LEAST = range(4)
# initial widths of the slices: posteriors of log-ratios are narrower than those of log c
WIDTH_MEAN, WIDTH_SCALE = 0.4, 1.0


@inlined
def concentration_density(scale: Array, log_c: float) -> float:
    """Return the log prior density of a concentration, given its logarithm."""
    return float(scale[CONSTANT] + scale[LINEAR] * log_c + scale[SQUARE] * log_c * log_c)


@inlined
def enter(n: int, place: int, above: Array, high: Array, n_high: Array) -> None:
    """Add a coder with `n` labels of one kind to the tally."""
    if n > 0:
        above[place, min(n, CAP) - 1] += 1.0
    if n > CAP:
        high[place, n_high[place]] = n
        n_high[place] += 1


@kernel
def tally(
    counts: Array, member: Array, group: int, k: int, above: Array, high: Array, n_high: Array
) -> int:
    """Count the coders of a group with more than i labels in row k; return the range of i."""
    # above [label + 1, CAP] is overwritten, its last row with coder totals; counts over CAP are
    # written to the first n_high elements of high [label + 1, coder]
    n_coders, n_labels, _ = counts.shape
    for label in range(n_labels + 1):
        n_high[label] = 0
        for i in range(CAP):
            above[label, i] = 0.0
    longest = 0
    for j in range(n_coders):
        if member[j] != group:
            continue
        total = 0
        for label in range(n_labels):
            n = int(counts[j, label, k])
            total += n
            enter(n, label, above, high, n_high)
        enter(total, n_labels, above, high, n_high)
        longest = max(longest, min(total, CAP))
    # `above` now counts coders with exactly min(n, CAP) = i + 1 labels: cumulate from the top
    for i in range(longest - 2, -1, -1):
        for label in range(n_labels + 1):
            above[label, i] += above[label, i + 1]
    return longest


@inlined
def rising(a: float, above: Array, longest: int, high: Array, n_high: int) -> float:
    """Return the sum over coders of log Gamma(a + n) - log Gamma(a)."""
    total: float = 0.0
    product, weight = 1.0, above[0]
    for i in range(longest):
        # factors with equal coder counts are multiplied, which is faster than adding logarithms
        if above[i] != weight or product > MOST_PRODUCT:
            total += weight * math.log(product)
            product, weight = 1.0, above[i]
            if weight == 0.0:
                break
        product *= a + i
    total += weight * math.log(product)
    for j in range(n_high):
        total += math.lgamma(a + high[j]) - math.lgamma(a + CAP)
    return total


@inlined
def log_density(
    phi: Array,
    anchor: Array,
    scale: Array,
    above: Array,
    high: Array,
    n_high: Array,
    longest: int,
    known: Array,
    mean: Array,
) -> float:
    """Return the log density of (log-ratios of m, log c), and fill `mean` with m."""
    # phi[:-1] is log(m_l / m_last) and phi[-1] is log c. anchor has the Dirichlet pseudo-counts of
    # m, scale = (a, b, c, lower) the log density a + b log x + c log(x)^2 of the concentration.
    # known caches a log c and the terms that depend on it alone, for slices of m.
    n_labels = mean.shape[0]
    log_c = phi[n_labels - 1]
    concentration = math.exp(log_c)
    if concentration < scale[LEAST] or log_c > 30.0:
        return -np.inf
    top = 0.0
    for label in range(n_labels - 1):
        top = max(top, phi[label])
    total = math.exp(-top)
    for label in range(n_labels - 1):
        total += math.exp(phi[label] - top)
    log_total = top + math.log(total)
    # the Jacobian of the log-ratios is the product of m, that of log c is c
    if log_c != known[0]:
        known[0] = log_c
        known[1] = concentration_density(scale, log_c) + log_c
        known[1] -= rising(
            concentration, above[n_labels], longest, high[n_labels], n_high[n_labels]
        )
    value: float = known[1]
    for label in range(n_labels):
        log_mean = (phi[label] if label < n_labels - 1 else 0.0) - log_total
        if log_mean < -600.0:
            return -np.inf
        mean[label] = math.exp(log_mean)
        value += anchor[label] * log_mean
        value += rising(
            concentration * mean[label], above[label], longest, high[label], n_high[label]
        )
    return value


# log probabilities of unused labels vary widely: a slice need not reach the ends
move = slice_step(log_density, 50)


@kernel
def draw_population(
    counts: Array,
    member: Array,
    group: int,
    anchor: Array,
    scale: Array,
    sweeps: int,
    key: Key,
    iteration: int,
    mean: Array,
    concentration: Array,
) -> None:
    """Update mean [truth, label] and concentration [truth] of a group of coders in place."""
    n_coders, n_labels, n_classes = counts.shape
    above = np.zeros((n_labels + 1, CAP))
    high = np.zeros((n_labels + 1, n_coders), dtype=np.int64)
    n_high = np.zeros(n_labels + 1, dtype=np.int64)
    state = np.empty(1, dtype=np.uint64)
    phi = np.empty(n_labels)
    m, known = np.empty(n_labels), np.empty(2)
    for k in range(n_classes):
        state[0] = address(key, iteration, POPULATION, k)
        longest = tally(counts, member, group, k, above, high, n_high)
        for label in range(n_labels - 1):
            phi[label] = math.log(mean[k, label]) - math.log(mean[k, n_labels - 1])
        phi[n_labels - 1] = math.log(concentration[k])
        known[0] = np.nan
        args = (anchor[k], scale, above, high, n_high, longest, known, m)
        here = log_density(phi, *args)
        for _ in range(sweeps):
            for d in range(n_labels):
                width = WIDTH_MEAN if d < n_labels - 1 else WIDTH_SCALE
                here = move(phi, d, args, width, here, state)
        log_density(phi, *args)
        for label in range(n_labels):
            mean[k, label] = m[label]
        concentration[k] = math.exp(phi[n_labels - 1])
