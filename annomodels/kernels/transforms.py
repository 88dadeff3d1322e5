"""Unconstrained numbers that NUTS moves: to simplexes and zero sums, and gradients back.

The transforms are those of PyMC, so that a density here is that of the PyMC model.
"""

from __future__ import annotations

import math

from annomodels.kernels.compile import Array, inlined


@inlined
def log_simplex(free: Array, out: Array) -> None:
    """Fill `out` with the logarithms of a simplex [k], given its k - 1 free numbers.

    It is the softmax of these and of minus their sum.
    The logarithm of the Jacobian is log k plus the sum of these logarithms.
    """
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
    """Write into `free` the gradient, from `grad` with respect to the logarithms."""
    last = len(free)
    total = 0.0
    for n in range(last + 1):
        total += grad[n]
    of_last = grad[last] - total * math.exp(log_p[last])
    for n in range(last):
        free[n] = grad[n] - total * math.exp(log_p[n]) - of_last


@inlined
def zero_sum(free: Array, out: Array) -> None:
    """Numbers that sum to zero [n] from n - 1 free ones, without stretching."""
    last = len(free)
    root = math.sqrt(last + 1.0)
    total = 0.0
    for n in range(last):
        total += free[n]
    shift = total / (root + last + 1.0)
    for n in range(last):
        out[n] = free[n] - shift
    out[last] = -total / root


@inlined
def zero_sum_back(grad: Array, free: Array) -> None:
    """Write into `free` the gradient, from `grad` with respect to the numbers that sum to zero."""
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
    """Sum of the squares of numbers in one row."""
    total = 0.0
    for n in range(len(values)):
        total += values[n] ** 2
    return total
