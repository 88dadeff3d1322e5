"""Gibbs steps for candidates of mentions that coders accept or not, one or many of them true.

The candidates of a mention stand side by side, and so do the decisions on a candidate. A case is
(first candidate of each mention, first decision of each candidate, coder, accepted, class).
A rate is the probability of being right; its logarithm and that of 1 - rate are
`logs` [coder, 0 and 1, kind], which are also the layout of the counts.
"""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel
from annomodels.kernels.dirichlet import draw_confusion
from annomodels.kernels.population import draw_population
from annomodels.kernels.random import (
    PREVALENCE,
    TRUTH,
    address,
    log_dirichlet,
    uniform,
    uniform_at,
)

# first width of the slices for log-ratios of weights
WIDTH = 1.0


@kernel
def pair_pass(
    case: tuple[Array, ...],
    weights: Array,
    logs: Array,
    key: Key,
    iteration: int,
    drawn: bool,
    p: Array,
    counts: Array,
    sizes: Array,
) -> float:
    """Give the log likelihood with every candidate true or not; fills `p` [candidate].

    The kinds of class h are 2h (the candidate is not true) and 2h + 1. `weights` [class, 2] are
    the logarithms of 1 - prevalence and of the prevalence. If `drawn`, truths are drawn and added
    to `counts` [coder, right or wrong, kind] and `sizes` [class, 2].
    """
    _, starts, coder, accepted, cls = case
    total = 0.0
    for m in range(len(cls)):
        h = cls[m]
        off, on = weights[h, 0], weights[h, 1]
        for d in range(starts[m], starts[m + 1]):
            off += logs[coder[d], accepted[d], 2 * h]
            on += logs[coder[d], 1 - accepted[d], 2 * h + 1]
        top = max(off, on)
        either = top + math.log(math.exp(off - top) + math.exp(on - top))
        total += either
        p[m] = math.exp(on - either)
        if drawn:
            truth = 1 if uniform_at(key, iteration, TRUTH, m) < p[m] else 0
            sizes[h, truth] += 1
            for d in range(starts[m], starts[m + 1]):
                counts[coder[d], abs(accepted[d] - truth), 2 * h + truth] += 1
    return total


@kernel
def single_pass(
    case: tuple[Array, ...],
    weights: Array,
    logs: Array,
    key: Key,
    iteration: int,
    drawn: bool,
    p: Array,
    counts: Array,
    sizes: Array,
) -> float:
    """Give the log likelihood with one candidate of a mention true; fills `p` [candidate].

    A coder accepts the true candidate of class h with the rate of kind h, else each of the others
    and anything unlisted alike. A class without a kind is that of "none of these", whose candidate
    has no decisions: its coders take each candidate and anything unlisted alike.
    `weights` [class, 2] has the logarithms of the weights of the classes in its second column.
    """
    firsts, starts, coder, accepted, cls = case
    kinds = logs.shape[2]
    total = 0.0
    for i in range(len(firsts) - 1):
        first, last = firsts[i], firsts[i + 1]
        listed = 0
        norm = 0.0
        for m in range(first, last):
            listed += 1 if cls[m] < kinds else 0
            norm += math.exp(weights[cls[m], 1])
        spread = math.log(listed)
        top = -np.inf
        for m in range(first, last):
            h = cls[m]
            p[m] = weights[h, 1]
            if h == kinds:
                p[m] -= (starts[first + 1] - starts[first]) * math.log(listed + 1.0)
            for d in range(starts[m], starts[m + 1]):
                p[m] += logs[coder[d], 1 - accepted[d], h]
                p[m] -= 0.0 if accepted[d] == 1 else spread
            top = max(top, p[m])
        either = 0.0
        for m in range(first, last):
            either += math.exp(p[m] - top)
        total += top + math.log(either) - math.log(norm)
        left = uniform_at(key, iteration, TRUTH, i) * either if drawn else 0.0
        found = -1
        for m in range(first, last):
            share = math.exp(p[m] - top)
            p[m] = share / either
            if drawn and found < 0:
                left -= share
                if left <= 0.0 or m == last - 1:
                    found = m
        if found >= 0:
            h = cls[found]
            sizes[h, 1] += 1
            for d in range(starts[found], starts[found + 1]):
                counts[coder[d], 1 - accepted[d], h] += 1
    return total


@inlined
def draw_shares(sizes: Array, prior: Array, key: Key, iteration: int, weights: Array) -> None:
    """Draw the prevalence of each class: Beta(prior + sizes), columns (not true, true)."""
    state = np.empty(1, dtype=np.uint64)
    pair, shape = np.empty(2), np.empty(2)
    for h in range(len(sizes)):
        state[0] = address(key, iteration, PREVALENCE, h)
        for truth in range(2):
            shape[truth] = prior[h, truth] + sizes[h, truth]
        log_dirichlet(state, pair, shape, weights[h])


@inlined
def weight_density(
    phi: Array, sizes: Array, prior: Array, kinds_of: Array, times: Array, log_share: Array
) -> float:
    """Log density of the log-ratios phi of the weights to the last; fills `log_share` with them.

    Mentions with equal numbers of candidates of each class, `kinds_of` [pattern, class], are one
    pattern that occurs `times`.
    """
    n = len(phi)
    top = 0.0
    for h in range(n):
        top = max(top, phi[h])
    norm = 0.0
    for h in range(n):
        norm += math.exp(phi[h] - top)
    value = 0.0
    for h in range(n):
        log_share[h] = phi[h] - top - math.log(norm)
        # the density of phi is that of the shares times their product
        value += (prior[h, 1] + sizes[h, 1]) * log_share[h]
    for g in range(len(times)):
        total = 0.0
        for h in range(n):
            total += kinds_of[g, h] * math.exp(log_share[h])
        if total <= 0.0:
            return -np.inf
        value -= times[g] * math.log(total)
    return value


