"""Labels that a coder gives more often than the others do on the same items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from annomodels.coefficients.breakdown.two_sided import TwoSided

__all__ = ["Bias", "bias"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bias:
    """What each coder overuses.

    Parameters
    ----------
    label
        Label that the coder gives more often than the others by the largest margin, shape [coder].
    distance
        Total variation distance of the coder's labels and those of the others on the same items:
        the part of their disagreement that unequal margins alone enforce ("quantity disagreement",
        Pontius & Millones 2011, doi:10.1080/01431161.2011.552923), shape [coder].
    by
        Takes weights of the items, gives how much more often, as a share, [..., coder].
    """

    label: Ints
    distance: Floats
    by: Callable[[Floats], Floats]


def bias(sides: TwoSided, point: Floats) -> Bias:
    """Compare the two sides of each coder.

    Parameters
    ----------
    sides
        Each coder against the others.
    point
        Weights of the items that give the classical values, shape [item].
    """
    k, parts = sides.n_labels, sides.n_parts

    def shares(matrix: Any, weights: Floats) -> Floats:
        counted = (matrix @ weights.T).T.reshape(*weights.shape[:-1], parts, k)
        total = counted.sum(-1, keepdims=True)
        out = np.full_like(counted, np.nan)
        return np.asarray(np.divide(counted, total, out=out, where=total > 0))

    more = shares(sides.left, point) - shares(sides.right, point)
    label = np.where(np.isnan(more), -1.0, more).argmax(-1)
    rows = np.arange(parts) * k + label
    left, right = sides.left, sides.right
    own, other = left[rows], right[rows]
    every = np.arange(parts * k)
    given = sparse.csr_array((np.ones(len(every)), (every // k, every))) @ left

    def by(weights: Floats) -> Floats:
        total = (given @ weights.T).T
        excess = ((own - other) @ weights.T).T
        return np.asarray(excess / np.where(total > 0, total, np.nan))

    return Bias(label, np.abs(more).sum(-1) / 2, by)
