"""Gibbs steps for candidates of mentions that coders accept or reject; one or many are true."""

# The candidates of a mention are adjacent, and so are the decisions on a candidate. A case is
# (first candidate of each mention, first decision of each candidate, coder, accepted, class). A
# rate is the probability of a right decision. logs [coder, 2, kind] contains log(rate) and
# log(1 - rate); counts have the same layout.

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
    slice_step,
    uniform_at,
)

# initial width of the slices for log-ratios of weights
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
    """Return the log likelihood if any number of candidates is true; fill `p` [candidate]."""
    # The kinds of class h are 2h (the candidate is false) and 2h + 1 (true). weights [class, 2]
    # contains log(1 - prevalence) and log(prevalence). If drawn, truths are drawn and added to
    # counts [coder, right or wrong, kind] and sizes [class, 2].
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


@inlined
def score_single(case: tuple[Array, ...], logs: Array, p: Array, evidence: Array) -> float:
    """Fill `p` [candidate] with log P(decisions on the mention | the candidate is true)."""
    # A coder accepts the true candidate of class h with the rate of kind h, otherwise each other
    # candidate and anything unlisted with equal probability. The class without a kind is "none of
    # these"; its candidate has no decisions, and coders choose each candidate and anything unlisted
    # with equal probability. Scores are relative to the largest of a mention. evidence [mention,
    # class] gets their sums; the sum of the largest log scores is returned.
    firsts, starts, coder, accepted, cls = case
    kinds = logs.shape[2]
    total = 0.0
    for i in range(len(firsts) - 1):
        first, last = firsts[i], firsts[i + 1]
        listed = 0
        for m in range(first, last):
            listed += 1 if cls[m] < kinds else 0
        spread = math.log(listed)
        top = -np.inf
        for m in range(first, last):
            h = cls[m]
            p[m] = 0.0
            if h == kinds:
                p[m] -= (starts[first + 1] - starts[first]) * math.log(listed + 1.0)
            for d in range(starts[m], starts[m + 1]):
                p[m] += logs[coder[d], 1 - accepted[d], h]
                p[m] -= 0.0 if accepted[d] == 1 else spread
            top = max(top, p[m])
        evidence[i] = 0.0
        for m in range(first, last):
            p[m] -= top
            evidence[i, cls[m]] += math.exp(p[m])
        total += top
    return total


@inlined
def choose_single(
    case: tuple[Array, ...],
    weights: Array,
    key: Key,
    iteration: int,
    drawn: bool,
    p: Array,
    counts: Array,
    sizes: Array,
) -> float:
    """Turn scores in `p` into P(true); return the log likelihood relative to the largest scores."""
    firsts, starts, coder, accepted, cls = case
    total = 0.0
    for i in range(len(firsts) - 1):
        first, last = firsts[i], firsts[i + 1]
        norm, either = 0.0, 0.0
        for m in range(first, last):
            weight = math.exp(weights[cls[m], 1])
            norm += weight
            p[m] = weight * math.exp(p[m])
            either += p[m]
        total += math.log(either / norm)
        left = uniform_at(key, iteration, TRUTH, i) * either if drawn else 0.0
        found = -1
        for m in range(first, last):
            if drawn and found < 0:
                left -= p[m]
                if left <= 0.0 or m == last - 1:
                    found = m
            p[m] /= either
        if found >= 0:
            h = cls[found]
            sizes[h, 1] += 1
            for d in range(starts[found], starts[found + 1]):
                counts[coder[d], 1 - accepted[d], h] += 1
    return total


@kernel
def single_pass(case: tuple[Array, ...], weights: Array, logs: Array, p: Array) -> float:
    """Return the log likelihood if one candidate per mention is true; fill `p` [candidate]."""
    # the second column of weights [class, 2] contains the log weights of the classes
    evidence = np.empty((len(case[0]) - 1, len(weights)))
    none = np.empty((0, 0, 0), dtype=np.int64)
    total: float = score_single(case, logs, p, evidence)
    total += choose_single(case, weights, np.uint64(0), 0, False, p, none, none[0:0, :, 0])
    return total


@inlined
def draw_shares(sizes: Array, prior: Array, key: Key, iteration: int, weights: Array) -> None:
    """Draw the prevalence of each class: Beta(prior + sizes), with columns (false, true)."""
    state = np.empty(1, dtype=np.uint64)
    pair, shape = np.empty(2), np.empty(2)
    for h in range(len(sizes)):
        state[0] = address(key, iteration, PREVALENCE, h)
        for truth in range(2):
            shape[truth] = prior[h, truth] + sizes[h, truth]
        log_dirichlet(state, pair, shape, weights[h])


