"""Many Gibbs iterations of kinds of items in one call, so that chains in threads do not wait."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, kernel
from annomodels.kernels.mixtures.item_kinds import Kinds, draw_kinds
from annomodels.kernels.passes import States, Sums, open_known, sampled_pass


@kernel
def chances_of(
    log_prevalence: Array, logc: Array, smallest: float, share: Array, table: Array
) -> None:
    """Fill `share` [slot] and `table` [cell, slot], P(label | slot, coder), at least `smallest`."""
    n_rows, n_labels, n_slots = logc.shape
    for s in range(n_slots):
        share[s] = math.exp(log_prevalence[s])
    for j in range(n_rows):
        for label in range(n_labels):
            for s in range(n_slots):
                table[j * n_labels + label, s] = max(math.exp(logc[j, label, s]), smallest)


@kernel
def prevalence_of(share: Array, truth: Array, out: Array) -> None:
    """Fill `out` with P(truth) of an item, from the shares and P(truth | slot) [slot, truth]."""
    for k in range(truth.shape[1]):
        out[k] = 0.0
        for s in range(len(share)):
            out[k] += share[s] * truth[s, k]


@kernel
def iterate_kinds(
    starts: Array, cell: Array, gold: Array, known: tuple[Array, Array, Array], truth: Array,
    values: Array, only: Array, smallest: float, least: float, log_odds: float, alpha: Array,
    source: Kinds, log_prevalence: Array, logc: Array, counts: Array, sizes: Array, golds: Array,
    key: Key, first: int, end: int, keep: bool,
    sums: tuple[Array, Array, Array, Array, Array], open_sum: Array, prevalence: Array,
    log_likelihood: Array,
) -> None:  # fmt: skip
    """Do iterations `first` to `end`, all of which are kept or none."""
    # Draws as passes.sampled_pass and item_kinds.draw_kinds do in turn. Kept draws are added to
    # sums as there, for items with known labels to open_sum; counts [cell, slot], sizes [slot] and
    # golds [slot, truth] are left as the last step has them; prevalence [draw, truth] and
    # log_likelihood [draw] take the parameters.
    n_rows, n_labels, n_slots = logc.shape
    n_cells = n_rows * n_labels
    share, table = np.empty(n_slots), np.empty((n_cells, n_slots))
    drawn = np.empty(len(gold), dtype=np.int64)
    extra = np.zeros((n_cells, 1), np.int64)
    # mix and rows are read where labels have no row of their own: never here
    states = States(truth, only, truth, table, values, smallest)
    p_truth, entropy, p_state, value_sum, value_square = sums
    places = Sums(p_truth, entropy, p_state, value_sum, value_square, np.arange(truth.shape[1]))
    for iteration in range(first, end):
        for s in range(n_slots):
            sizes[s] = 0
            for c in range(n_cells):
                counts[c, s] = 0
            for k in range(golds.shape[1]):
                golds[s, k] = 0
        chances_of(log_prevalence, logc, smallest, share, table)
        found = sampled_pass(
            (starts, cell, gold), share, table, None, states, key, iteration, 0, counts, extra,
            sizes, golds, drawn, keep, places,
        )  # fmt: skip
        if keep:
            if len(open_sum) > 0:
                open_known(known, share, table, states, least, open_sum)
            log_likelihood[iteration - first] = found
            prevalence_of(share, truth, prevalence[iteration - first])
        draw_kinds(
            counts.reshape(n_rows, n_labels, n_slots), sizes, golds, log_odds, alpha, source, key,
            iteration, log_prevalence, logc,
        )  # fmt: skip
