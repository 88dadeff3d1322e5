"""Who labelled the same item how: each annotation beside those of the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.rows import Rows

__all__ = ["beside", "label_counts", "ranges"]

Ints = NDArray[np.int64]


def ranges(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Positions of ranges one after the other, and which range each belongs to.

    Examples
    --------
    >>> owner, position = ranges(np.array([5, 0]), np.array([2, 3]))
    >>> owner.tolist(), position.tolist()
    ([0, 0, 1, 1, 1], [5, 6, 0, 1, 2])
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return owner, starts[owner] + np.arange(len(owner)) - before[owner]


def label_counts(rows: Rows) -> tuple[Ints, Ints, Ints, Ints]:
    """Count each item's labels: item, label and count of each cell; where an item begins."""
    cell, times = np.unique(rows.item * rows.n_labels + rows.label, return_counts=True)
    item, label = np.divmod(cell, rows.n_labels)
    starts = np.searchsorted(item, np.arange(rows.n_items + 1))
    return item, label, times, starts


def beside(rows: Rows) -> tuple[Ints, Ints, Ints]:
    """Pair every annotation with each distinct label of the others on the item.

    Returns
    -------
    annotation, label, count
        Position of the annotation, the label, and how many others gave it.
    """
    _, label, times, starts = label_counts(rows)
    a, cell = ranges(starts[rows.item], np.diff(starts)[rows.item])
    others = times[cell] - (label[cell] == rows.label[a])
    some = others > 0
    return a[some], label[cell][some], others[some]
