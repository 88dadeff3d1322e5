"""Draws of a result tree, thinned to a budget, and what follows from them for every item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.annotations import Annotations

if TYPE_CHECKING:
    import xarray as xr
    from scipy.sparse import csr_array

__all__ = [
    "SMALLEST",
    "Draws",
    "choices",
    "counts_matrix",
    "interval",
    "n_samples",
    "thinned",
    "truth_probabilities",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BUDGET = 256 * 2**20
SMALLEST = 1e-12  # below it a probability counts as this: EM without a prior gives exact zeros


@dataclass(frozen=True, eq=False)
class Draws:
    """Posterior draws of the confusion family, chains after each other.

    Parameters
    ----------
    prevalence
        Shape [sample, truth].
    confusion
        Shape [sample, coder, truth, label].
    """

    prevalence: Floats
    confusion: Floats

    def __len__(self) -> int:
        return len(self.prevalence)


def n_samples(tree: xr.DataTree) -> int:
    """Count the draws of all chains together."""
    sizes = tree["posterior"].sizes
    return int(sizes["chain"] * sizes["draw"])


def thinned(
    tree: xr.DataTree, data: Annotations, n_max: int | None = None, budget: int = BUDGET
) -> Draws:
    """Take draws of prevalence and confusion, evenly thinned.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.
    n_max
        Most draws to take; None takes as many as the budget allows.
    budget
        Most bytes for the confusion matrices; at least one draw is always taken.

    Returns
    -------
    Draws
        Every m-th draw of all chains. For the pooled model the coder axis is a view of one matrix.
    """
    posterior = tree["posterior"].to_dataset()
    confusion = posterior["confusion"]
    per_draw = 8 * int(np.prod(confusion.shape[2:]))
    total = n_samples(tree)
    wanted = total if n_max is None else min(n_max, total)
    count = max(1, min(wanted, budget // per_draw))
    chosen = (np.arange(count) * total) // count
    values = confusion.values
    values = values.reshape(total, *values.shape[2:])[chosen].astype(np.float64, copy=False)
    if values.ndim == 3:
        shape = (count, data.n_coders, *values.shape[1:])
        values = np.broadcast_to(values[:, None], shape)
    prevalence = posterior["prevalence"].values.reshape(total, -1)[chosen]
    return Draws(prevalence.astype(np.float64, copy=False), values)


def counts_matrix(data: Annotations) -> csr_array:
    """Count who said what of which item; sparse, shape [item, coder * label]."""
    from scipy.sparse import csr_array

    column = data.coder.astype(np.int64) * data.n_labels + data.label
    shape = (data.n_items, data.n_coders * data.n_labels)
    return csr_array((np.ones(len(data)), column, data.starts), shape=shape)


def truth_probabilities(
    draws: Draws, data: Annotations, budget: int = BUDGET // 4
) -> Iterator[tuple[int, Floats]]:
    """P(truth | labels, parameters) of every item on each draw.

    p_ik is proportional to prevalence_k prod_n confusion[coder_n, k, label_n]; the sum over an
    item's labels is one product with the sparse counts. Known gold counts as certain.

    Parameters
    ----------
    draws
        Draws of the parameters.
    data
        The labels.
    budget
        Most bytes of one block of draws.

    Yields
    ------
    tuple
        Number of the draw and the probabilities, shape [item, truth].
    """
    counts = counts_matrix(data)
    n_truths = draws.prevalence.shape[1]
    widest = max(data.n_items, data.n_coders * data.n_labels)
    block = max(1, budget // (8 * n_truths * widest))
    known = None if data.gold is None else np.flatnonzero(data.gold >= 0)
    for first in range(0, len(draws), block):
        confusion = np.log(np.maximum(draws.confusion[first : first + block], SMALLEST))
        size = len(confusion)
        table = confusion.transpose(1, 3, 0, 2).reshape(-1, size * n_truths)
        logp = (counts @ table).reshape(data.n_items, size, n_truths)
        logp += np.log(np.maximum(draws.prevalence[first : first + block], SMALLEST))
        logp -= logp.max(axis=2, keepdims=True)
        np.exp(logp, out=logp)
        logp /= logp.sum(axis=2, keepdims=True)
        if known is not None and data.gold is not None:
            logp[known] = 0.0
            logp[known, :, data.gold[known]] = 1.0
        for offset in range(size):
            yield first + offset, logp[:, offset]


def choices(probabilities: Floats, uniform: Floats) -> Ints:
    """One draw from each row: how many cumulative probabilities the uniform number exceeds.

    Examples
    --------
    >>> choices(np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([0.5, 0.5]))
    array([1, 0])
    """
    below = np.cumsum(probabilities[..., :-1], axis=-1)
    picked: Ints = (uniform[..., None] > below).sum(axis=-1)
    return picked


def interval(samples: Floats, prob: float = 0.95) -> tuple[Floats, Floats]:
    """Equal-tailed interval over the first axis; NaN when there is one draw only.

    Examples
    --------
    >>> low, high = interval(np.linspace(0, 1, 101)[:, None])
    >>> low.round(3), high.round(3)
    (array([0.025]), array([0.975]))
    """
    if len(samples) < 2:
        missing = np.full(samples.shape[1:], np.nan)
        return missing, missing.copy()
    tail = (1 - prob) / 2
    low, high = np.quantile(samples, [tail, 1 - tail], axis=0)
    return low, high
