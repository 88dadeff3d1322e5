"""Alpha for stretches of text that coders cut out themselves, without overlap."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from annomodels.errors import AnnotationError, Problem

__all__ = ["UnitizedAlpha", "unitized_alpha"]

Unit = tuple[int, int]


class UnitizedAlpha(NamedTuple):
    """Alpha of units, in all and by category.

    Parameters
    ----------
    value
        1 - observed / expected, over all categories; NaN where nothing could differ.
    observed, expected
        Disagreement, summed over categories.
    by_category
        Category -> (value, observed, expected).
    """

    value: float
    observed: float
    expected: float
    by_category: dict[Hashable, tuple[float, float, float]]


def unitized_alpha(
    units: Iterable[tuple[int, int, Hashable, Hashable]], begin: int, length: int
) -> UnitizedAlpha:
    r"""Krippendorff's alpha for unitizing (1995; 2004), doi:10.2307/271061.

    Units of two coders that overlap are apart by the squared differences of their ends, a unit that
    meets none of the other coder by its squared length. It needs units that do not overlap within
    a coder and category, so it does not fit nested or discontinuous mentions: compare these by
    :func:`mention_agreement`.

    Parameters
    ----------
    units
        (first place, length, coder, category) of each unit.
    begin, length
        First place and length of the text.

    Returns
    -------
    UnitizedAlpha
        In all and by category. The coders are those that have any unit.

    Raises
    ------
    AnnotationError
        When units overlap or leave the text, or there are fewer than two coders.

    Examples
    --------
    >>> found = unitized_alpha([(0, 4, "ana", "x"), (1, 4, "ben", "x")], begin=0, length=10)
    >>> round(found.value, 4)
    0.8352
    """
    rows = list(units)
    coders = sorted({row[2] for row in rows}, key=str)
    problems = list(_problems(rows, begin, length))
    if len(coders) < 2:
        what = f"There are units of {len(coders)} coder(s)."
        problems.append(Problem(what, remedy="Give units of two coders or more."))
    held: dict[Hashable, dict[Hashable, list[Unit]]] = {}
    for start, size, coder, category in sorted(rows, key=lambda row: row[0]):
        marked = held.setdefault(category, {one: [] for one in coders})[coder]
        if marked and start < marked[-1][0] + marked[-1][1]:
            what = f"Two units of {coder} in {category} overlap at {start}."
            problems.append(Problem(what, remedy="Units of a coder and category may not overlap."))
        marked.append((start, size))
    if problems:
        raise AnnotationError(problems)
    by_category = {}
    for category, of in held.items():
        observed, expected = _observed(of, length), _expected(of, begin, length)
        by_category[category] = (_corrected(observed, expected), observed, expected)
    d_o, d_e = (math.fsum(found[n] for found in by_category.values()) for n in (1, 2))
    return UnitizedAlpha(_corrected(d_o, d_e), d_o, d_e, by_category)


def _corrected(observed: float, expected: float) -> float:
    return 1 - observed / expected if expected else math.nan


def _problems(
    rows: Iterable[tuple[int, int, Hashable, Hashable]], begin: int, length: int
) -> Iterable[Problem]:
    for start, size, coder, category in rows:
        if size < 1 or start < begin or start + size > begin + length:
            what = (
                f"The unit of {coder} in {category} at {start} of length {size} is not in the text."
            )
            yield Problem(what, remedy=f"Places run from {begin} to {begin + length - 1}.")


def _observed(of: Mapping[Hashable, list[Unit]], length: int) -> float:
    total = 0
    coders = list(of)
    for one in coders:
        for other in coders:
            if one != other:
                total += _apart(of[one], of[other])
    return total / (len(coders) * (len(coders) - 1) * length**2)


def _apart(one: list[Unit], other: list[Unit]) -> int:
    """Sum over overlapping units, and over units of either side that meet none, in one sweep."""
    total, n, m = 0, 0, 0
    met_one: set[int] = set()
    met_other: set[int] = set()
    while n < len(one) and m < len(other):
        (a, a_size), (b, b_size) = one[n], other[m]
        a_end, b_end = a + a_size, b + b_size
        if a < b_end and b < a_end:
            total += (a - b) ** 2 + (a_end - b_end) ** 2
            met_one.add(n)
            met_other.add(m)
        if a_end <= b_end:
            n += 1
        else:
            m += 1
    total += sum(size**2 for k, (_, size) in enumerate(one) if k not in met_one)
    return total + sum(size**2 for k, (_, size) in enumerate(other) if k not in met_other)


def _expected(of: Mapping[Hashable, list[Unit]], begin: int, length: int) -> float:
    """Place units at random among the units and gaps of all coders."""
    units = [size for marked in of.values() for _, size in marked]
    gaps = [gap for marked in of.values() for gap in _gaps(marked, begin, length)]
    total = 0.0
    for size in units:
        total += (len(units) - 1) / 3 * (2 * size**3 - 3 * size**2 + size)
        total += size**2 * sum(gap - size + 1 for gap in gaps if gap >= size)
    places = len(of) * length
    pairs = places * (places - 1) - sum(size * (size - 1) for size in units)
    return 2 / length * total / pairs


def _gaps(marked: list[Unit], begin: int, length: int) -> Iterable[int]:
    place = begin
    for start, size in [*marked, (begin + length, 0)]:
        if start > place:
            yield start - place
        place = start + size
