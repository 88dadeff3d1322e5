"""Common accuracy of the coders' rows, and how strongly it holds the mean of each row."""

# The mean m_k of row k is Dirichlet(strength_k * anchor); the anchor has the common accuracy a on
# its diagonal. If the strength is large, a and the means hold each other in place: given the means
# a can hardly move, and given a they cannot. So beside the step of a alone there is one of all of
# them together.

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel
from annomodels.kernels.population import CAP, WIDTH_MEAN, rising, tally
from annomodels.kernels.random import POPULATION, address, uniform

# places in `numbers`: strength of the prior of the mean, Beta parameters of the accuracy on its
# diagonal, whether that accuracy is estimated, and the standard deviation of the log of the
# strength of a row, 0 where it is not estimated
STRENGTH, RIGHT, WRONG, ESTIMATED, SPREAD = range(5)
# first width of the joint slice, on the logit scale
WIDTH_SHIFT = 0.8


@inlined
def fill_anchor(accuracy: float, strength: Array, anchor: Array) -> None:
    """Pseudo-counts of the population mean [truth, label]: `accuracy` of them on the diagonal."""
    n_classes = anchor.shape[0]
    for k in range(n_classes):
        for label in range(n_classes):
            anchor[k, label] = strength[k] * (1.0 - accuracy) / max(n_classes - 1, 1)
        anchor[k, k] = strength[k] * accuracy


@inlined
def accuracy_density(x: float, right: float, wrong: float, mean: Array, strength: Array) -> float:
    """Log density of the common accuracy at x = logit(a), given the population means."""
    n_labels = mean.shape[0]
    a = 1.0 / (1.0 + math.exp(-x))
    # nearer to 0 or 1 the pseudo-counts off the diagonal have no digits left
    if a < 1e-6 or a > 1.0 - 1e-6:
        return -np.inf
    # the Beta prior with the Jacobian of the logit: a^(right - 1) (1 - a)^(wrong - 1) a (1 - a)
    value: float = right * math.log(a) + wrong * math.log1p(-a)
    for k in range(n_labels):
        on, off = strength[k] * a, strength[k] * (1.0 - a) / (n_labels - 1)
        value -= math.lgamma(on) + (n_labels - 1) * math.lgamma(off)
        for label in range(n_labels):
            value += (on if label == k else off) * math.log(mean[k, label])
    return value


@kernel
def draw_accuracy(
    mean: Array, right: float, wrong: float, strength: Array, key: Key, iteration: int, a: float
) -> float:
    """Draw the accuracy that all rows share by a slice step on the logit scale; Beta prior."""
    state = np.empty(1, dtype=np.uint64)
    # rows of the population have the streams 0 to K - 1, so this one is the next
    state[0] = address(key, iteration, POPULATION, mean.shape[0])
    x = math.log(a / (1.0 - a))
    level = accuracy_density(x, right, wrong, mean, strength) + math.log(uniform(state))
    left = x - WIDTH_MEAN * uniform(state)
    edge = left + WIDTH_MEAN
    while accuracy_density(left, right, wrong, mean, strength) > level:
        left -= WIDTH_MEAN
    while accuracy_density(edge, right, wrong, mean, strength) > level:
        edge += WIDTH_MEAN
    while True:
        y = left + uniform(state) * (edge - left)
        if accuracy_density(y, right, wrong, mean, strength) > level or edge - left < 1e-12:
            return 1.0 / (1.0 + math.exp(-y))
        if y < x:
            left = y
        else:
            edge = y


@inlined
def logistic(x: float) -> float:
    """Inverse of the logit."""
    return 1.0 / (1.0 + math.exp(-x))


@inlined
def shifted_density(
    shift: float,
    x: float,
    on: Array,
    ratio: Array,
    right: float,
    wrong: float,
    strength: Array,
    concentration: Array,
    above: Array,
    high: Array,
    n_high: Array,
    longest: Array,
    mean: Array,
) -> float:
    """Log density of a common shift of logit a and of the logits of all m[k, k]; fills `mean`."""
    # x and on [truth] are these logits at shift 0; ratio [truth, label] are the shares of the
    # labels in the rest beside the diagonal, which stay. In these coordinates the shift is a
    # translation, so that no Jacobian depends on it beyond those in accuracy_density.
    n = mean.shape[0]
    for k in range(n):
        here = logistic(on[k] + shift)
        if here < 1e-9 or here > 1.0 - 1e-9:
            return -np.inf
        for label in range(n):
            mean[k, label] = here if label == k else (1.0 - here) * ratio[k, label]
    value: float = accuracy_density(x + shift, right, wrong, mean, strength)
    if value == -np.inf:
        return value
    for k in range(n):
        for label in range(n):
            value += rising(
                concentration[k] * mean[k, label],
                above[k, label], longest[k], high[k, label], n_high[k, label],
            )  # fmt: skip
    return value


