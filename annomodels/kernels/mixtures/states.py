"""Passes over items that are in one of several states, each a mixture of their coders' rows."""

# Cells are places coder * labels + label as in passes. table is P(label | state, coder) as [cell,
# state], rows P(label | row, coder) as [cell, row], mix [state, row] the share of each row in a
# state. As in products, probabilities are multiplied, and logarithms taken only if a product is too
# small.

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel, melted
from annomodels.kernels.passes import NEGLIGIBLE
from annomodels.kernels.products import LEAST_SHARE, LEAST_TOTAL
from annomodels.kernels.random import ROW, TRUTH, uniform_at


@kernel
def fill_table(rows: Array, parts: Array, smallest: float, table: Array) -> None:
    """Fill `table` with the mixtures of `rows`, at least `smallest`; `parts` is [row, state]."""
    n_rows, n_states = parts.shape
    for c in range(len(rows)):
        for s in range(n_states):
            table[c, s] = 0.0
        for r in range(n_rows):
            p = rows[c, r]
            for s in range(n_states):
                table[c, s] += parts[r, s] * p
        # a state may rule a label out; a floor keeps its logarithm finite, as in the PyMC model
        for s in range(n_states):
            table[c, s] = max(table[c, s], smallest)


# A few states at a time stay in registers; with `p[s]` in memory each factor would be a load and a
# store, since the compiler cannot rule out that `p` and `table` overlap.
@melted
def multiply_four(
    share: Array, table: Array, cell: Array, lo: int, hi: int, at: int, p: Array
) -> None:
    """Fill `p[at : at + 4]` with the share of these states times P(labels lo..hi | state)."""
    a, b, c, d = share[at], share[at + 1], share[at + 2], share[at + 3]
    for n in range(lo, hi):
        row = cell[n]
        a *= table[row, at]
        b *= table[row, at + 1]
        c *= table[row, at + 2]
        d *= table[row, at + 3]
    p[at], p[at + 1], p[at + 2], p[at + 3] = a, b, c, d


@melted
def multiply_two(
    share: Array, table: Array, cell: Array, lo: int, hi: int, at: int, p: Array
) -> None:
    """Do the same with two states."""
    a, b = share[at], share[at + 1]
    for n in range(lo, hi):
        row = cell[n]
        a *= table[row, at]
        b *= table[row, at + 1]
    p[at], p[at + 1] = a, b


@melted
def multiply_one(
    share: Array, table: Array, cell: Array, lo: int, hi: int, at: int, p: Array
) -> None:
    """Do the same with one state."""
    a = share[at]
    for n in range(lo, hi):
        a *= table[cell[n], at]
    p[at] = a


@inlined
def weigh_states(
    starts: Array, cell: Array, known: int, share: Array, table: Array, truth: Array,
    smallest: float, i: int, p: Array,
) -> float:  # fmt: skip
    """Fill `p` with P(state | labels of item i, truth where known); gives their log probability."""
    n_states, lo, hi = p.shape[0], starts[i], starts[i + 1]
    at = 0
    while at + 4 <= n_states:
        multiply_four(share, table, cell, lo, hi, at, p)
        at += 4
    if at + 2 <= n_states:
        multiply_two(share, table, cell, lo, hi, at, p)
        at += 2
    if at < n_states:
        multiply_one(share, table, cell, lo, hi, at, p)
    if known >= 0:
        for s in range(n_states):
            p[s] *= max(truth[s, known], smallest)
    total: float = 0.0
    for s in range(n_states):
        total += p[s]
    if not total >= LEAST_TOTAL:
        return float(weigh_logarithms(starts, cell, known, share, table, truth, smallest, i, p))
    for s in range(n_states):  # what is impossible by definition is so small a number, not zero
        p[s] = p[s] / total if p[s] > LEAST_SHARE * total else 0.0
    return math.log(total)


@inlined
def weigh_logarithms(
    starts: Array, cell: Array, known: int, share: Array, table: Array, truth: Array,
    smallest: float, i: int, p: Array,
) -> float:  # fmt: skip
    """Do the same for labels whose product is too small a number."""
    n_states = p.shape[0]
    for s in range(n_states):
        p[s] = math.log(share[s])
    for n in range(starts[i], starts[i + 1]):
        c = cell[n]
        for s in range(n_states):
            p[s] += math.log(table[c, s])
    if known >= 0:
        for s in range(n_states):
            p[s] += math.log(max(truth[s, known], smallest))
    top: float = p[0]
    for s in range(1, n_states):
        top = max(top, p[s])
    total: float = 0.0
    for s in range(n_states):
        x = p[s] - top
        p[s] = math.exp(x) if x > NEGLIGIBLE else 0.0
        total += p[s]
    for s in range(n_states):
        p[s] /= total
    return top + math.log(total)


@melted
def note_item(
    p: Array, known: int, truth: Array, values: Array, i: int, p_truth: Array,
    entropy: Array, p_state: Array, value_sum: Array, value_square: Array,
) -> None:  # fmt: skip
    """Add the truth, states and values of one item under its P(state)."""
    # entropies, and P(state), are left out if there is no room for them
    n_states, n_classes = truth.shape
    # a known truth has no entropy, whatever its state
    if known >= 0:
        p_truth[i, known] += 1.0
    else:
        for k in range(n_classes):
            chance = 0.0
            for s in range(n_states):
                chance += p[s] * truth[s, k]
            p_truth[i, k] += chance
            if entropy.shape[0] > 0 and chance > 0.0:
                entropy[i] -= chance * math.log(chance)
    if p_state.shape[0] > 0:
        for s in range(n_states):
            p_state[i, s] += p[s]
    for v in range(values.shape[0]):
        mean, square = 0.0, 0.0
        for s in range(n_states):
            mean += p[s] * values[v, s]
            square += p[s] * values[v, s] * values[v, s]
        value_sum[v, i] += mean
        value_square[v, i] += square


