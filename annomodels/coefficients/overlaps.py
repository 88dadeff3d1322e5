"""Pairs of units of different coders that overlap."""

from __future__ import annotations

import numpy as np

from annomodels.coefficients.rows import ranges
from annomodels.types import Floats, Ints


def meeting(layer: Ints, coder: Ints, start: Floats, end: Floats) -> tuple[Ints, Ints]:
    """Return all pairs of units of a layer by different coders that overlap, each both ways."""
    order = np.lexsort((start, coder, layer))
    places, ranks = np.unique(np.concatenate([start[order], end[order]]), return_inverse=True)
    first, last = np.split(ranks.astype(np.int64), 2)
    layer, coder = layer[order], coder[order]
    layer_begins = np.diff(layer, prepend=-1) != 0
    cell = np.cumsum(layer_begins | (np.diff(coder, prepend=-1) != 0)) - 1
    # one sorted array searches the units of all coders and layers at once
    starts = cell * len(places) + first
    ends = np.maximum.accumulate(cell * len(places) + last)
    of_layer = np.cumsum(layer_begins) - 1
    cells = np.searchsorted(of_layer, np.arange(of_layer.max(initial=-1) + 2))
    first_cell = np.append(cell, cell.max(initial=-1) + 1)[cells]
    one, other = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for n in range(int(np.diff(first_cell).max(initial=0))):
        theirs = first_cell[of_layer] + n
        rows = np.flatnonzero((theirs < first_cell[of_layer + 1]) & (theirs != cell))
        begin = theirs[rows] * len(places)
        low = np.searchsorted(ends, begin + first[rows], side="right")
        high = np.searchsorted(starts, begin + last[rows], side="left")
        found, owner = ranges(low, np.maximum(high - low, 0))
        owner = rows[owner]
        there = last[found] > first[owner]  # a longer unit may have begun before them
        one.append(order[owner[there]])
        other.append(order[found[there]])
    return np.concatenate(one), np.concatenate(other)


def others_there(layer: Ints, coder: Ints, pairs: tuple[Ints, Ints]) -> Ints:
    """Count, for each unit, the other coders with a unit that overlaps it [unit]."""
    one, other = pairs
    coders = int(coder.max(initial=0)) + 1
    met = np.unique(one * coders + coder[other]) // coders
    return np.bincount(met, minlength=len(layer))
