"""Many Gibbs iterations per call, so that chains in threads do not wait for each other."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, Key, kernel
from annomodels.kernels.passes import DrawSums, refresh, sampled_pass
from annomodels.kernels.products import close_batch, diagonal_leads
from annomodels.kernels.rows import Source, draw_parameters, keep_source

Kept = tuple[Array, Array, Array, Array]


@kernel
def store(
    n: int,
    order: Array,
    log_prevalence: Array,
    logc: Array,
    source: Source,
    kept: Kept,
    kept_source: tuple[Array, ...],
) -> None:
    """Store draw n of the parameters, class k at position `order[k]`."""
    prevalence, confusion = kept[0], kept[1]
    n_rows, n_labels, n_classes = logc.shape
    for k in range(n_classes):
        prevalence[n, order[k]] = math.exp(log_prevalence[k])
    for j in range(n_rows):
        for label in range(n_labels):
            for k in range(n_classes):
                confusion[n, j, order[k], label] = math.exp(logc[j, label, k])
    keep_source(source, n, order, kept_source)


@kernel
def iterate(
    starts: Array,
    cell: Array,
    gold: Array,
    prevalence: Array,
    prior: Array,
    source: Source,
    log_prevalence: Array,
    logc: Array,
    key: Key,
    first: int,
    end: int,
    thin: int,
    volume: Array,
    relabel: bool,
    order: Array,
    counts: Array,
    sizes: Array,
    sums: tuple[Array, Array, Array, Array],
    book: Array,
    kept: Kept,
    kept_source: tuple[Array, ...],
) -> int:
    """Run iterations `first` to `end`, store every `thin`-th (none if 0); return the next one."""
    # Stops before a draw whose classes may be swapped, unless it is the first one, which is stored
    # with its classes in the given order. sums contains class probabilities of the current batch,
    # their sums and sums of squares over batches, and entropy sums. book contains the numbers of
    # stored and relabeled draws, and the length of a batch. kept stores draws of prevalence and
    # confusion, the log likelihood and the log density.
    n_rows, n_labels, n_classes = counts.shape
    batch, p_sum, p_square, entropy = sums
    # control returns to Python only if labels may have switched; all else runs in one call, without
    # the interpreter lock
    identity = np.arange(n_classes)
    share, table = np.empty(n_classes), np.empty((n_rows * n_labels, n_classes))
    logs, cells = (log_prevalence, logc.reshape(-1, n_classes)), counts.reshape(-1, n_classes)
    none, nothing = np.empty((1, 0), dtype=np.int64), np.empty((0, 0))
    for iteration in range(first, end):
        keep = thin > 0 and iteration % thin == 0
        places = identity
        if keep and relabel and not diagonal_leads(log_prevalence, logc, volume):
            if iteration > first:
                return iteration
            places = order
        for j in range(n_rows):
            for label in range(n_labels):
                for k in range(n_classes):
                    counts[j, label, k] = 0
        for k in range(n_classes):
            sizes[k] = 0
        # one exp per parameter here saves one per label in the pass
        refresh(log_prevalence, logc, share, table)
        found = sampled_pass(
            (starts, cell, gold), share, table, logs, None, key, iteration, 0, cells, none, sizes,
            none, keep, DrawSums(batch, entropy, nothing, nothing, nothing, places),
        )  # fmt: skip
        # the prior density is added at the end, for all stored draws at once
        if keep:
            n = book[0]
            kept[2][n] = found
            kept[3][n] = found
            store(n, places, log_prevalence, logc, source, kept, kept_source)
            book[0] += 1
            for k in range(n_classes):
                if places[k] != k:
                    book[1] += 1
                    break
            if book[0] % book[2] == 0:
                close_batch(batch, book[2], p_sum, p_square)
        draw_parameters(
            counts, sizes, prevalence, prior, source, key, iteration, log_prevalence, logc
        )
    return end
