"""Distances between labels that are sets, such as coreference chains."""

from __future__ import annotations

from collections.abc import Callable, Set
from fractions import Fraction
from functools import partial
from typing import Any

Members = Set[Any]


def jaccard(a: Members, b: Members) -> Fraction:
    r"""Jaccard distance, :math:`1 - |A \cap B| / |A \cup B|`; 0 for equal sets.

    Examples
    --------
    >>> jaccard({1, 2}, {2, 3})
    Fraction(2, 3)
    """
    return Fraction(0) if a == b else 1 - Fraction(len(a & b), len(a | b))


def dice(a: Members, b: Members) -> Fraction:
    r"""Dice distance, :math:`1 - 2 |A \cap B| / (|A| + |B|)`; 0 for equal sets.

    Examples
    --------
    >>> dice({1, 2}, {2, 3})
    Fraction(1, 2)
    """
    return Fraction(0) if a == b else 1 - Fraction(2 * len(a & b), len(a) + len(b))


def passonneau(a: Members, b: Members, empty: Fraction = Fraction(1, 3)) -> Fraction:
    """Passonneau's distance: 0 equal, 1/3 one within the other, 2/3 overlapping, 1 disjoint.

    The first rule that fits counts, so the empty set is at 1/3 from every other set; `empty` is
    the distance to take instead, 1 where a set with nothing shares nothing.
    Source: Passonneau (2004), Computing reliability for coreference annotation, LREC.

    Examples
    --------
    >>> passonneau({1}, {1, 2}), passonneau({1}, {2}), passonneau(set(), {2}, empty=1)
    (Fraction(1, 3), Fraction(1, 1), Fraction(1, 1))
    """
    if a == b:
        return Fraction(0)
    if not a or not b:
        return Fraction(empty)
    if a <= b or b <= a:
        return Fraction(1, 3)
    return Fraction(2, 3) if a & b else Fraction(1)


def masi(a: Members, b: Members) -> Fraction:
    r"""MASI distance, :math:`1 - J M`, with Jaccard's J and Passonneau's monotonicity M.

    M is 1 for equal sets, 2/3 where one lies within the other, 1/3 where they overlap, else 0.
    Source: Passonneau (2006), Measuring agreement on set-valued items (MASI), LREC.

    Examples
    --------
    >>> masi({1}, {1, 2})
    Fraction(2, 3)
    """
    return 1 - (1 - jaccard(a, b)) * (1 - passonneau(a, b))


SET_DISTANCES: dict[str, Callable[[Members, Members], Fraction]] = {
    "jaccard": jaccard,
    "dice": dice,
    "passonneau": passonneau,
    "masi": masi,
    "passonneau_empty_1": partial(passonneau, empty=Fraction(1)),
}
