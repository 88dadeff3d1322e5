"""One pass over the items: parameters in, additive statistics out."""

# share [state] contains the probabilities of the states, table [cell, state] P(label | state,
# coder). The cell of an annotation is coder * labels + label, so that the values it needs are
# adjacent. Counts have the same layout and add over partitions. If `states` is None, a state is the
# class of an item, and numba compiles no code for states. Each pass repeats the lines that compute
# P(state): a function, even a melted one, would count references to its arrays for each item, which
# takes as long as the rest.

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel, melted
from annomodels.kernels.products import LEAST_TOTAL, add, entropy_of, multiply, pick
from annomodels.kernels.random import ROW, TRUTH, uniform_at

# log-odds below which a state does not change a sum in double precision
NEGLIGIBLE = -40.0

# starts, cell and gold of the items
Items = tuple[Array, ...]
# share and table, and the logarithms of both if these are more precise
Logs = tuple[Array, Array] | None
Chances = tuple[Array, Array, Logs]


class StateLayout(NamedTuple):
    """Layout of the states of items if there are more of them than classes."""

    # truth [state, truth] is P(truth | state), only [state] the single row of a state or -1, mix
    # [state, row] the weight of each row in a state, rows [cell, row] P(label | row, coder), values
    # [value, state] the state values, smallest the lower bound of a truth's probability

    truth: Array
    only: Array
    mix: Array
    rows: Array
    values: Array
    smallest: float


# chances, and the layout of states, if states are not classes
Given = tuple[Array, Array, Logs, StateLayout | None]


class DrawSums(NamedTuple):
    """Sums over draws for each item; the arrays of P(state) and values may be empty."""

    p_truth: Array  # [item, truth], class k at position order[k]
    entropy: Array  # [item]
    p_state: Array  # [item, state]
    value_sum: Array  # [value, item]
    value_square: Array
    order: Array


def sums_of(p_truth: Array, entropy: Array, order: Array | None = None) -> DrawSums:
    """Return sums without those of states."""
    none = np.empty((0, 0))
    places = np.arange(p_truth.shape[1]) if order is None else order
    return DrawSums(p_truth, entropy, none, none, none, places)


def chances(log_prevalence: Array, logc: Array) -> Chances:
    """Return the class parameters for a pass; logc is [coder, label, truth]."""
    log_table = logc.reshape(-1, logc.shape[2])
    return np.exp(log_prevalence), np.exp(log_table), (log_prevalence, log_table)


@kernel
def refresh(log_prevalence: Array, logc: Array, share: Array, table: Array) -> None:
    """Compute the class probabilities from their logarithms, in place."""
    for k in range(len(share)):
        share[k] = math.exp(log_prevalence[k])
    # one long loop: in three nested loops the inner ones would be short
    from_, to = logc.reshape(-1), table.reshape(-1)
    for n in range(len(to)):
        to[n] = math.exp(from_[n])


@melted
def given_truth(p: Array, known: int, states: StateLayout | None) -> float:
    """Multiply `p` by the probability of a known truth in each state, and return the sum."""
    total = 0.0
    for s in range(len(p)):
        if states is None:
            p[s] *= 1.0 if s == known else 0.0
        else:
            p[s] *= max(states.truth[s, known], states.smallest)
        total += p[s]
    return total


