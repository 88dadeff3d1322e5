"""Gibbs sampling for numeric labels: Gaussian truth, coders with bias, scale and noise."""

# d[i] ~ N(0, tau^2), the truth is mu + d;
# y[n] ~ N(mu + bias[j] + scale[j] d[i], 1 / (ease[i] precision[j]));
# a label is y[n] rounded to a step of the scale, which has open ends.
# An iteration draws each population scale with its members integrated out, then the members. So no
# chain gets stuck if a population scale is near 0. Two directions in which the posterior is nearly
# flat (shift of the truth against all biases, stretch of the truth against all scales) have
# separate steps (Liu & Sabatti 2000, doi:10.1093/biomet/87.2.353).

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel
from annomodels.kernels.interval_slices import (
    BIAS,
    CODER_SHAPE,
    ITEM_SHAPE,
    MU,
    NOISE,
    NOISE_OF_CODERS,
    SCALE,
    SHAPE_OF_ITEMS,
    SPREAD_OF_CODERS,
    SPREAD_OF_TRUTH,
    STRETCH,
    TAU,
    step,
)
from annomodels.kernels.random import POPULATION, address, between, gamma_variate, normal_pair


@inlined
def item_sums(
    item: Array, coder: Array, y: Array, bias: Array, scale: Array, precision: Array, ease: Array,
    sums: Array,
) -> None:  # fmt: skip
    """Fill weighted sums of s^2, s, 1, s r, r, r^2 per item, with r = y - bias; [item, 6]."""
    sums[:] = 0.0
    for n in range(len(y)):
        i, j = item[n], coder[n]
        w = ease[i] * precision[j]
        r = y[n] - bias[j]
        sums[i, 0] += w * scale[j] * scale[j]
        sums[i, 1] += w * scale[j]
        sums[i, 2] += w
        sums[i, 3] += w * scale[j] * r
        sums[i, 4] += w * r
        sums[i, 5] += w * r * r


@inlined
def draw_truth(
    held: Array, sums: Array, known: Array, prior: Array, table: Array, centre: Array,
    spread: Array, d: Array, state: Array, pair: Array, x: Array,
) -> None:  # fmt: skip
    """Draw tau, then mu, both with the unknown truths integrated out, then these truths."""
    # fills centre and spread [item] with the conditional mean and standard deviation of the truth
    for i in range(len(d)):
        table[i, 0] = sums[i, 0]
        table[i, 1] = sums[i, 3] - held[MU] * sums[i, 1]
        table[i, 2] = 0.0 if np.isnan(known[i]) else 1.0
        table[i, 3] = known[i] - held[MU]
    x[0], x[1] = math.log(held[TAU]), 0.0
    step(SPREAD_OF_TRUTH, x, 0, table, held, prior, state)
    held[TAU] = math.exp(x[0])
    tau2 = held[TAU] ** 2
    weight, linear = 1.0 / prior[MU] ** 2, 0.0
    for i in range(len(d)):
        a, c, w, e, f = sums[i, 0], sums[i, 1], sums[i, 2], sums[i, 3], sums[i, 4]
        if np.isnan(known[i]):
            share = tau2 / (1.0 + tau2 * a)
            weight += w - share * c * c
            linear += f - share * c * e
        else:
            weight += w - 2.0 * c + a + 1.0 / tau2
            linear += f - e - known[i] * (c - a) + known[i] / tau2
    normal_pair(state, pair)
    held[MU] = linear / weight + pair[0] / math.sqrt(weight)
    for i in range(len(d)):
        if np.isnan(known[i]):
            variance = tau2 / (1.0 + tau2 * sums[i, 0])
            mean = variance * (sums[i, 3] - held[MU] * sums[i, 1])
            normal_pair(state, pair)
            d[i] = mean + math.sqrt(variance) * pair[0]
            centre[i], spread[i] = held[MU] + mean, math.sqrt(variance)
        else:
            d[i] = known[i] - held[MU]
            centre[i], spread[i] = known[i], 0.0


