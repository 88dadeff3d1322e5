"""Overlap of units with other coders' units of the same label."""

from __future__ import annotations

import numpy as np

from annomodels.types import Floats, Ints


def others_there(text: Ints, label: Ints, coder: Ints, start: Floats, end: Floats) -> Ints:
    """Count the other coders with an overlapping unit of the same label, [unit]."""
    order = np.lexsort((start, coder, label, text))
    out = np.zeros(len(text), dtype=np.int64)
    if not len(order):
        return out
    layer = np.stack([text[order], label[order]])
    cuts = np.flatnonzero((layer[:, 1:] != layer[:, :-1]).any(axis=0)) + 1
    for rows in np.split(order, cuts):
        if len(rows) < 2:
            continue
        first, last, who = start[rows], end[rows], coder[rows]
        both = (first[:, None] < last[None]) & (first[None] < last[:, None])
        both |= (first[:, None] == first[None]) & (last[:, None] == last[None])
        begins = np.flatnonzero(np.diff(who, prepend=-1))
        by_coder = np.logical_or.reduceat(both, begins, axis=1)
        out[rows] = by_coder.sum(axis=1) - 1  # each overlaps itself
    return out
