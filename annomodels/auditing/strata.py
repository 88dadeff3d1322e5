"""Strata of items by predicted label and P(truth), and how many items of each are audited."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from annomodels.types import Bools, Floats, Ints

# items audited of a stratum, about; the more strata, the more an audit gains from P(truth), and
# the less can be seen of what differs inside one
PER_STRATUM = 3
# smallest P(wrong) that a stratum is given items for: a crowd may be sure and wrong
FLOOR = 0.04
# a predicted label has strata of its own from so many strata on; others share theirs
ENOUGH = 0.6


@dataclass(frozen=True, eq=False)
class Strata:
    """Items that may be audited, in strata."""

    stratum: Ints  # of each item, -1 of items that are no part of it [item]
    size: Ints  # number of items [stratum]
    want: Floats  # share of an audit, with a sum of 1 [stratum]

    def __len__(self) -> int:
        return len(self.size)

    def mean(self, values: Floats) -> Floats:
        """Average values [item] over strata, shape [stratum]."""
        inside = self.stratum >= 0
        sums = np.bincount(self.stratum[inside], values[inside], len(self))
        return np.asarray(sums / np.maximum(self.size, 1))

    def without(self, items: Ints) -> Strata:
        """Return a copy without some items, from which nothing follows for the others."""
        stratum = self.stratum.copy()
        stratum[items] = -1
        size = np.bincount(stratum[stratum >= 0], minlength=len(self))
        return replace(self, stratum=stratum, size=size)

    def count(self, chosen: Ints | Bools, weights: Floats | None = None) -> Floats:
        """Count chosen items, or add up their weights, shape [stratum]."""
        return np.bincount(self.stratum[chosen], weights, len(self)).astype(float)


def stratify(p_truth: Floats, part: Bools, size: int) -> Strata:
    """Put items into strata that deserve about three audited items each."""
    # Items of a predicted label are sorted by q = P(wrong), at least FLOOR, and cut at equal sums
    # of sqrt(q (1 - q)): Neyman's allocation (1934, doi:10.2307/2342192) then gives each stratum
    # equally many items (Dalenius & Hodges 1959, doi:10.1080/01621459.1959.10501501).
    some = np.flatnonzero(part)
    p = p_truth[some]
    if not len(some):
        nothing = np.full(len(part), -1)
        return Strata(nothing, np.zeros(1, dtype=np.int64), np.ones(1))
    best, q = p.argmax(axis=1), 1.0 - p.max(axis=1)
    sure = np.clip(q, FLOOR, 1.0 - FLOOR)
    measure = np.sqrt(sure * (1.0 - sure))
    total = float(measure.sum())
    share = np.bincount(best, measure, p.shape[1]) / total * max(1, size // PER_STRATUM)
    apart = share >= ENOUGH
    block = np.where(apart[best], best, -1)
    of_item, begun = np.empty(len(some), dtype=np.int64), 0
    for label in np.unique(block):
        mine = np.flatnonzero(block == label)
        number = max(1, round(float(share[~apart].sum() if label < 0 else share[label])))
        mine = mine[np.argsort(q[mine], kind="stable")]
        sums = np.cumsum(measure[mine]) - measure[mine] / 2
        cut = np.minimum((sums / measure[mine].sum() * number).astype(np.int64), number - 1)
        of_item[mine] = begun + cut
        begun += number
    _, of_item = np.unique(of_item, return_inverse=True)
    stratum = np.full(len(part), -1)
    stratum[some] = of_item
    sizes = np.bincount(of_item)
    return Strata(stratum, sizes, np.bincount(of_item, measure) / total)


def allocate(strata: Strata, size: int, had: Ints | None = None) -> Ints:
    """Return how many more items of each stratum to audit, so that the sum is `size`."""
    before = np.zeros(len(strata), dtype=np.int64) if had is None else had
    room = strata.size - before
    goal = min(size, int(room.sum()))
    out = np.zeros(len(strata), dtype=np.int64)
    for _ in range(goal):
        # the stratum that is furthest behind its share, those without any item first
        behind = (before + out) / strata.want
        behind[out >= room] = np.inf
        out[int(behind.argmin())] += 1
    return out