@inlined
def weight_density(
    phi: Array, prior: Array, listed: Array, evidence: Array, log_share: Array
) -> float:
    """Return the log density of log-ratios `phi` of the weights, and fill `log_share`."""
    n = len(phi)
    top = 0.0
    for h in range(n):
        top = max(top, phi[h])
    norm = 0.0
    for h in range(n):
        norm += math.exp(phi[h] - top)
    value = 0.0
    share = np.empty(n)
    for h in range(n):
        log_share[h] = phi[h] - top - math.log(norm)
        share[h] = math.exp(log_share[h])
        # the Jacobian of phi is the product of the normalized weights
        value += prior[h, 1] * log_share[h]
    for i in range(len(listed)):
        many, found = 0.0, 0.0
        for h in range(n):
            many += listed[i, h] * share[h]
            found += evidence[i, h] * share[h]
        if many <= 0.0 or found <= 0.0:
            return -np.inf
        value += math.log(found / many)
    return value


move = slice_step(weight_density)


@inlined
def draw_weights(
    prior: Array, listed: Array, evidence: Array, key: Key, iteration: int, weights: Array
) -> None:
    """Draw the weights of the classes, of which only ratios matter, given the rates."""
    # The prior P(candidate is true) is its weight over the sum of weights of its mention. The truth
    # is summed out; otherwise the weight of a rarely true class would move slowly. listed [mention,
    # class] counts candidates. Slice steps move the logarithm of each weight.
    n = len(weights)
    if n == 1:
        # a single class has no ratio, and a slice of a flat density is unbounded
        weights[0, 1] = 0.0
        return
    state = np.empty(1, dtype=np.uint64)
    state[0] = address(key, iteration, PREVALENCE, 0)
    phi, log_share = np.empty(n), np.empty(n)
    for h in range(n):
        phi[h] = weights[h, 1] - weights[n - 1, 1]
    args = (prior, listed, evidence, log_share)
    here = weight_density(phi, *args)
    # one direction more than there are ratios, so that a small last weight can move by itself
    for h in range(n):
        here = move(phi, h, args, WIDTH, here, state)
    weight_density(phi, *args)
    weights[:, 1] = log_share


@kernel
def count_true(firsts: Array, cls: Array, none: int, p: Array, out: Array) -> None:
    """Add P(no, one, several candidates true) of each mention to `out` [mention, 3]."""
    # candidates are independent given the parameters, except one of class `none`: if it is true, no
    # other is
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
    priors: tuple[Array, ...],
    state: tuple[Array, ...],
    key: Key,
    begin: int,
    end: int,
    kept: tuple[Array, ...],
    sums: tuple[Array, ...],
) -> None:
    """Run iterations begin to end - 1; store one draw for each iteration from 0 on."""
    prior, anchor, scale = priors
    weights, logs, mean, concentration = state
    prevalences, rates, means, concentrations, likelihoods = kept
    p_sum, outcomes = sums
    counts = np.empty(logs.shape, dtype=np.int64)
    sizes = np.empty(weights.shape, dtype=np.int64)
    alpha, p = np.empty(mean.shape), np.empty(len(case[4]))
    listed = np.zeros((len(outcomes) if single else 0, len(weights)))
    evidence = np.empty(listed.shape)
    for i in range(len(listed)):
        for m in range(case[0][i], case[0][i + 1]):
            listed[i, case[4][m]] += 1.0
    n_draws, n_batches = len(likelihoods), len(p_sum)
    everybody = np.zeros(len(logs), dtype=np.int64)
    none = logs.shape[2] if single else -1
    for iteration in range(begin, end):
        counts[:] = 0
        sizes[:] = 0
        # addresses must not be negative, and warm-up iterations are
        when = iteration + 1_000_000_000
        if single:
            value = score_single(case, logs, p, evidence)
            draw_weights(prior, listed, evidence, key, when, weights)
            value += choose_single(case, weights, key, when, True, p, counts, sizes)
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
        draw_population(counts, everybody, 0, anchor, scale, 1, key, when, mean, concentration)
        for k in range(len(concentration)):
            for label in range(2):
                alpha[k, label] = concentration[k] * mean[k, label]
        draw_confusion(counts, alpha, key, when, logs)
        if not single:
            draw_shares(sizes, prior, key, when, weights)