@inlined
def draw_coders(
    item: Array, coder: Array, y: Array, held: Array, prior: Array, d: Array, ease: Array,
    table: Array, bias: Array, scale: Array, precision: Array, state: Array, pair: Array, x: Array,
) -> None:  # fmt: skip
    """Draw the populations of bias, scale and precision, each followed by its coders."""
    n_coders = len(bias)
    table[:] = 0.0
    square = np.zeros(n_coders)
    for n in range(len(y)):
        i, j = item[n], coder[n]
        r = y[n] - held[MU] - d[i]  # residual with bias 0 and scale 1
        table[j, 0] += ease[i]
        table[j, 1] += ease[i] * d[i]
        table[j, 2] += ease[i] * d[i] * d[i]
        table[j, 3] += ease[i] * r
        table[j, 4] += ease[i] * d[i] * r
        table[j, 6] += 1.0
        square[j] += ease[i] * r * r
    for j in range(n_coders):
        for column in range(5):
            table[j, column] *= precision[j]
    x[0], x[1] = math.log(held[BIAS]), math.log(held[SCALE])
    for place in range(2):
        step(SPREAD_OF_CODERS, x, place, table, held, prior, state)
    held[BIAS], held[SCALE] = math.exp(x[0]), math.exp(x[1])
    b2, s2 = held[BIAS] ** 2, held[SCALE] ** 2
    for j in range(n_coders):
        s_00, s_01, s_11 = table[j, 0], table[j, 1], table[j, 2]
        h_0, h_1 = table[j, 3], table[j, 4]
        det = 1.0 + b2 * s_00 + s2 * s_11 + b2 * s2 * max(s_00 * s_11 - s_01 * s_01, 0.0)
        v_00 = b2 * (1.0 + s2 * s_11) / det
        v_11 = s2 * (1.0 + b2 * s_00) / det
        v_01 = -b2 * s2 * s_01 / det
        normal_pair(state, pair)
        shift = math.sqrt(v_00) * pair[0]
        bias[j] = v_00 * h_0 + v_01 * h_1 + shift
        stretch = v_01 * h_0 + v_11 * h_1 + v_01 / v_00 * shift
        stretch += math.sqrt(max(v_11 - v_01 * v_01 / v_00, 0.0)) * pair[1]
        scale[j] = 1.0 + stretch
        w = precision[j]
        left = square[j] + (
            bias[j] ** 2 * table[j, 0] + stretch**2 * table[j, 2]
            + 2.0 * bias[j] * stretch * table[j, 1]
            - 2.0 * bias[j] * table[j, 3] - 2.0 * stretch * table[j, 4]
        ) / w  # fmt: skip
        table[j, 5] = scale[j]
        table[j, 7] = max(left, 0.0)
    x[0], x[1] = math.log(held[NOISE]), math.log(held[CODER_SHAPE])
    for place in range(2):
        step(NOISE_OF_CODERS, x, place, table, held, prior, state)
    held[NOISE], held[CODER_SHAPE] = math.exp(x[0]), math.exp(x[1])
    shape = 2.0 + held[CODER_SHAPE]
    rate = (shape - 1.0) * held[NOISE] ** 2
    for j in range(n_coders):
        number, _ = gamma_variate(state, pair, 0, shape + 0.5 * table[j, 6])
        precision[j] = number / (rate + 0.5 * table[j, 7])


@inlined
def along_the_ridges(
    held: Array, prior: Array, table: Array, bias: Array, scale: Array, d: Array, state: Array,
    pair: Array, x: Array,
) -> None:  # fmt: skip
    """Draw a shift of the truth against the biases and a stretch against the scales."""
    n_coders = len(bias)
    weight = 1.0 / prior[MU] ** 2 + n_coders / held[BIAS] ** 2
    linear = bias.sum() / held[BIAS] ** 2 - held[MU] / prior[MU] ** 2
    normal_pair(state, pair)
    shift = linear / weight + pair[0] / math.sqrt(weight)
    held[MU] += shift
    bias -= shift
    x[0], x[1] = 0.0, 0.0
    step(STRETCH, x, 0, table, held, prior, state)
    factor = math.exp(x[0])
    scale *= factor
    d /= factor
    held[TAU] /= factor


@inlined
def draw_ease(
    item: Array, coder: Array, y: Array, held: Array, prior: Array, d: Array, bias: Array,
    scale: Array, precision: Array, table: Array, ease: Array, state: Array, pair: Array, x: Array,
) -> None:  # fmt: skip
    """Draw the shape of the item precisions, then the precisions."""
    table[:, 6:8] = 0.0
    for n in range(len(y)):
        i, j = item[n], coder[n]
        r = y[n] - held[MU] - bias[j] - scale[j] * d[i]
        table[i, 6] += 1.0
        table[i, 7] += precision[j] * r * r
    x[0], x[1] = math.log(held[ITEM_SHAPE]), 0.0
    step(SHAPE_OF_ITEMS, x, 0, table, held, prior, state)
    held[ITEM_SHAPE] = math.exp(x[0])
    for i in range(len(ease)):
        shape = 2.0 + held[ITEM_SHAPE] + 0.5 * table[i, 6]
        number, _ = gamma_variate(state, pair, 0, shape)
        ease[i] = number / (1.0 + held[ITEM_SHAPE] + 0.5 * table[i, 7])


