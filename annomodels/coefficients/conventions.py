"""What counts how much where labels are missing; all conventions agree on complete data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["CONVENTIONS", "Convention"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Convention:
    """Weights of an item with r labels.

    Parameters
    ----------
    name, sentence
        What to call it, and what it does, for tables and reports.
    pair
        Weight of each ordered pair of labels on an item with r labels.
    pooled
        Weight of each label in the distribution over all coders.
    coder
        Weight of each label in the coder's own distribution.
    equal_coders
        Whether every pair of coders counts the same in the agreement expected between coders;
        otherwise a pair counts by the product of its coders' labels.
    """

    name: str
    sentence: str
    pair: Callable[[Floats], Floats]
    pooled: Callable[[Floats], Floats]
    coder: Callable[[Floats], Floats]
    equal_coders: bool = False


def _from_two(weight: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """Give items with two labels or more the weight, the rest 0."""
    return lambda r: np.where(r >= 2, weight(np.maximum(r, 2.0)), 0.0)


_KRIPPENDORFF = Convention(
    "krippendorff",
    "items with two labels or more, each item weighted by its number of labels",
    pair=_from_two(lambda r: 1.0 / (r - 1.0)),
    pooled=_from_two(np.ones_like),
    coder=_from_two(np.ones_like),
)

CONVENTIONS: dict[str, Convention] = {
    "krippendorff": _KRIPPENDORFF,
    "gwet": Convention(
        "gwet",
        "plain mean over items with two labels or more; label shares from all items",
        pair=_from_two(lambda r: 1.0 / (r * (r - 1.0))),
        pooled=lambda r: 1.0 / np.maximum(r, 1.0),
        coder=np.ones_like,
        equal_coders=True,
    ),
    "pairs": Convention(
        "pairs",
        "every pair of labels of an item counts the same",
        pair=_from_two(np.ones_like),
        pooled=_from_two(lambda r: r - 1.0),
        coder=_from_two(lambda r: r - 1.0),
    ),
    "listwise": Convention(
        "listwise",
        "items that every coder labelled",
        pair=_KRIPPENDORFF.pair,
        pooled=_KRIPPENDORFF.pooled,
        coder=_KRIPPENDORFF.coder,
    ),
}
"""Conventions by name; ``pairwise`` stands in :mod:`~annomodels.coefficients.coder_pairs`."""

PAIRWISE = "each pair of coders on the items both labelled, then the mean over the pairs"
