"""Distances of sets as functions of three numbers: the two sizes and how much they share.

All sets of a label set can thus be compared by counting, without ever forming the sets of a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annomodels.errors import NotApplicable

__all__ = ["SET_DISTANCES", "Empty", "SizeDistance", "set_distance", "size_distance"]

Floats = NDArray[np.float64]
SizeDistance = Callable[[ArrayLike, ArrayLike, ArrayLike], Floats]
Empty = Literal["subset", "disjoint"]

ALIASES = {"dkpro_masi": "masi_dkpro", "passoneau": "passonneau"}
EMPTY_APART = "passonneau_empty_1"  # the name that the coefficients have for it


def _share(above: Floats, below: Floats) -> Floats:
    """Quotient, 1 where both are 0: two empty sets are the same."""
    out = np.ones(np.broadcast(above, below).shape)
    return np.asarray(np.divide(above, below, out=out, where=below > 0))


def _jaccard(a: Floats, b: Floats, i: Floats, empty: Empty) -> Floats:
    return np.asarray(1 - _share(i, a + b - i))


def _dice(a: Floats, b: Floats, i: Floats, empty: Empty) -> Floats:
    return np.asarray(1 - _share(2 * i, a + b))


def _nominal(a: Floats, b: Floats, i: Floats, empty: Empty) -> Floats:
    return np.asarray(1.0 - ((a == i) & (b == i)))


def _passonneau(a: Floats, b: Floats, i: Floats, empty: Empty) -> Floats:
    within = (a == i) | (b == i)
    if empty == "disjoint":
        within = within & ((i > 0) | (a == b))
    third = np.where(within, np.where(a == b, 0, 1), np.where(i > 0, 2, 3))
    return np.asarray(third / 3)


def _masi(a: Floats, b: Floats, i: Floats, empty: Empty) -> Floats:
    return np.asarray(1 - (1 - _jaccard(a, b, i, empty)) * (1 - _passonneau(a, b, i, empty)))


def _masi_dkpro(a: Floats, b: Floats, i: Floats, empty: Empty) -> Floats:
    return np.asarray(_jaccard(a, b, i, empty) * _passonneau(a, b, i, empty))


SET_DISTANCES: dict[str, Callable[[Floats, Floats, Floats, Empty], Floats]] = {
    "masi": _masi,
    "passonneau": _passonneau,
    "jaccard": _jaccard,
    "dice": _dice,
    "nominal": _nominal,
    "masi_dkpro": _masi_dkpro,
}


def size_distance(name: str, empty: Empty = "subset") -> SizeDistance:
    """Distance by name, as a function of two sizes and of the size of what they share.

    Raises
    ------
    NotApplicable
        When there is no such distance, or no such way to treat the empty set.
    """
    if empty not in ("subset", "disjoint"):
        raise NotApplicable(f"empty={empty!r} is unknown. Use 'subset' or 'disjoint'.")
    key = ALIASES.get(name.lower(), name.lower())
    if key == EMPTY_APART:
        key, empty = "passonneau", "disjoint"
    if key not in SET_DISTANCES:
        raise NotApplicable(
            f"There is no distance of sets called {name!r}. Use one of {', '.join(SET_DISTANCES)}."
        )
    function = SET_DISTANCES[key]

    def distance(a: ArrayLike, b: ArrayLike, i: ArrayLike) -> Floats:
        return function(
            np.asarray(a, dtype=float),
            np.asarray(b, dtype=float),
            np.asarray(i, dtype=float),
            empty,
        )

    return distance


def set_distance(
    a: Iterable[Any], b: Iterable[Any], distance: str = "masi", *, empty: Empty = "subset"
) -> float:
    r"""Distance of two sets.

    ==============  ================================================================================
    name            distance, with :math:`J = |A \cap B| / |A \cup B|`
    ==============  ================================================================================
    ``passonneau``  0 equal, 1/3 one within the other, 2/3 overlapping, 1 disjoint
                    (Passonneau 2004)
    ``masi``        :math:`1 - J M`, M = 1, 2/3, 1/3, 0 in the same order (Passonneau 2006)
    ``masi_dkpro``  :math:`(1 - J) \delta`, :math:`\delta` = Passonneau's distance: what DKPro
                    Statistics calls MASI; for comparison with it only
    ``jaccard``     :math:`1 - J`
    ``dice``        :math:`1 - 2 |A \cap B| / (|A| + |B|)`
    ``nominal``     0 equal, 1 different
    ==============  ================================================================================

    Two empty sets are equal. Kopeć and Ogrodniczuk (2014) print MASI as :math:`\delta J`, which
    gives disjoint sets the distance 0; it is not offered.

    Parameters
    ----------
    a, b
        The sets.
    distance
        Name of the distance.
    empty
        How far the empty set is from others by Passonneau's rules: "subset" (1/3, the first rule
        that fits) or "disjoint" (1); "passonneau_empty_1" is short for the latter.

    Raises
    ------
    NotApplicable
        When there is no such distance.

    Examples
    --------
    >>> round(set_distance({1, 2, 3, 4}, {3, 4, 5}), 4), set_distance({1}, {1, 2}, "jaccard")
    (0.8667, 0.5)
    >>> round(set_distance((), {1}, "passonneau"), 3)
    0.333
    """
    first, second = set(a), set(b)
    return float(size_distance(distance, empty)(len(first), len(second), len(first & second)))
