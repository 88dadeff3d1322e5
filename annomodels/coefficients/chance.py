r"""Chance items: what a prior adds to the items of the data before their weights are drawn.

Jeffreys' prior for the table of two coders and two labels is half an item in each cell. The chance
items say the same for any number of coders and labels: for each label half an item on which all
coders give it, and one item on which they disagree, all such patterns alike. Two coders and two
labels get Jeffreys' prior to the letter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.rows import Rows

__all__ = ["ChanceItems", "chance_items"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PER_LABEL = 0.5
AGREED_AT_MOST = 2.0
DISAGREED = 1.0
N_AGREED = 96
N_DISAGREED = 64


class ChanceItems(NamedTuple):
    """Labels of the chance items and their prior weights.

    Parameters
    ----------
    item, coder, label
        Codes, shape [annotation].
    weight
        Prior weight of each chance item, shape [item].
    """

    item: Ints
    coder: Ints
    label: Ints
    weight: Floats


def chance_items(rows: Rows) -> ChanceItems:
    """Make the chance items of a data set, each labelled by the coders of one of its items."""
    rng = np.random.default_rng(20_10)
    k = rows.n_labels
    labels = np.arange(k) if k <= N_AGREED else np.sort(rng.choice(k, N_AGREED, replace=False))
    each = max(1, N_AGREED // len(labels))
    item, coder = _coders(rows, each * len(labels), rng)
    agreed = ChanceItems(
        item,
        coder,
        labels[item // each],
        np.full(each * len(labels), min(PER_LABEL * k, AGREED_AT_MOST) / (each * len(labels))),
    )
    if k < 2:
        return agreed
    item, coder = _coders(rows, N_DISAGREED, rng)
    patterns = _disagreeing(np.bincount(item, minlength=N_DISAGREED), k, rng)
    return _joined(agreed, _in_all_rotations(item, coder, patterns, k))


def _coders(rows: Rows, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Give each chance item the coders of an item that was drawn from those with two labels."""
    r = rows.per_item
    pairable = np.flatnonzero(r >= 2)
    if not len(pairable):
        pairable = np.arange(rows.n_items)
    upto = np.cumsum(rows.times[pairable])
    drawn = np.searchsorted(upto, rng.random(n) * upto[-1], side="right")
    chosen = pairable[np.minimum(drawn, len(pairable) - 1)]
    size = r[chosen]
    offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    coder = rows.coder[np.repeat(rows.starts[chosen], size) + offset]
    return np.repeat(np.arange(n), size), coder


def _disagreeing(size: Ints, k: int, rng: np.random.Generator) -> Ints:
    """Labels of items with `size` labels, not all the same, the first of each item being 0."""
    patterns = []
    for n, r in enumerate(size.tolist()):
        others = r - 1
        if others * np.log(k) < np.log(4 * len(size)):
            code = 1 + n % max(k**others - 1, 1)
            label = code // k ** np.arange(others) % k
        else:
            label = rng.integers(0, k, others)
            if not label.any():
                label[-1] = 1
        patterns.append(np.concatenate([[0], label]))
    return np.concatenate(patterns).astype(np.int64)


def _in_all_rotations(item: Ints, coder: Ints, label: Ints, k: int) -> ChanceItems:
    """Shift the labels round, so that all labels are equally frequent."""
    n = int(item.max()) + 1
    turns = np.arange(k) if k <= N_AGREED else np.arange(N_AGREED) * k // N_AGREED
    kept = item < max(1, 2 * N_DISAGREED // len(turns))
    item, coder, label = item[kept], coder[kept], label[kept]
    n = int(item.max()) + 1
    turn = np.repeat(np.arange(len(turns)), len(item))
    return ChanceItems(
        np.tile(item, len(turns)) + turn * n,
        np.tile(coder, len(turns)),
        (np.tile(label, len(turns)) + turns[turn]) % k,
        np.full(n * len(turns), DISAGREED / (n * len(turns))),
    )


def _joined(one: ChanceItems, other: ChanceItems) -> ChanceItems:
    n = len(one.weight)
    return ChanceItems(
        np.concatenate([one.item, other.item + n]),
        np.concatenate([one.coder, other.coder]),
        np.concatenate([one.label, other.label]),
        np.concatenate([one.weight, other.weight]),
    )