@kernel
def shift_accuracy(
    counts: Array,
    mean: Array,
    concentration: Array,
    right: float,
    wrong: float,
    strength: Array,
    key: Key,
    iteration: int,
    a: float,
) -> float:
    """Move the common accuracy and the diagonal of `mean` in place; gives the accuracy."""
    # one slice step (Neal 2003, doi:10.1214/aos/1056562461) along the line on which all their
    # logits change alike; the rows of the coders are integrated out, as in draw_population
    n_coders, n, _ = counts.shape
    above = np.zeros((n, n + 1, CAP))
    high = np.zeros((n, n + 1, n_coders), dtype=np.int64)
    n_high = np.zeros((n, n + 1), dtype=np.int64)
    longest = np.empty(n, dtype=np.int64)
    on, ratio, m = np.empty(n), np.empty((n, n)), np.empty((n, n))
    for k in range(n):
        longest[k] = tally(counts, k, above[k], high[k], n_high[k])
        # summed, for 1 - m[k, k] has no digits left where the rest is small
        rest = 0.0
        for label in range(n):
            rest += mean[k, label] if label != k else 0.0
        on[k] = math.log(mean[k, k] / rest)
        for label in range(n):
            ratio[k, label] = mean[k, label] / rest
    x = math.log(a / (1.0 - a))
    args = (
        x, on, ratio, right, wrong, strength, concentration, above, high, n_high, longest, m,
    )  # fmt: skip
    state = np.empty(1, dtype=np.uint64)
    state[0] = address(key, iteration, POPULATION, n + 1)
    level = shifted_density(0.0, *args) + math.log(uniform(state))
    if level == -np.inf:
        return a
    left = -WIDTH_SHIFT * uniform(state)
    edge = left + WIDTH_SHIFT
    while shifted_density(left, *args) > level:
        left -= WIDTH_SHIFT
    while shifted_density(edge, *args) > level:
        edge += WIDTH_SHIFT
    while True:
        shift = left + uniform(state) * (edge - left)
        if shifted_density(shift, *args) > level:
            # `m` is what the density filled last, which is the accepted point
            mean[:] = m
            moved: float = logistic(x + shift)
            return moved
        if edge - left < 1e-12:
            return a
        if shift < 0.0:
            left = shift
        else:
            edge = shift


@inlined
def draw_common(
    counts: Array,
    mean: Array,
    concentration: Array,
    accuracy: Array,
    strength: Array,
    numbers: Array,
    key: Key,
    iteration: int,
) -> None:
    """Draw the common accuracy, `accuracy[0]`, alone and then together with the means."""
    right, wrong = numbers[RIGHT], numbers[WRONG]
    alone = draw_accuracy(mean, right, wrong, strength, key, iteration, accuracy[0])
    accuracy[0] = shift_accuracy(
        counts, mean, concentration, right, wrong, strength, key, iteration, alone
    )


@inlined
def log_normal_density(x: float, median: float, spread: float) -> float:
    """Log density of a positive number whose logarithm is normal."""
    z = (math.log(x) - math.log(median)) / spread
    return -0.5 * z * z - math.log(x * spread * math.sqrt(2.0 * math.pi))


@inlined
def strength_density(x: float, mean: Array, share: Array, median: float, spread: float) -> float:
    """Log density of the strength exp(x) of a row with this mean around shares of the labels."""
    s = math.exp(x)
    z = (x - math.log(median)) / spread
    value: float = math.lgamma(s) - 0.5 * z * z
    for label in range(len(mean)):
        value += s * share[label] * math.log(mean[label]) - math.lgamma(s * share[label])
    return value


@kernel
def draw_strength(
    mean: Array, accuracy: float, strength: Array, numbers: Array, key: Key, iteration: int
) -> None:
    """Draw how strongly the mean of each row is held, in place; a slice step on the log scale."""
    n = mean.shape[0]
    median, spread = numbers[STRENGTH], numbers[SPREAD]
    state, share = np.empty(1, dtype=np.uint64), np.empty(n)
    for k in range(n):
        # streams 0 to n + 1 are those of the means and of the accuracy
        state[0] = address(key, iteration, POPULATION, n + 2 + k)
        for label in range(n):
            share[label] = accuracy if label == k else (1.0 - accuracy) / (n - 1)
        args = (mean[k], share, median, spread)
        x = math.log(strength[k])
        level = strength_density(x, *args) + math.log(uniform(state))
        left = x - 2.0 * spread * uniform(state)
        edge = left + 2.0 * spread
        while strength_density(left, *args) > level:
            left -= 2.0 * spread
        while strength_density(edge, *args) > level:
            edge += 2.0 * spread
        while True:
            y = left + uniform(state) * (edge - left)
            if strength_density(y, *args) > level:
                strength[k] = math.exp(y)
                break
            if edge - left < 1e-12:
                break
            if y < x:
                left = y
            else:
                edge = y
