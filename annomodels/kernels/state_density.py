"""Log likelihood of labels whose items have states, and its gradient."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, kernel

# log odds below which a state cannot change a sum in double precision
NEGLIGIBLE = -40.0


@kernel
def state_likelihood(
    starts: Array,
    cell: Array,
    gold: Array,
    weight: Array,
    truth: Array,
    ruled_out: float,
    log_share: Array,
    table: Array,
    share_grad: Array,
    table_grad: Array,
) -> float:
    """Sum over items of the log probability of their labels, the states summed out.

    `table` is log P(label | state) as [cell, state], `truth` the class of each state, `ruled_out`
    what counts as the logarithm of a known truth that is another. Gradients are added to
    `share_grad` [state] and `table_grad` [cell, state].
    """
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
                    p[s] += ruled_out
        top = p[0]
        for s in range(1, n_states):
            top = max(top, p[s])
        total = 0.0
        for s in range(n_states):
            below = p[s] - top
            p[s] = math.exp(below) if below > NEGLIGIBLE else 0.0
            total += p[s]
        value += weight[i] * (top + math.log(total))
        for s in range(n_states):
            p[s] *= weight[i] / total
            share_grad[s] += p[s]
        for n in range(starts[i], starts[i + 1]):
            c = cell[n]
            for s in range(n_states):
                table_grad[c, s] += p[s]
    return value
