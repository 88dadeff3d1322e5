"""Common accuracy of the coders' rows, and the strength of its prior for each row mean."""

# The mean m_k of row k is Dirichlet(strength_k * anchor); the anchor has the common accuracy a on
# its diagonal. If the strength is large, a and the means are highly correlated, and steps of one
# given the other are tiny. So there is a step of a alone and a joint step of a and the means.

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel
from annomodels.kernels.population import CAP, WIDTH_MEAN, rising, tally
from annomodels.kernels.random import POPULATION, address, slice_step

# indices of `numbers`: strength of the prior of the mean, Beta parameters of the accuracy on its
# diagonal, whether that accuracy is estimated, and the standard deviation of the log strength of a
# row, 0 if it is not estimated
STRENGTH, RIGHT, WRONG, ESTIMATED, SPREAD = range(5)
# initial width of the joint slice, on the logit scale
WIDTH_SHIFT = 0.8


@inlined
def fill_anchor(accuracy: float, strength: Array, anchor: Array) -> None:
    """Fill pseudo-counts [truth, label], with a proportion `accuracy` on the diagonal."""
    n_classes = anchor.shape[0]
    for k in range(n_classes):
        for label in range(n_classes):
            anchor[k, label] = strength[k] * (1.0 - accuracy) / max(n_classes - 1, 1)
        anchor[k, k] = strength[k] * accuracy


@inlined
def accuracy_density(x: Array, right: float, wrong: float, mean: Array, strength: Array) -> float:
    """Return the log density of x[0] = logit(a) given the population means."""
    n_labels = mean.shape[0]
    a = 1.0 / (1.0 + math.exp(-x[0]))
    # closer to 0 or 1, pseudo-counts off the diagonal lose all precision
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


move_accuracy = slice_step(accuracy_density)


@kernel
def draw_accuracy(
    mean: Array, right: float, wrong: float, strength: Array, key: Key, iteration: int, a: float
) -> float:
    """Draw the common accuracy, with a Beta prior, by a slice step on the logit scale."""
    state = np.empty(1, dtype=np.uint64)
    # the rows of the population use streams 0 to K - 1, so this is the next one
    state[0] = address(key, iteration, POPULATION, mean.shape[0])
    x, args = np.empty(1), (right, wrong, mean, strength)
    x[0] = math.log(a / (1.0 - a))
    here = accuracy_density(x, *args)
    move_accuracy(x, 0, args, WIDTH_MEAN, here, state)
    accuracy: float = logistic(x[0])
    return accuracy


@inlined
def logistic(x: float) -> float:
    """Return the inverse logit."""
    return 1.0 / (1.0 + math.exp(-x))


