r"""Chance items: what a prior adds to the items of the data before their weights are drawn.

Jeffreys' prior for the table of two coders and two labels is half an item in each cell. The chance
items say the same for any number of coders and labels: for each label half an item on which all
coders give it, and one item on which they disagree, all such patterns alike. Two coders and two
labels get Jeffreys' prior to the letter.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.rows import Rows, collapse

__all__ = ["chance_items"]

Ints = NDArray[np.int64]

PER_LABEL = 0.5
AGREED_AT_MOST = 2.0
DISAGREED = 1.0
N_AGREED = 96
N_DISAGREED = 64
PANEL = 2.0


def chance_items(rows: Rows) -> Rows:
    """Make the chance items of a data set.

    In a panel, where coders label half of the items or more, all of them label each chance item;
    in a crowd it has the coders of one item of the data.

    Returns
    -------
    Their labels; `times` holds their prior weights.
    """
    rng = np.random.default_rng(20_10)
    k = rows.n_labels
    labels = np.arange(k) if k <= N_AGREED else np.sort(rng.choice(k, N_AGREED, replace=False))
    each = N_AGREED // len(labels)
    item, coder = _coders(rows, each * len(labels), rng)
    agreed = _rows(rows, item, coder, labels[item // each], min(PER_LABEL * k, AGREED_AT_MOST))
    if k < 2:
        return collapse(agreed)
    item, coder = _coders(rows, N_DISAGREED, rng)
    label = _disagreeing(np.bincount(item, minlength=N_DISAGREED), k, rng)
    disagreed = _rows(rows, *_in_all_rotations(item, coder, label, k), DISAGREED)
    both = dataclasses.replace(
        agreed,
        item=np.concatenate([agreed.item, disagreed.item + agreed.n_items]),
        coder=np.concatenate([agreed.coder, disagreed.coder]),
        label=np.concatenate([agreed.label, disagreed.label]),
        n_items=agreed.n_items + disagreed.n_items,
        times=np.concatenate([agreed.times, disagreed.times]),
    )
    return collapse(both)


def _rows(rows: Rows, item: Ints, coder: Ints, label: Ints, weight: float) -> Rows:
    """Items that together have a weight."""
    n = int(item[-1]) + 1
    return Rows(item, coder, label, n, rows.n_coders, rows.n_labels, times=np.full(n, weight / n))


def _coders(rows: Rows, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Give each chance item all coders of a panel, or those of an item of a crowd.

    Were labels missing from the chance items of a panel too, each pair of coders would share only
    some of them, and the kappa of the pair would have less of a prior than kappas need.
    """
    r = rows.per_item
    pairable = np.flatnonzero(r >= 2)
    if not len(pairable):
        pairable = np.arange(rows.n_items)
    upto = np.cumsum(rows.times[pairable])
    drawn = np.searchsorted(upto, rng.random(n) * upto[-1], side="right")
    chosen = pairable[np.minimum(drawn, len(pairable) - 1)]
    labels = (rows.times * r)[pairable].sum()
    if rows.n_coders * upto[-1] <= PANEL * labels and not rows.repeated:
        return np.repeat(np.arange(n), rows.n_coders), np.tile(np.arange(rows.n_coders), n)
    return np.repeat(np.arange(n), r[chosen]), rows.coder[rows.where(chosen)]


def _disagreeing(size: Ints, k: int, rng: np.random.Generator) -> Ints:
    """Labels of items with `size` labels, not all the same, the first of each item being 0."""
    patterns = []
    for n, r in enumerate(size.tolist()):
        others = r - 1
        if others * np.log(k) < np.log(len(size)):
            code = 1 + n % max(k**others - 1, 1)
            label = code // k ** np.arange(others) % k
        else:
            label = rng.integers(0, k, others)
            if not label.any():
                label[-1] = 1
        patterns.append(np.concatenate([[0], label]))
    return np.concatenate(patterns).astype(np.int64)


def _in_all_rotations(item: Ints, coder: Ints, label: Ints, k: int) -> tuple[Ints, Ints, Ints]:
    """Shift the labels round, so that all labels are equally frequent."""
    turns = np.arange(k) if k <= N_AGREED else np.arange(N_AGREED) * k // N_AGREED
    most = max(1, N_DISAGREED // len(turns))
    most -= most % (k - 1) if most >= k else 0  # pairs of labels stand equally often
    kept = item < most
    item, coder, label = item[kept], coder[kept], label[kept]
    n = int(item[-1]) + 1
    turn = np.repeat(np.arange(len(turns)), len(item))
    return (
        np.tile(item, len(turns)) + turn * n,
        np.tile(coder, len(turns)),
        (np.tile(label, len(turns)) + turns[turn]) % k,
    )