@inlined
def draw_weights(
    sizes: Array,
    prior: Array,
    kinds_of: Array,
    times: Array,
    key: Key,
    iteration: int,
    weights: Array,
) -> None:
    """Draw the weights of the classes, of which only the ratios matter.

    P(candidate is the true one) is its weight over the sum of the weights of its mention. Slice
    sampling with stepping out (Neal 2003, doi:10.1214/aos/1056562461) along each log-ratio.
    """
    n = len(weights)
    state = np.empty(1, dtype=np.uint64)
    state[0] = address(key, iteration, PREVALENCE, 0)
    phi, log_share = np.empty(n), np.empty(n)
    for h in range(n):
        phi[h] = weights[h, 1] - weights[n - 1, 1]
    args = (sizes, prior, kinds_of, times, log_share)
    here = weight_density(phi, *args)
    for h in range(n - 1):
        level = here + math.log(uniform(state))
        x = phi[h]
        left = x - WIDTH * uniform(state)
        right = left + WIDTH
        phi[h] = left
        while weight_density(phi, *args) > level:
            left -= WIDTH
            phi[h] = left
        phi[h] = right
        while weight_density(phi, *args) > level:
            right += WIDTH
            phi[h] = right
        while True:
            phi[h] = left + uniform(state) * (right - left)
            if right - left < 1e-12:
                phi[h] = x
            here = weight_density(phi, *args)
            if here > level or right - left < 1e-12:
                break
            if phi[h] < x:
                left = phi[h]
            else:
                right = phi[h]
    weight_density(phi, *args)
    weights[:, 1] = log_share


@kernel
def count_true(firsts: Array, cls: Array, none: int, p: Array, out: Array) -> None:
    """Add P(no, one, several candidates true) of each mention to `out` [mention, 3].

    Candidates are independent given the parameters, but for one of class `none`, whose truth is
    that none of the others is true.
    """
    for i in range(len(firsts) - 1):
        if none >= 0:
            empty = 0.0
            for m in range(firsts[i], firsts[i + 1]):
                empty += p[m] if cls[m] == none else 0.0
            out[i, 0] += empty
            out[i, 1] += 1.0 - empty
            continue
        zero, one = 1.0, 0.0
        for m in range(firsts[i], firsts[i + 1]):
            one = one * (1.0 - p[m]) + zero * p[m]
            zero *= 1.0 - p[m]
        out[i, 0] += zero
        out[i, 1] += one
        out[i, 2] += max(0.0, 1.0 - zero - one)


@kernel
def iterate(
    case: tuple[Array, ...],
    single: bool,
    patterns: tuple[Array, ...],
    priors: tuple[Array, ...],
    state: tuple[Array, ...],
    key: Key,
    begin: int,
    end: int,
    kept: tuple[Array, ...],
    sums: tuple[Array, ...],
) -> None:
    """Run iterations begin to end - 1; those from 0 on are kept, one draw each.

    Parameters
    ----------
    patterns
        Numbers of candidates of each class [pattern, class], and how many mentions have them.
    priors
        Of the prevalence [class, 2], the population means [kind, 2], and the coefficients of the
        log density of the concentrations.
    state
        Weights [class, 2], logs [coder, 2, kind], means [kind, 2], concentrations [kind].
    kept
        Room for draws: prevalence, rate, mean, concentration, log likelihood.
    sums
        Sums over the draws: P(true) [batch, candidate], and P(no, one, several) [mention, 3].
    """
    kinds_of, times = patterns
    prior, anchor, scale = priors
    weights, logs, mean, concentration = state
    prevalences, rates, means, concentrations, likelihoods = kept
    p_sum, outcomes = sums
    counts = np.empty(logs.shape, dtype=np.int64)
    sizes = np.empty(weights.shape, dtype=np.int64)
    alpha, p = np.empty(mean.shape), np.empty(len(case[4]))
    n_draws, n_batches = len(likelihoods), len(p_sum)
    none = logs.shape[2] if single else -1
    for iteration in range(begin, end):
        counts[:] = 0
        sizes[:] = 0
        # addresses are not negative; warm-up comes before the draws
        when = iteration + 1_000_000_000
        if single:
            value = single_pass(case, weights, logs, key, when, True, p, counts, sizes)
        else:
            value = pair_pass(case, weights, logs, key, when, True, p, counts, sizes)
        if iteration >= 0:
            prevalences[iteration] = np.exp(weights[:, 1])
            rates[iteration] = np.exp(logs[:, 0])
            means[iteration] = mean[:, 0]
            concentrations[iteration] = concentration
            likelihoods[iteration] = value
            p_sum[iteration * n_batches // n_draws] += p
            count_true(case[0], case[4], none, p, outcomes)
        draw_population(counts, anchor, scale, 1, key, when, mean, concentration)
        for k in range(len(concentration)):
            for label in range(2):
                alpha[k, label] = concentration[k] * mean[k, label]
        draw_confusion(counts, alpha, key, when, logs)
        if single:
            draw_weights(sizes, prior, kinds_of, times, key, when, weights)
        else:
            draw_shares(sizes, prior, key, when, weights)
