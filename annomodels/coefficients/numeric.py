"""Distances between labels that are numbers, or that have an order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.distances import Computed, Distance, Ordinal, Squared
from annomodels.errors import NotApplicable

__all__ = ["NUMERIC_DISTANCES", "numeric_distance"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NUMBERS_ONLY = ("interval", "ratio")
NUMERIC_DISTANCES: tuple[str, ...] = (
    *("ordinal", *NUMBERS_ONLY, "linear", "quadratic", "rank_linear", "rank_quadratic"),
    *("gwet_ordinal", "radical", "circular", "bipolar"),
)


def numeric_distance(name: str, x: Floats, labels: Sequence[str], ordered: bool) -> Distance:
    """Make a distance from the values of the labels, or from their ranks where they are words.

    Parameters
    ----------
    name
        One of :data:`NUMERIC_DISTANCES`.
    x
        Value of each label, NaN where it is no number, shape [label].
    labels
        How to print them.
    ordered
        Whether the order of the labels means anything.

    Raises
    ------
    NotApplicable
        When the labels are neither numbers nor ordered, or the distance needs numbers that are
        not negative or that increase.
    """
    numeric = bool(np.isfinite(x).all())
    if name in NUMBERS_ONLY and not numeric:
        words = [label for label, value in zip(labels, x, strict=True) if not np.isfinite(value)]
        raise NotApplicable(
            f"The distance {name!r} needs numbers, but these labels are none: "
            f"{', '.join(words[:5])}. Use nominal or ordinal, or fix the labels."
        )
    if not (numeric or ordered):
        raise NotApplicable(
            f"The distance {name!r} needs an order, but the labels are words without one. "
            'Give them in their order: labels=["low", "mid", "high"].'
        )
    n = len(x)
    ranks = np.arange(n, dtype=float)
    if name == "ordinal":
        if numeric and (np.diff(x) <= 0).any():
            raise NotApplicable(
                "The labels are numbers but do not stand in increasing order. "
                "Declare them in their order, or use numbers that increase."
            )
        return Ordinal()
    if name == "interval":
        return Squared(name, x)
    if name == "ratio":
        if (x < 0).any():
            raise NotApplicable(
                "The distance 'ratio' needs labels that are not negative. Use interval."
            )
        return Computed(name, partial(_ratio, x), n)
    if name == "gwet_ordinal":
        return Computed(name, partial(_gwet_ordinal, n), n)
    if name.startswith("rank_") or not numeric:
        x = ranks
    if name in ("circular", "bipolar"):
        return Computed(name, partial({"circular": _circular, "bipolar": _bipolar}[name], x), n)
    x = x / (np.ptp(x) or 1.0)
    if name.endswith("quadratic"):
        return Squared(name, x)
    return Computed(name, partial(_power, x, 0.5 if name == "radical" else 1.0), n)


def _ratio(x: Floats, k: Ints, m: Ints) -> Floats:
    """Squared relative difference; 0 where both are 0."""
    total = x[k] + x[m]
    return np.asarray(((x[k] - x[m]) / np.where(total == 0, 1.0, total)) ** 2)


def _gwet_ordinal(n: int, k: Ints, m: Ints) -> Floats:
    """Pairs of labels from k to m, as a share of all pairs."""
    apart = np.abs(k - m)
    return np.asarray(apart * (apart + 1) / max(n * (n - 1), 1), dtype=float)


def _power(x: Floats, power: float, k: Ints, m: Ints) -> Floats:
    return np.asarray(np.abs(x[k] - x[m]) ** power)


def _circular(x: Floats, k: Ints, m: Ints) -> Floats:
    """Squared half chord between two points of a circle on which the last label meets the first."""
    return np.asarray(np.sin(np.pi * (x[k] - x[m]) / (np.ptp(x) + 1.0)) ** 2)


def _bipolar(x: Floats, k: Ints, m: Ints) -> Floats:
    """Differences count more towards either end."""
    low, high = x.min(), x.max()
    scale = (x[k] + x[m] - 2 * low) * (2 * high - x[k] - x[m])
    return np.asarray((x[k] - x[m]) ** 2 / np.where(scale > 0, scale, 1.0))