@kernel
def state_pass(
    starts: Array, cell: Array, gold: Array, weight: Array, share: Array, table: Array,
    truth: Array, values: Array, smallest: float, p_truth: Array, entropy: Array, p_state: Array,
    value_sum: Array, value_square: Array,
) -> float:  # fmt: skip
    """Add P(truth), P(state) and values under one draw of the parameters; the log likelihood."""
    # item i counts weight[i] times in the log likelihood, once in the sums
    n_states = len(truth)
    p = np.empty(n_states)
    total = 0.0
    for i in range(len(gold)):
        total += weight[i] * weigh_states(
            starts, cell, gold[i], share, table, truth, smallest, i, p
        )
        note_item(p, gold[i], truth, values, i, p_truth, entropy, p_state, value_sum, value_square)
    return total


@kernel
def varied_state_pass(
    starts: Array, cell: Array, gold: Array, weight: Array, shares: Array, kind: Array,
    table: Array, truth: Array, values: Array, smallest: float, p_truth: Array, entropy: Array,
    p_state: Array, value_sum: Array, value_square: Array,
) -> float:  # fmt: skip
    """Do the same where item i has the shares of its kind, `shares[kind[i]]`."""
    p = np.empty(len(truth))
    total = 0.0
    for i in range(len(gold)):
        share = shares[kind[i]]
        total += weight[i] * weigh_states(
            starts, cell, gold[i], share, table, truth, smallest, i, p
        )
        note_item(p, gold[i], truth, values, i, p_truth, entropy, p_state, value_sum, value_square)
    return total


@kernel
def open_known(
    known: tuple[Array, Array, Array], share: Array, table: Array, truth: Array, smallest: float,
    least: float, out: Array,
) -> None:  # fmt: skip
    """Add P(truth | labels) of items with known labels, weighted by 1 / P(truth), to `out`."""
    # known holds the first label of each of these items, their cells, and the truths; a P(truth)
    # below least counts as that. Weights compensate that the parameters have seen the truth.
    starts, cell, gold = known
    n = len(gold)
    p: Array = np.zeros(out.shape)
    rest, nothing = np.zeros(n), np.empty((0, 0))
    unknown = np.full(n, -1, gold.dtype)
    no_values = np.empty((0, len(share)))
    state_pass(
        starts, cell, unknown, np.ones(n), share, table, truth, no_values, smallest, p, rest,
        nothing, nothing, nothing,
    )  # fmt: skip
    for i in range(n):
        weight = max(p[i, gold[i]], least)
        for k in range(p.shape[1]):
            out[i, k] += p[i, k] / weight


@inlined
def pick(p: Array, u: float) -> int:
    """Place that the uniform number `u` falls on among probabilities `p`."""
    place = len(p) - 1
    cumulated = 0.0
    for s in range(len(p)):
        cumulated += p[s]
        if u < cumulated:
            place = s
            break
    while p[place] == 0.0:  # rounding may leave u above the last sum
        place -= 1
    return place


@kernel
def sampled_states(
    starts: Array, cell: Array, gold: Array, share: Array, table: Array, rows: Array,
    mix: Array, only: Array, truth: Array, values: Array, smallest: float, key: Key,
    iteration: int, keep: bool, first: int, drawn: Array, counts: Array, extra: Array, sizes: Array,
    golds: Array, p_truth: Array, entropy: Array, p_state: Array, value_sum: Array,
    value_square: Array,
) -> float:  # fmt: skip
    """Draw the state of every item and the row of each label, and count; the log likelihood."""
    # Random numbers of items are those of first and the items after it. only [state] is the single
    # row of a state, or -1. States go to drawn [item]; counts [cell, class], extra [cell, further
    # row], sizes [state] and, of items whose truth is known, golds [state, truth] are added to.
    n_states = len(truth)
    n_own, n_rows = counts.shape[1], rows.shape[1]
    p, parts = np.empty(n_states), np.empty(n_rows)
    total = 0.0
    for i in range(len(gold)):
        total += weigh_states(starts, cell, gold[i], share, table, truth, smallest, i, p)
        if keep:
            note_item(
                p, gold[i], truth, values, i, p_truth, entropy, p_state, value_sum,
                value_square,
            )  # fmt: skip
        s = pick(p, uniform_at(key, iteration, TRUTH, first + i))
        drawn[i] = s
        sizes[s] += 1
        if gold[i] >= 0:
            golds[s, gold[i]] += 1
        for n in range(starts[i], starts[i + 1]):
            c = cell[n]
            r = only[s]
            if r < 0:
                whole = 0.0
                for a in range(n_rows):
                    parts[a] = mix[s, a] * rows[c, a]
                    whole += parts[a]
                for a in range(n_rows):
                    parts[a] /= whole
                r = pick(parts, uniform_at(key, iteration, ROW, n))
            if r < n_own:
                counts[c, r] += 1
            else:
                extra[c, r - n_own] += 1
    return total
