"""Quadrature points that several kinds of items share, and their gradient."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, inlined

# `rule` contains nodes and log weights or, with several kinds of items, positions of the points
# from -1 to 1 and, in the second row, values with these indices
REACH, LEAST, FINEST = range(3)


@inlined
def fill_points(
    shift: Array, rho: Array, rule: Array, points: Array, width: Array, log_weight: Array
) -> None:
    """Fill `points` [class, point], `width` [class] and `log_weight` [kind, class, point]."""
    # like common_points and log_weights of models/continuous/item_covariates.py
    low, high = shift.min(), shift.max()
    size = rule.shape[1]
    for c in range(len(width)):
        half = 0.5 * (high - low) + rule[1, REACH] * rho[c] + rule[1, LEAST]
        finest = rule[1, FINEST] * half
        top = max(rho[c], finest)
        width[c] = top * ((rho[c] / top) ** 8 + (finest / top) ** 8) ** 0.125
        for q in range(size):
            points[c, q] = 0.5 * (low + high) + half * rule[0, q]
        for g in range(len(shift)):
            nearest, total = math.inf, 0.0
            for q in range(size):
                z = (points[c, q] - shift[g]) / width[c]
                log_weight[g, c, q] = -0.5 * z * z
                nearest = min(nearest, 0.5 * z * z)
            for q in range(size):
                total += math.exp(log_weight[g, c, q] + nearest)
            total = math.log(total) - nearest
            for q in range(size):
                log_weight[g, c, q] -= total


@inlined
def points_back(
    shift: Array, rho: Array, rule: Array, points: Array, width: Array, log_weight: Array,
    of_weight: Array, of_points: Array, shift_grad: Array, log_rho_grad: Array,
) -> None:  # fmt: skip
    """Add the gradient for the arguments of `fill_points`."""
    # of_weight [kind, class, point] and of_points [class, point], which is modified, are the
    # gradients of its results; log_rho_grad is empty if no scale is estimated
    lowest, highest = np.argmin(shift), np.argmax(shift)
    for c in range(len(width)):
        of_width, of_middle, of_half = 0.0, 0.0, 0.0
        for g in range(len(shift)):
            whole = of_weight[g, c].sum()
            for q in range(rule.shape[1]):
                z = (points[c, q] - shift[g]) / width[c]
                of_z = -z * (of_weight[g, c, q] - math.exp(log_weight[g, c, q]) * whole)
                of_points[c, q] += of_z / width[c]
                shift_grad[g] -= of_z / width[c]
                of_width -= of_z * z / width[c]
        for q in range(rule.shape[1]):
            of_middle += of_points[c, q]
            of_half += of_points[c, q] * rule[0, q]
        half = 0.5 * (shift[highest] - shift[lowest])
        half += rule[1, REACH] * rho[c] + rule[1, LEAST]
        finest = rule[1, FINEST] * half
        of_half += of_width * (finest / width[c]) ** 7 * rule[1, FINEST]
        shift_grad[highest] += 0.5 * (of_middle + of_half)
        shift_grad[lowest] += 0.5 * (of_middle - of_half)
        if len(log_rho_grad):
            of_rho = of_half * rule[1, REACH] + of_width * (rho[c] / width[c]) ** 7
            log_rho_grad[c] += of_rho * rho[c]
