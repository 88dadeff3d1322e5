"""Densities of what coders and populations are drawn from, with their gradients."""

from __future__ import annotations

import math

from annomodels.kernels.compile import Array, inlined


@inlined
def normals(free: Array, scale: float, grad: Array) -> float:
    """Log density of normal numbers around 0, without its constant; adds to the gradient."""
    value = 0.0
    for n in range(len(free)):
        value -= 0.5 * (free[n] / scale) ** 2
        grad[n] -= free[n] / scale**2
    return value


@inlined
def half_normals(free: Array, scale: float, grad: Array) -> float:
    """Log density of logarithms of half-normal numbers; adds to the gradient."""
    value = 0.0
    for n in range(len(free)):
        square = math.exp(2.0 * free[n]) / scale**2
        value += free[n] - 0.5 * square
        grad[n] += 1.0 - square
    return value


@inlined
def partly_centred(free: Array, share: Array, mean: Array, scale: Array, out: Array) -> float:
    """Parameters [coder, ...] from free numbers, partly centred; gives their log density.

    The sampler moves (x - m) / s^(1 - w) + w m, with the share w of each coder.
    """
    n_coders, k = out.shape
    value = 0.0
    for j in range(n_coders):
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
    """Add the gradient of `partly_centred` and of the likelihood, `grad` the latter."""
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