@inlined
def shifted_density(
    shift: Array,
    x: float,
    on: Array,
    ratio: Array,
    at: Array,
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
    """Return the log density of a common shift of logit a and all logit m[k, k]; fill `mean`."""
    # x and on [truth] are these logits at shift 0; at [1] is a buffer for a logit. ratio [truth,
    # label] contains the label proportions off the diagonal, which are fixed. In these coordinates
    # the shift is a translation, so the only Jacobians that depend on it are in accuracy_density.
    n = mean.shape[0]
    for k in range(n):
        here = logistic(on[k] + shift[0])
        if here < 1e-9 or here > 1.0 - 1e-9:
            return -np.inf
        for label in range(n):
            mean[k, label] = here if label == k else (1.0 - here) * ratio[k, label]
    at[0] = x + shift[0]
    value: float = accuracy_density(at, right, wrong, mean, strength)
    if value == -np.inf:
        return value
    for k in range(n):
        for label in range(n):
            value += rising(
                concentration[k] * mean[k, label],
                above[k, label], longest[k], high[k, label], n_high[k, label],
            )  # fmt: skip
    return value


move_all = slice_step(shifted_density)


@kernel
def shift_accuracy(
    counts: Array,
    member: Array,
    group: int,
    mean: Array,
    concentration: Array,
    right: float,
    wrong: float,
    strength: Array,
    key: Key,
    iteration: int,
    a: float,
) -> float:
    """Move the diagonal of `mean` in place with the common accuracy; return the accuracy."""
    # one slice step in the direction of equal changes of all logits; the rows of the coders are
    # integrated out, as in draw_population
    n_coders, n, _ = counts.shape
    above = np.zeros((n, n + 1, CAP))
    high = np.zeros((n, n + 1, n_coders), dtype=np.int64)
    n_high = np.zeros((n, n + 1), dtype=np.int64)
    longest = np.empty(n, dtype=np.int64)
    on, ratio, m = np.empty(n), np.empty((n, n)), np.empty((n, n))
    for k in range(n):
        longest[k] = tally(counts, member, group, k, above[k], high[k], n_high[k])
        # a sum, because 1 - m[k, k] loses precision if the rest is small
        rest = 0.0
        for label in range(n):
            rest += mean[k, label] if label != k else 0.0
        on[k] = math.log(mean[k, k] / rest)
        for label in range(n):
            ratio[k, label] = mean[k, label] / rest
    x, shift = math.log(a / (1.0 - a)), np.zeros(1)
    args = (
        x, on, ratio, np.empty(1), right, wrong, strength, concentration, above, high, n_high,
        longest, m,
    )  # fmt: skip
    state = np.empty(1, dtype=np.uint64)
    state[0] = address(key, iteration, POPULATION, n + 1)
    here = shifted_density(shift, *args)
    if here == -np.inf:
        return a
    move_all(shift, 0, args, WIDTH_SHIFT, here, state)
    if shift[0] == 0.0:
        return a
    # the last density evaluation filled `m` at the accepted point
    for k in range(n):
        for label in range(n):
            mean[k, label] = m[k, label]
    moved: float = logistic(x + shift[0])
    return moved


@inlined
def draw_common(
    counts: Array,
    member: Array,
    group: int,
    mean: Array,
    concentration: Array,
    accuracy: Array,
    strength: Array,
    numbers: Array,
    key: Key,
    iteration: int,
) -> None:
    """Draw the common accuracy, `accuracy[group]`, alone and then jointly with the means."""
    right, wrong = numbers[RIGHT], numbers[WRONG]
    alone = draw_accuracy(mean, right, wrong, strength, key, iteration, accuracy[group])
    accuracy[group] = shift_accuracy(
        counts, member, group, mean, concentration, right, wrong, strength, key, iteration, alone
    )


@inlined
def strength_density(x: Array, mean: Array, share: Array, median: float, spread: float) -> float:
    """Return the log density of a row's strength exp(x[0]), given its mean and prior mean."""
    s = math.exp(x[0])
    z = (x[0] - math.log(median)) / spread
    value: float = math.lgamma(s) - 0.5 * z * z
    for label in range(len(mean)):
        value += s * share[label] * math.log(mean[label]) - math.lgamma(s * share[label])
    return value


move_strength = slice_step(strength_density)


@kernel
def draw_strength(
    mean: Array, accuracy: float, strength: Array, numbers: Array, key: Key, iteration: int
) -> None:
    """Draw the prior strength of each row mean, in place, by a slice step on the log scale."""
    n = mean.shape[0]
    median, spread = numbers[STRENGTH], numbers[SPREAD]
    state, share, x = np.empty(1, dtype=np.uint64), np.empty(n), np.empty(1)
    for k in range(n):
        # the means and the accuracy use streams 0 to n + 1
        state[0] = address(key, iteration, POPULATION, n + 2 + k)
        for label in range(n):
            share[label] = accuracy if label == k else (1.0 - accuracy) / (n - 1)
        args = (mean[k], share, median, spread)
        x[0] = math.log(strength[k])
        here = strength_density(x, *args)
        move_strength(x, 0, args, 2.0 * spread, here, state)
        strength[k] = math.exp(x[0])
