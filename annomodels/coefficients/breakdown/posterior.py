"""From draws of many parts to their intervals, and how many draws are worth their time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.weights import Sample

__all__ = ["collect", "interval", "planned", "share_above"]

Floats = NDArray[np.float64]
Measure = Callable[[Floats], Mapping[str, Floats]]

FEWEST = 200
MOST_NUMBERS = 16_000_000
MOST_WORK = 2_000_000_000
TIGHT = 8  # arrays of parts are short-lived; wide blocks of draws make sparse products quick


def planned(asked: int, numbers: int, work: int) -> int:
    """Give the number of draws: as asked for, fewer where there are very many parts.

    Parameters
    ----------
    asked
        What the user wants.
    numbers
        Numbers kept of each draw.
    work
        Entries of the sparse matrices that a draw is multiplied with.

    Examples
    --------
    >>> planned(2000, 10, 1_000), planned(2000, 40_000, 1_000), planned(2000, 10**9, 1)
    (2000, 400, 200)
    """
    most = min(MOST_NUMBERS // max(numbers, 1), MOST_WORK // max(work, 1))
    return min(asked, max(FEWEST, most))


def collect(
    sample: Sample, draws: int, seed: int, width: int, measure: Measure
) -> dict[str, Floats]:
    """Measures of every draw, shape [draw, ...] each; empty without draws.

    Parameters
    ----------
    sample
        The items and how their weights are drawn.
    draws, seed
        Number and seed of the draws.
    width
        Numbers that `measure` holds for each draw.
    measure
        Takes weights [draw, item].
    """
    if not draws:
        return {}
    blocks = [measure(weights) for weights in sample.draw(draws, seed, width // TIGHT)]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def interval(draws: Floats, prob: float = 0.95) -> tuple[Floats, Floats]:
    """Equal-tailed intervals of the defined draws, [draw, ...] -> two of [...]; NaN without any.

    Examples
    --------
    >>> low, high = interval(np.column_stack([np.arange(101.0), np.full(101, np.nan)]), 0.9)
    >>> low, high
    (array([ 5., nan]), array([95., nan]))
    """
    if not 0 < prob < 1:
        raise ValueError(f"prob={prob!r} should lie between 0 and 1, for instance 0.95.")
    flat = draws.reshape(len(draws), -1)
    out = np.full((2, flat.shape[1]), np.nan)
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    lost = np.isnan(flat).sum(0)
    whole = lost == 0
    if len(flat) and whole.any():
        out[:, whole] = np.quantile(flat[:, whole], tails, axis=0)
    for column in np.flatnonzero((lost > 0) & (lost < len(flat))):
        values = flat[:, column]
        out[:, column] = np.quantile(values[~np.isnan(values)], tails)
    low, high = out.reshape(2, *draws.shape[1:])
    return low, high


def share_above(draws: Floats, threshold: float) -> Floats:
    """Share of the defined draws above a threshold, [draw, ...] -> [...]; NaN without any.

    Examples
    --------
    >>> share_above(np.array([[0.5, np.nan], [0.9, np.nan]]), 0.8)
    array([0.5, nan])
    """
    n = (~np.isnan(draws)).sum(0)
    above = (draws > threshold).sum(0)
    out = np.full(np.shape(n), np.nan)
    return np.asarray(np.divide(above, n, out=out, where=n > 0))