@inlined
def by_logs(
    items: Items,
    share: Array,
    table: Array,
    logs: Logs,
    states: StateLayout | None,
    i: int,
    p: Array,
) -> float:
    """Fill `p` with P(state | labels of item i) from logarithms; return log P(labels)."""
    starts, cell, gold = items
    n_states = len(p)
    for s in range(n_states):
        if logs is None:
            p[s] = math.log(share[s])
        else:
            p[s] = logs[0][s]
    # labels in the outer loop: the values of a cell are adjacent in one cache line
    for n in range(starts[i], starts[i + 1]):
        for s in range(n_states):
            if logs is None:
                p[s] += math.log(table[cell[n], s])
            else:
                p[s] += logs[1][cell[n], s]
    if gold[i] >= 0:
        for s in range(n_states):
            if states is None:
                p[s] = p[s] if s == gold[i] else -np.inf
            else:
                p[s] += math.log(max(states.truth[s, gold[i]], states.smallest))
    # subtract the largest term, so that the sum neither overflows nor underflows
    top = p[0]
    for s in range(1, n_states):
        top = max(top, p[s])
    total = 0.0
    for s in range(n_states):
        x = p[s] - top
        p[s] = math.exp(x) if x > NEGLIGIBLE else 0.0
        total += p[s]
    for s in range(n_states):
        p[s] /= total
    return float(top + math.log(total))


@melted
def note_state(
    p: Array, known: int, truth: Array, values: Array, i: int, p_truth: Array, entropy: Array,
    p_state: Array, value_sum: Array, value_square: Array,
) -> None:  # fmt: skip
    """Add the truth, states and values of an item under its P(state) to the sums."""
    n_states, n_classes = truth.shape
    if known >= 0:  # a known truth has no entropy, whatever its state
        p_truth[i, known] += 1.0
    else:
        for k in range(n_classes):
            chance = 0.0
            for s in range(n_states):
                chance += p[s] * truth[s, k]
            p_truth[i, k] += chance
            if chance > 0.0:
                entropy[i] -= chance * math.log(chance)
    if len(p_state) > 0:
        for s in range(n_states):
            p_state[i, s] += p[s]
    for v in range(len(values)):
        mean, square = 0.0, 0.0
        for s in range(n_states):
            mean += p[s] * values[v, s]
            square += p[s] * values[v, s] * values[v, s]
        value_sum[v, i] += mean
        value_square[v, i] += square


@kernel
def sampled_pass(
    items: Items, share: Array, table: Array, logs: Logs, states: StateLayout | None, key: Key,
    iteration: int, first: int, counts: Array, extra: Array, sizes: Array, golds: Array,
    keep: bool, sums: DrawSums,
) -> float:  # fmt: skip
    """Draw and count item states and rows of labels, and return the log likelihood."""
    # Draws are added to counts [cell, row] and sizes [state] and, with item states, to extra [cell,
    # additional row] and golds [state, truth], if their truth is known. Item 0 is item `first` of
    # the source, which determines the random numbers. If `keep`, item statistics are added to sums.
    starts, cell, gold = items
    p_truth, entropy, p_state, value_sum, value_square, order = sums
    if states is not None:
        truth, only, mix, rows, values, _ = states
        n_own, n_rows = counts.shape[1], mix.shape[1]
        parts = np.empty(n_rows)
    p = np.empty(len(share))
    log_likelihood = 0.0
    for i in range(len(gold)):
        # by the item's number in the source, so that blocks and threads give the draws of one pass
        u = uniform_at(key, iteration, TRUTH, first + i)
        total = multiply(share, table, cell, starts[i], starts[i + 1], p)
        if gold[i] >= 0:
            total = given_truth(p, gold[i], states)
        if total >= LEAST_TOTAL:
            log_likelihood += math.log(total)
        else:
            log_likelihood += by_logs(items, share, table, logs, states, i, p)
            total = 1.0
        s = pick(p, total, u)
        # integers: their sums are exact in any order, so results do not depend on partitions
        sizes[s] += 1
        if states is None:
            for n in range(starts[i], starts[i + 1]):
                counts[cell[n], s] += 1
        else:
            if gold[i] >= 0:
                golds[s, gold[i]] += 1
            for n in range(starts[i], starts[i + 1]):
                c, r = cell[n], only[s]
                if r < 0:
                    whole = 0.0
                    for a in range(n_rows):
                        parts[a] = mix[s, a] * rows[c, a]
                        whole += parts[a]
                    r = pick(parts, whole, uniform_at(key, iteration, ROW, n))
                if r < n_own:
                    counts[c, r] += 1
                else:
                    extra[c, r - n_own] += 1
        if keep:
            for k in range(len(p)):
                p[k] /= total
            if states is None:
                for k in range(len(p)):
                    p_truth[i, order[k]] += p[k]
                entropy[i] += entropy_of(p)
            else:
                note_state(
                    p, gold[i], truth, values, i, p_truth, entropy, p_state, value_sum,
                    value_square,
                )  # fmt: skip
    return log_likelihood


