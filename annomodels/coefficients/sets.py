"""Distances between labels that are sets, from their sizes and what they share.

Each is one quotient of whole numbers, so it is the nearest float to the fraction it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from annomodels.errors import NotApplicable
from annomodels.types import Floats

SizeDistance = Callable[[ArrayLike, ArrayLike, ArrayLike], Floats]
Empty = Literal["subset", "disjoint"]
Quotient = tuple[Floats | float, Floats | float]

ALIASES = {"dkpro_masi": "masi_dkpro", "passoneau": "passonneau"}
EMPTY_APART = "passonneau_empty_1"


def _thirds(a: Floats, b: Floats, i: Floats, empty: Empty) -> Floats:
    """Return three times Passonneau's distance; the first rule that fits counts."""
    within = (a == i) | (b == i)
    if empty == "disjoint":
        within = within & ((i > 0) | (a == b))
    return np.asarray(np.where(within, np.where(a == b, 0, 1), np.where(i > 0, 2, 3)), dtype=float)


SIZE_DISTANCES: dict[str, Callable[[Floats, Floats, Floats, Empty], Quotient]] = {
    "masi": lambda a, b, i, e: (3 * (a + b - i) - i * (3 - _thirds(a, b, i, e)), 3 * (a + b - i)),
    "passonneau": lambda a, b, i, e: (_thirds(a, b, i, e), 3.0),
    "jaccard": lambda a, b, i, _: (a + b - 2 * i, a + b - i),
    "dice": lambda a, b, i, _: (a + b - 2 * i, a + b),
    "nominal": lambda a, b, i, _: (np.asarray((a != i) | (b != i), dtype=float), 1.0),
    "masi_dkpro": lambda a, b, i, e: ((a + b - 2 * i) * _thirds(a, b, i, e), 3 * (a + b - i)),
}
"""Numerator and denominator of each distance, from two sizes and the size of what is shared."""

SET_DISTANCES = ("jaccard", "dice", "passonneau", "masi", EMPTY_APART)
"""Those that :func:`annomodels.agreement` takes by name."""


def size_distance(name: str, empty: Empty = "subset") -> SizeDistance:
    """Distance by name, as a function of two sizes and of the size of what they share."""
    if empty not in ("subset", "disjoint"):
        raise NotApplicable(f"empty={empty!r} is unknown. Use 'subset' or 'disjoint'.")
    key = ALIASES.get(name.lower(), name.lower())
    if key == EMPTY_APART:
        key, empty = "passonneau", "disjoint"
    if key not in SIZE_DISTANCES:
        raise NotApplicable(
            f"Unknown distance of sets {name!r}. Use one of {', '.join(SIZE_DISTANCES)}."
        )
    quotient = SIZE_DISTANCES[key]

    def distance(a: ArrayLike, b: ArrayLike, i: ArrayLike) -> Floats:
        first, second, both = (np.asarray(size, dtype=float) for size in (a, b, i))
        above, below = np.broadcast_arrays(*quotient(first, second, both, empty))
        # Two empty sets are the same.
        return np.asarray(np.divide(above, below, out=np.zeros(above.shape), where=below > 0))

    return distance


def set_table(name: str, labels: Sequence[Set[Hashable]]) -> Floats:
    """Distances of all pairs of sets, shape [label, label]."""
    places: dict[Any, int] = {}
    member = [[places.setdefault(one, len(places)) for one in label] for label in labels]
    held = np.zeros((len(labels), len(places)))
    for row, columns in zip(held, member, strict=True):
        row[columns] = 1.0
    size = held.sum(1)
    return size_distance(name)(size[:, None], size[None, :], held @ held.T)


def set_distance(
    a: Iterable[Hashable], b: Iterable[Hashable], distance: str = "masi", *, empty: Empty = "subset"
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