@inlined
def log_likelihood(held: Array, sums: Array, known: Array) -> float:
    """Return the log density of all labels, unknown truths integrated out, up to a constant."""
    tau2, mu = held[TAU] ** 2, held[MU]
    value = 0.0
    for i in range(len(known)):
        a, c, w, e, f, q = sums[i, 0], sums[i, 1], sums[i, 2], sums[i, 3], sums[i, 4], sums[i, 5]
        square = q - 2.0 * mu * f + mu * mu * w
        b = e - mu * c
        if np.isnan(known[i]):
            grown = 1.0 + tau2 * a
            value -= 0.5 * (square - tau2 * b * b / grown + math.log(grown))
        else:
            d = known[i] - mu
            value -= 0.5 * (square - 2.0 * d * b + d * d * a)
            value -= math.log(held[TAU]) + 0.5 * d * d / tau2
    return value


@inlined
def draw_unrounded(
    item: Array, coder: Array, y: Array, low: Array, high: Array, held: Array, d: Array,
    bias: Array, scale: Array, precision: Array, ease: Array, state: Array, pair: Array,
) -> None:  # fmt: skip
    """Draw each coder's latent value before rounding to a step of the scale."""
    for n in range(len(y)):
        if low[n] < high[n]:
            i, j = item[n], coder[n]
            mean = held[MU] + bias[j] + scale[j] * d[i]
            sd = 1.0 / math.sqrt(ease[i] * precision[j])
            y[n] = mean + sd * between(state, pair, (low[n] - mean) / sd, (high[n] - mean) / sd)


@inlined
def log_cells(
    item: Array, coder: Array, low: Array, high: Array, held: Array, d: Array, bias: Array,
    scale: Array, precision: Array, ease: Array,
) -> float:  # fmt: skip
    """Return the log probability of rounded labels given the truths."""
    value = 0.0
    for n in range(len(low)):
        i, j = item[n], coder[n]
        mean = held[MU] + bias[j] + scale[j] * d[i]
        root = math.sqrt(0.5 * ease[i] * precision[j])
        a, b = (low[n] - mean) * root, (high[n] - mean) * root
        if a + b < 0.0:
            a, b = -b, -a
        value += math.log(max(0.5 * (math.erfc(a) - math.erfc(b)), 1e-300))
    return value


@kernel
def iterate(
    item: Array, coder: Array, y: Array, low: Array, high: Array, exact: bool, known: Array,
    prior: Array, key: Key, first: int, end: int,
    thin: int, truth_thin: int, batches: int, any_known: bool, held: Array, d: Array, bias: Array,
    scale: Array, precision: Array, ease: Array, kept: Array, kept_bias: Array, kept_scale: Array,
    kept_precision: Array, kept_truth: Array, kept_likelihood: Array, truth_sums: Array,
    ease_sums: Array,
) -> None:  # fmt: skip
    """Run iterations `first` to `end`; from 0 on store every `thin`-th, or none if `thin` is 0."""
    # kept [draw, parameter] etc. store draws, kept_truth [draw, item] every truth_thin-th draw.
    # truth_sums [batch + 1, item] accumulates the conditional means of the truth by batch and, in
    # its last row, mean^2 + variance; ease_sums [2, item] the difficulty and its square.
    n_items, n_coders = len(d), len(bias)
    state = np.empty(1, dtype=np.uint64)
    pair, x = np.empty(2), np.zeros(2)
    sums, items, coders = np.empty((n_items, 6)), np.zeros((n_items, 8)), np.zeros((n_coders, 8))
    centre, spread = np.empty(n_items), np.empty(n_items)
    for iteration in range(first, end):
        state[0] = address(key, iteration, POPULATION, 0)
        item_sums(item, coder, y, bias, scale, precision, ease, sums)
        draw_truth(held, sums, known, prior, items, centre, spread, d, state, pair, x)
        if thin > 0 and iteration % thin == 0:
            n = iteration // thin
            kept[n] = held
            kept_bias[n], kept_scale[n], kept_precision[n] = bias, scale, precision
            if exact:
                value = log_likelihood(held, sums, known)
                for m in range(len(y)):
                    value += 0.5 * math.log(ease[item[m]] * precision[coder[m]])
            else:
                value = log_cells(item, coder, low, high, held, d, bias, scale, precision, ease)
            kept_likelihood[n] = value
            batch = n * batches // len(kept)
            for i in range(n_items):
                truth_sums[batch, i] += centre[i]
                truth_sums[batches, i] += centre[i] ** 2 + spread[i] ** 2
                hard = 1.0 / math.sqrt(ease[i])
                ease_sums[0, i] += hard
                ease_sums[1, i] += hard * hard
            if n % truth_thin == 0:
                for i in range(n_items):
                    kept_truth[n // truth_thin, i] = held[MU] + d[i]
        draw_coders(
            item, coder, y, held, prior, d, ease, coders, bias, scale, precision, state, pair, x
        )
        if not any_known:
            along_the_ridges(held, prior, coders, bias, scale, d, state, pair, x)
        draw_ease(
            item, coder, y, held, prior, d, bias, scale, precision, items, ease, state, pair, x
        )
        if not exact:
            draw_unrounded(
                item, coder, y, low, high, held, d, bias, scale, precision, ease, state, pair
            )
