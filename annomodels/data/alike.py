"""Coders connected through items, and coders with indistinguishable labels."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annomodels.types import AnyArray

# share of the labels by coders who gave no other one from which these coders are taken for one
MOSTLY = 0.5
# p-value above which coders are alike: their labels change places within items as chance has it;
# and labels of a coder from which they are looked at
ALIKE, LOOKED_AT = 0.003, 5


def components(item: AnyArray, coder: AnyArray) -> NDArray[np.int64]:
    """Return the part of each coder [coder]; coders of different parts share no item."""
    # SciPy has this for any graph, but loading its graphs takes a tenth of a second, and every
    # command that reads labels asks
    part = np.arange(int(coder.max()) + 1)
    of_item = np.empty(int(item.max()) + 1, dtype=np.int64)
    while True:
        of_item[:] = len(part)
        np.minimum.at(of_item, item, part[coder])
        found = part.copy()
        least = of_item[item]
        # pointer jumping: each coder moves on to the root of its root, so a chain
        # of coders takes as many rounds as the logarithm of its length
        np.minimum.at(found, part[coder], least)
        np.minimum.at(found, coder, least)
        found = found[found]
        if (found == part).all():
            return part
        part = found


class Counted(Protocol):
    """Labels with their count per coder."""

    @property
    def per_coder(self) -> NDArray[np.int64]:
        """Number of labels that each coder gave, shape [coder]."""


def single_labels(data: Counted) -> float:
    """Return the proportion of labels by coders who gave no other label."""
    return float((data.per_coder == 1).sum()) / max(int(data.per_coder.sum()), 1)


def n_distinct(data: Counted) -> int:
    """Count the distinct coders, with the others as one."""
    return int(taken_together(data).max()) + 1


def taken_together(data: Counted) -> NDArray[np.int64]:
    """Merge coders who gave one label into one coder [coder], if most labels are theirs."""
    # the only label of a coder is a draw from the population of coders, so merging loses
    # no information: given the truth such labels are independent and alike
    place = np.arange(len(data.per_coder))
    if single_labels(data) < MOSTLY:
        return place
    one = data.per_coder == 1
    first = int(one.argmax())
    kept = np.flatnonzero(~one | (place == first))
    return np.asarray(np.searchsorted(kept, np.where(one, first, place)))


class Codes(Counted, Protocol):
    """Labels as codes, sorted by item."""

    @property
    def item(self) -> NDArray[np.int32]:
        """Item of each label."""

    @property
    def coder(self) -> NDArray[np.int32]:
        """Coder of each label."""

    @property
    def label(self) -> NDArray[np.int32]:
        """What was given."""

    @property
    def n_items(self) -> int:
        """Number of items."""

    @property
    def n_labels(self) -> int:
        """Number of labels that can be given."""


def exchangeable(data: Codes) -> bool:
    """Return True if the labels do not distinguish coders.

    If the names of coders mean nothing, for example because they are positions in a list, the
    labels of an item are in random order. Each coder's labels, and their agreement with the other
    labels of the items, are compared with what random order would give.

    >>> from annomodels import Annotations
    >>> alike = [(i, j, "ab"[(7 * i + 3 * j) % 5 > 2]) for i in range(40) for j in range(3)]
    >>> spammer = [(i, j, "ab"[i % 2] if j else "a") for i in range(40) for j in range(3)]
    >>> [exchangeable(Annotations.from_records(rows)) for rows in (alike, spammer)]
    [True, False]
    """
    from scipy.stats import chi2

    n_coders, k = len(data.per_coder), data.n_labels
    item, coder, label = (
        np.asarray(each, np.int64) for each in (data.item, data.coder, data.label)
    )
    votes = np.bincount(item * k + label, minlength=data.n_items * k).reshape(-1, k)
    n = votes.sum(axis=1)
    some = n[item] > 1
    item, coder, label = item[some], coder[some], label[some]
    share = votes / np.maximum(n, 1)[:, None]
    support = (votes - 1) / np.maximum(n - 1, 1)[:, None]
    mean = (share * support).sum(axis=1)
    variance = np.maximum((share * support**2).sum(axis=1) - mean**2, 0.0)
    enough = np.bincount(coder, minlength=n_coders) >= LOOKED_AT

    def compared(seen: AnyArray, spread: AnyArray) -> tuple[float, int]:
        total, of_chance = (np.bincount(coder, each, n_coders) for each in (seen, spread))
        told = enough & (of_chance > 1e-9)
        return float((total[told] ** 2 / of_chance[told]).sum()), int(told.sum())

    square, told = compared(support[item, label] - mean[item], variance[item])
    degrees = float(told)
    for one in range(k):
        p = share[item, one]
        more, told = compared((label == one) - p, p * (1.0 - p))
        # the labels of a coder have k - 1 free shares
        square, degrees = square + more * (k - 1) / k, degrees + told * (k - 1) / k
    return not degrees or float(chi2.sf(square, degrees)) > ALIKE


def mostly_plain(coder: AnyArray, label: AnyArray, n_coders: int, n_labels: int) -> bool:
    """Return True if most labels come from coders who give one label whatever the item."""
    # such as programmed rules: their labels show nothing about their errors
    cell = np.asarray(coder, np.int64) * n_labels + label
    given = np.bincount(cell, minlength=n_coders * n_labels).reshape(-1, n_labels)
    plain = ((given > 0).sum(axis=1) == 1) & (given.sum(axis=1) > 1)
    return bool(given[plain].sum() > MOSTLY * given.sum())


def told_apart(data: Codes) -> tuple[NDArray[np.int64], bool]:
    """Merge indistinguishable coders [coder]; also return whether all were merged."""
    n_coders = len(data.per_coder)
    if mostly_plain(data.coder, data.label, n_coders, data.n_labels) or exchangeable(data):
        return np.zeros(n_coders, dtype=np.int64), True
    return taken_together(data), False
