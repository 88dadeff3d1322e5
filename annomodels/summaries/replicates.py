"""Replicated labels: what the same coders might have said, given a draw of the parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw_labels", "per_item"]

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]


def draw_labels(
    confusion: Floats, coder: Codes, truth: Codes, rng: np.random.Generator
) -> NDArray[np.int64]:
    """One label for every pair of a coder and a truth.

    Parameters
    ----------
    confusion
        One draw, shape [coder, truth, label].
    coder, truth
        Codes, shape [annotation].
    rng
        Source of chance.

    Examples
    --------
    >>> always = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    >>> draw_labels(always, np.array([0, 0]), np.array([0, 1]), np.random.default_rng(0))
    array([1, 0])
    """
    n_truths, n_labels = confusion.shape[1:]
    row = coder.astype(np.int64) * n_truths + truth
    uniform = rng.random(len(row))
    below = np.cumsum(confusion, axis=2).reshape(-1, n_labels)
    label = np.zeros(len(row), dtype=np.int64)
    for k in range(n_labels - 1):
        label += uniform >= below[:, k][row]
    return label


def per_item(values: Floats, starts: NDArray[np.int64]) -> Floats:
    """Sum over the annotations of each item, zero for items without any, shape [item, ...].

    Examples
    --------
    >>> per_item(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 4.])
    """
    out = np.zeros((len(starts) - 1, *values.shape[1:]))
    full = np.flatnonzero(np.diff(starts) > 0)
    if len(full):
        out[full] = np.add.reduceat(values, starts[:-1][full], axis=0)
    return out
