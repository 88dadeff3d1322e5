"""Transforms from unconstrained values to simplexes and zero sums, and their gradients."""

# The transforms are those of PyMC, so a density here equals that of the PyMC model. This module
# also has the shared parts of the densities: normal priors, and the likelihood of item states.

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, inlined, kernel


@inlined
def log_simplex(free: Array, out: Array) -> None:
    """Fill `out` with the logarithms of a simplex [k] from k - 1 unconstrained values."""
    # the softmax of the values and minus their sum; the log Jacobian is log k plus the sum of the
    # logarithms
    last = len(free)
    out[last] = 0.0
    for n in range(last):
        out[n] = free[n]
        out[last] -= free[n]
    top = out[0]
    for n in range(1, last + 1):
        top = max(top, out[n])
    total = 0.0
    for n in range(last + 1):
        total += math.exp(out[n] - top)
    total = top + math.log(total)
    for n in range(last + 1):
        out[n] -= total


@inlined
def log_simplex_back(log_p: Array, grad: Array, free: Array) -> None:
    """Fill `free` with the gradient of the values, given `grad` of the logarithms."""
    last = len(free)
    total = 0.0
    for n in range(last + 1):
        total += grad[n]
    # log softmax: d log p_m / d x_n = [m = n] - p_n, and the last x is minus the sum of the rest
    of_last = grad[last] - total * math.exp(log_p[last])
    for n in range(last):
        free[n] = grad[n] - total * math.exp(log_p[n]) - of_last


@inlined
def zero_sum(free: Array, out: Array) -> None:
    """Fill `out` with values that sum to zero [n] from n - 1 unconstrained ones."""
    last = len(free)
    root = math.sqrt(last + 1.0)
    total = 0.0
    for n in range(last):
        total += free[n]
    # a reflection that maps the n - 1 values onto the plane of zero sums and preserves lengths
    shift = total / (root + last + 1.0)
    for n in range(last):
        out[n] = free[n] - shift
    out[last] = -total / root


@inlined
def zero_sum_back(grad: Array, free: Array) -> None:
    """Fill `free` with the gradient of the values, given `grad` of those that sum to zero."""
    last = len(free)
    root = math.sqrt(last + 1.0)
    total = 0.0
    for n in range(last):
        total += grad[n]
    common = total / (root + last + 1.0) + grad[last] / root
    for n in range(last):
        free[n] = grad[n] - common


@inlined
def sum_of_squares(values: Array) -> float:
    """Return the sum of squares."""
    total = 0.0
    for n in range(len(values)):
        total += values[n] ** 2
    return total


@inlined
def normals(free: Array, scale: float, grad: Array) -> float:
    """Return the log density of N(0, scale) up to a constant, and add its gradient."""
    value = 0.0
    for n in range(len(free)):
        value -= 0.5 * (free[n] / scale) ** 2
        grad[n] -= free[n] / scale**2
    return value


@inlined
def half_normals(free: Array, scale: float, grad: Array) -> float:
    """Return the log density of logarithms of half-normal values, and add its gradient."""
    value = 0.0
    for n in range(len(free)):
        square = math.exp(2.0 * free[n]) / scale**2
        value += free[n] - 0.5 * square
        grad[n] += 1.0 - square
    return value


@inlined
def partly_centred(free: Array, share: Array, mean: Array, scale: Array, out: Array) -> float:
    """Fill parameters [coder, ...] from partly centered values; return their log density."""
    # the unconstrained value is (x - m) / s^(1 - w) + w m, with centering w of each coder
    n_coders, k = out.shape
    value = 0.0
    for j in range(n_coders):
        # w = 1 is centered, good for coders with many labels; w = 0 is noncentered, good for few
        w = share[j]
        for t in range(k):
            apart = free[j * k + t] - w * mean[t]
            out[j, t] = mean[t] + scale[t] ** (1.0 - w) * apart
            value -= 0.5 * (apart / scale[t] ** w) ** 2 + w * math.log(scale[t])
    return value


@inlined
def partly_centred_back(
    free: Array, share: Array, mean: Array, scale: Array, grad: Array, free_grad: Array,
    mean_grad: Array, log_scale_grad: Array,
) -> None:  # fmt: skip
    """Add the gradient of `partly_centred` and of the likelihood; `grad` is the latter."""
    n_coders, k = grad.shape
    for j in range(n_coders):
        w = share[j]
        for t in range(k):
            apart = free[j * k + t] - w * mean[t]
            stretch, narrow = scale[t] ** (1.0 - w), scale[t] ** w
            z = apart / narrow
            g = grad[j, t]
            free_grad[j * k + t] += g * stretch - z / narrow
            mean_grad[t] += g * (1.0 - w * stretch) + w * z / narrow
            log_scale_grad[t] += g * (1.0 - w) * stretch * apart + w * z * z - w


# log-odds below which a state does not change a sum in double precision
NEGLIGIBLE = -40.0


@kernel
def state_likelihood(
    starts: Array,
    cell: Array,
    gold: Array,
    weight: Array,
    truth: Array,
    log_share: Array,
    table: Array,
    share_grad: Array,
    table_grad: Array,
) -> float:
    """Return the log likelihood of all items, with the states summed out."""
    # table [cell, state] is log P(label | state), truth the class of each state; a known truth
    # excludes states of other classes. Gradients are added to share_grad [state] and table_grad
    # [cell, state].
    n_states = len(log_share)
    p = np.empty(n_states)
    value = 0.0
    for i in range(len(gold)):
        for s in range(n_states):
            p[s] = log_share[s]
        for n in range(starts[i], starts[i + 1]):
            c = cell[n]
            for s in range(n_states):
                p[s] += table[c, s]
        if gold[i] >= 0:
            for s in range(n_states):
                if truth[s] != gold[i]:
                    p[s] = -math.inf
        top = p[0]
        for s in range(1, n_states):
            top = max(top, p[s])
        total = 0.0
        for s in range(n_states):
            below = p[s] - top
            p[s] = math.exp(below) if below > NEGLIGIBLE else 0.0
            total += p[s]
        value += weight[i] * (top + math.log(total))
        # the gradient of log-sum-exp is P(state | labels)
        for s in range(n_states):
            p[s] *= weight[i] / total
            share_grad[s] += p[s]
        for n in range(starts[i], starts[i + 1]):
            c = cell[n]
            for s in range(n_states):
                table_grad[c, s] += p[s]
    return value
