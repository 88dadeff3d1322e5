"""P(label | all other labels) while states are sampled, coders' rows integrated out."""

# The other labels are those of other items, as counts by state, and the other labels of the item,
# which tell its state. The item's own labels are taken out of the counts of the state it was drawn
# into.

from __future__ import annotations

import numpy as np

from annomodels.kernels.compile import Array, kernel

# products of probabilities below it are raised by its inverse; only their ratios count
LEAST = 1e-100


@kernel
def hold_out(
    starts: Array, cell: Array, gold: Array, drawn: Array, share: Array, truth: Array,
    smallest: float, given: Array, without: Array, out: Array,
) -> None:  # fmt: skip
    """Add 1 / P(label | all other labels, shares of states) of every label to `out`."""
    # given [cell, state] is P(label | state, coder) from the counts of all labels, without the same
    # from the counts less one such label; drawn [item] is the state of each item under these
    # counts. The posterior mean of 1 / P is 1 / p(label | others): Gelfand and Dey (1994),
    # doi:10.1111/j.2517-6161.1994.tb01996.x.
    n_states = len(share)
    x = np.empty(n_states)
    for i in range(len(gold)):
        own = drawn[i]
        for s in range(n_states):
            x[s] = share[s]
            if gold[i] >= 0:
                x[s] *= max(truth[s, gold[i]], smallest)
        mine: float = x[own]
        for n in range(starts[i], starts[i + 1]):
            c = cell[n]
            mine *= without[c, own]
            top = mine
            for s in range(n_states):
                x[s] *= given[c, s]
                top = max(top, x[s])
            if top < LEAST:
                mine /= LEAST
                for s in range(n_states):
                    x[s] /= LEAST
        x[own] = 0.0
        both = mine
        for s in range(n_states):
            both += x[s]
        for n in range(starts[i], starts[i + 1]):
            c = cell[n]
            less = mine / without[c, own]
            for s in range(n_states):
                less += x[s] / given[c, s]
            out[n] += less / both
