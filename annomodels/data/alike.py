"""Connected components of coders through shared items, and coders of one label."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annomodels.types import AnyArray

# share of the labels by coders who gave no other one from which these coders are taken for one
MOSTLY = 0.5


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
        # whom a coder hangs on goes along, and coders go on to whom that one hangs on: so a chain
        # of coders takes as many rounds as the logarithm of its length
        np.minimum.at(found, part[coder], least)
        np.minimum.at(found, coder, least)
        found = found[found]
        if (found == part).all():
            return part
        part = found


class Counted(Protocol):
    """Labels of which is known how many each coder gave."""

    @property
    def per_coder(self) -> NDArray[np.int64]:
        """Number of labels that each coder gave, shape [coder]."""


def single_labels(data: Counted) -> float:
    """Share of the labels that come from coders who gave no other label."""
    return float((data.per_coder == 1).sum()) / max(int(data.per_coder.sum()), 1)


def n_distinct(data: Counted) -> int:
    """Count the coders that are told apart, the others as one."""
    return int(taken_together(data).max()) + 1


def taken_together(data: Counted) -> NDArray[np.int64]:
    """Merge coders who gave one label into one coder [coder], if most labels are theirs."""
    # a label that is all that is known of its coder is a draw from the population of coders, and
    # nothing is lost: given the truth such labels are independent and alike
    place = np.arange(len(data.per_coder))
    if single_labels(data) < MOSTLY:
        return place
    one = data.per_coder == 1
    first = int(one.argmax())
    kept = np.flatnonzero(~one | (place == first))
    return np.asarray(np.searchsorted(kept, np.where(one, first, place)))
