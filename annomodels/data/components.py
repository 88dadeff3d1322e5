"""Which coders hang together through items that they share.

SciPy has this for any graph, but loading its graphs takes a tenth of a second, and every command
that reads labels asks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def components(item: NDArray[Any], coder: NDArray[Any]) -> NDArray[np.int64]:
    """Give the part that each coder belongs to; coders of different parts share no item.

    Parameters
    ----------
    item, coder
        Codes from 0 of who labelled what, shape [annotation].

    Returns
    -------
    array
        Shape [coder]: the least coder of the part. A coder without labels is a part alone.

    Examples
    --------
    >>> components(np.array([0, 0, 1, 2, 2]), np.array([0, 3, 1, 3, 2]))
    array([0, 1, 0, 0])
    """
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