@kernel
def weighing_pass(
    items: Items, weight: Array, kind: Array | None, shares: Array, table: Array, logs: Logs,
    states: StateLayout | None, sums: DrawSums,
) -> float:  # fmt: skip
    """Add the item statistics of one draw of the parameters, and return the log likelihood."""
    # item i counts weight[i] times in the log likelihood, once in the sums; if kind is given, its
    # state probabilities are shares[kind[i]]
    starts, cell, gold = items
    p_truth, entropy, p_state, value_sum, value_square, order = sums
    p = np.empty(table.shape[1])
    log_likelihood = 0.0
    for i in range(len(gold)):
        share = shares[0] if kind is None else shares[kind[i]]
        total = multiply(share, table, cell, starts[i], starts[i + 1], p)
        if gold[i] >= 0:
            total = given_truth(p, gold[i], states)
        if total >= LEAST_TOTAL:
            found = math.log(total)
        else:
            found = by_logs(items, share, table, logs, states, i, p)
            total = 1.0
        log_likelihood += weight[i] * found
        for k in range(len(p)):
            p[k] /= total
        if states is None:
            for k in range(len(p)):
                p_truth[i, order[k]] += p[k]
            entropy[i] += entropy_of(p)
        else:
            note_state(
                p, gold[i], states.truth, states.values, i, p_truth, entropy, p_state, value_sum,
                value_square,
            )  # fmt: skip
    return log_likelihood


@kernel
def soft_pass(
    items: Items, weight: Array, share: Array, table: Array, logs: Logs, counts: Array,
    sizes: Array, p_out: Array,
) -> float:  # fmt: skip
    """Count expected labels (E-step of EM), and return the log likelihood."""
    # Item i counts weight[i] times. Adds to counts [cell, truth] and sizes [truth], and fills p_out
    # [item, truth] unless it is empty.
    starts, cell, gold = items
    n_classes = len(sizes)
    p = np.empty(n_classes)
    log_likelihood = 0.0
    for i in range(len(gold)):
        w = weight[i]
        total = multiply(share, table, cell, starts[i], starts[i + 1], p)
        if gold[i] >= 0:
            total = given_truth(p, gold[i], None)
        if total >= LEAST_TOTAL:
            found = math.log(total)
        else:
            found = by_logs(items, share, table, logs, None, i, p)
            total = 1.0
        log_likelihood += w * found
        if len(p_out) > 0:
            for k in range(n_classes):
                p_out[i, k] = p[k] / total
        # P(labels, truth) w / P(labels): normalized and weighted in one step
        w /= total
        for k in range(n_classes):
            p[k] *= w
            sizes[k] += p[k]
        add(p, cell, starts[i], starts[i + 1], counts)
    return log_likelihood


def soft(
    arrays: Sequence[Array], weight: Array, n_rows: int, given: Chances, items: bool = True
) -> tuple[Array, Array, Array, float]:
    """Compute expected counts, sizes, class probabilities (if `items`) and log likelihood."""
    k, n_items = len(given[0]), len(weight)
    counts, sizes = np.zeros(given[1].shape), np.zeros(k)
    p_truth = np.empty((n_items if items else 0, k))
    found = soft_pass(tuple(arrays), weight, *given, counts, sizes, p_truth)
    return counts.reshape(n_rows, -1, k), sizes, p_truth, float(found)
