"""Slice steps for the populations of the interval model, with their members integrated out."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, inlined
from annomodels.kernels.random import slice_step

# indices of the population parameters
MU, TAU, BIAS, SCALE, NOISE, CODER_SHAPE, ITEM_SHAPE = range(7)
# kinds of slice steps
SPREAD_OF_TRUTH, SPREAD_OF_CODERS, NOISE_OF_CODERS, SHAPE_OF_ITEMS, STRETCH = range(5)
WIDTH = 1.0


@inlined
def half_normal(log_x: float, spread: float) -> float:
    """Return the log density of log x for half-normal x, up to a constant."""
    x = math.exp(log_x) / spread
    return log_x - 0.5 * x * x


@inlined
def log_normal(log_x: float, prior: Array, place: int) -> float:
    """Return the log density of log x for log-normal x, up to a constant."""
    z: float = (log_x - prior[place]) / prior[place + 1]
    return -0.5 * z * z


@inlined
def density(x: Array, kind: int, table: Array, held: Array, prior: Array) -> float:
    """Return the log density of log parameters `x`, with their members integrated out."""
    value: float = 0.0
    if abs(x[0]) > 40.0 or abs(x[1]) > 40.0:
        return -np.inf
    if kind == SPREAD_OF_TRUTH:
        tau2 = math.exp(2.0 * x[0])
        value = half_normal(x[0], prior[TAU])
        for i in range(len(table)):
            if table[i, 2] > 0.0:  # known truth, d in table[i, 3]
                value -= x[0] + 0.5 * table[i, 3] ** 2 / tau2
            else:
                grown = 1.0 + tau2 * table[i, 0]
                value += 0.5 * (tau2 * table[i, 1] ** 2 / grown - math.log(grown))
    elif kind == SPREAD_OF_CODERS:
        b2, s2 = math.exp(2.0 * x[0]), math.exp(2.0 * x[1])
        value = half_normal(x[0], prior[BIAS]) + half_normal(x[1], prior[SCALE])
        for j in range(len(table)):
            s_00, s_01, s_11 = table[j, 0], table[j, 1], table[j, 2]
            h_0, h_1 = table[j, 3], table[j, 4]
            cross = max(s_00 * s_11 - s_01 * s_01, 0.0)
            det = 1.0 + b2 * s_00 + s2 * s_11 + b2 * s2 * cross
            square = (1.0 + s2 * s_11) * b2 * h_0 * h_0 + (1.0 + b2 * s_00) * s2 * h_1 * h_1
            square -= 2.0 * b2 * s2 * s_01 * h_0 * h_1
            value += 0.5 * (square / det - math.log(det))
    elif kind == NOISE_OF_CODERS:
        shape = 2.0 + math.exp(x[1])
        rate = (shape - 1.0) * math.exp(2.0 * x[0])
        value = half_normal(x[0], prior[NOISE]) + log_normal(x[1], prior, CODER_SHAPE)
        value += evidence(table, shape, rate)
    elif kind == SHAPE_OF_ITEMS:
        rate = 1.0 + math.exp(x[0])
        value = log_normal(x[0], prior, CODER_SHAPE + 2) + evidence(table, 1.0 + rate, rate)
    else:
        factor = math.exp(x[0])
        value = half_normal(math.log(held[TAU]) - x[0], prior[TAU])
        for j in range(len(table)):
            value += x[0] - 0.5 * ((factor * table[j, 5] - 1.0) / held[SCALE]) ** 2
    return value


@inlined
def evidence(table: Array, shape: float, rate: float) -> float:
    """Return the log density of sums of squares (counts in column 6), precisions integrated out."""
    value = 0.0
    common = shape * math.log(rate) - math.lgamma(shape)
    for j in range(len(table)):
        more = shape + 0.5 * table[j, 6]
        value += common + math.lgamma(more) - more * math.log(rate + 0.5 * table[j, 7])
    return value


move = slice_step(density, 60)


@inlined
def step(
    kind: int, x: Array, place: int, table: Array, held: Array, prior: Array, state: Array
) -> None:
    """Move x[place] by a slice step."""
    args = (kind, table, held, prior)
    move(x, place, args, WIDTH, density(x, *args), state)
