"""Distances between labels, from a name, a table or a function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from annomodels.coefficients.catalogue import plain
from annomodels.data.names import quoted
from annomodels.data.validation import number_or_nan
from annomodels.errors import AnnotationError, NotApplicable, Option, Problem
from annomodels.types import Floats, Ints

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
"""Numerator and denominator of each distance, from two set sizes and their intersection size."""

SET_DISTANCES = ("jaccard", "dice", "passonneau", "masi", EMPTY_APART)
"""Distances that :func:`annomodels.agreement` accepts by name."""


def size_distance(name: str, empty: Empty = "subset") -> SizeDistance:
    """Return a distance as a function of two set sizes and their intersection size."""
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
    """Return the distances of all pairs of sets, shape [label, label]."""
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
    r"""Return the distance between two sets.

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
        Distance of the empty set from others by Passonneau's rules: "subset" (1/3, the first rule
        that fits) or "disjoint" (1); "passonneau_empty_1" is short for the latter.

    Raises
    ------
    NotApplicable
        If the distance is unknown.

    Examples
    --------
    >>> round(set_distance({1, 2, 3, 4}, {3, 4, 5}), 4), set_distance({1}, {1, 2}, "jaccard")
    (0.8667, 0.5)
    >>> round(set_distance((), {1}, "passonneau"), 3)
    0.333
    """
    first, second = set(a), set(b)
    return float(size_distance(distance, empty)(len(first), len(second), len(first & second)))


BLOCK = 256


class Distance:
    """A symmetric distance between labels with distance 0 from a label to itself."""

    # `pooled` are the weights of the labels [..., label]; only the ordinal distance depends on
    # them.

    name: str  # name given by the user
    moving: ClassVar[bool] = False  # whether it depends on label frequencies

    def pairs(self, first: Ints, second: Ints, pooled: Floats, part: Ints | None = None) -> Floats:
        """Return distances of label pairs [..., pair]; `part` of `pooled` [..., part, label]."""
        raise NotImplementedError

    def reach(self, right: Floats, pooled: Floats) -> Floats:
        """Return the sum over l of right_l d_kl, shape [..., label k]."""
        raise NotImplementedError

    def form(self, left: Floats, right: Floats, pooled: Floats) -> Floats:
        """Return the sum over k and l of left_k right_l d_kl, shape [...]."""
        return np.asarray((left * self.reach(right, pooled)).sum(-1))

    def largest(self, pooled: Floats) -> Floats:
        """Return the largest distance in the label set, shape [...] or []."""
        raise NotImplementedError


@dataclass(frozen=True)
class Nominal(Distance):
    name: str = "nominal"

    def pairs(self, first: Ints, second: Ints, pooled: Floats, part: Ints | None = None) -> Floats:
        return np.asarray(first != second, dtype=float)

    def reach(self, right: Floats, pooled: Floats) -> Floats:
        return np.asarray(right.sum(-1, keepdims=True) - right)

    def form(self, left: Floats, right: Floats, pooled: Floats) -> Floats:
        return np.asarray(left.sum(-1) * right.sum(-1) - (left * right).sum(-1))

    def largest(self, pooled: Floats) -> Floats:
        return np.asarray(float(pooled.shape[-1] > 1))


def unit(distance: Distance, pooled: Floats) -> Floats:
    """Return the distance of no agreement: 1 for agreement weights, else the largest."""
    known = distance.unit if isinstance(distance, Computed) else None
    return distance.largest(pooled) if known is None else np.asarray(known)


class Squares(Distance):
    """Squared difference of label positions on a line; moments suffice for all sums."""

    def places(self, pooled: Floats) -> Floats:
        """Return the position of each label, shape [label] or [..., label]."""
        raise NotImplementedError

    def _centred(self, pooled: Floats) -> Floats:
        """Return positions minus their mean, to keep the precision of sums of squares."""
        x = self.places(pooled)
        weight = np.maximum(pooled.sum(-1, keepdims=True), np.finfo(float).tiny)
        return np.asarray(x - (pooled * x).sum(-1, keepdims=True) / weight)

    def pairs(self, first: Ints, second: Ints, pooled: Floats, part: Ints | None = None) -> Floats:
        x = self.places(pooled)
        one, other = (
            x[..., label] if part is None or not self.moving else x[..., part, label]
            for label in (first, second)
        )
        return np.asarray((one - other) ** 2)

    def reach(self, right: Floats, pooled: Floats) -> Floats:
        x = self._centred(pooled)
        moments = (right.sum(-1), (right * x).sum(-1), (right * x * x).sum(-1))
        mass, first, second = (np.asarray(m)[..., None] for m in moments)
        return np.asarray(mass * x * x - 2 * first * x + second)

    def largest(self, pooled: Floats) -> Floats:
        return np.asarray(np.ptp(self.places(pooled), axis=-1) ** 2)


@dataclass(frozen=True, eq=False)
class Squared(Squares):
    name: str  # what the user called it
    values: Floats  # value of each label [label]

    def places(self, pooled: Floats) -> Floats:
        return self.values


@dataclass(frozen=True)
class OrdinalDistance(Squares):
    """Krippendorff's ordinal distance: the squared proportion of labels between two labels."""

    # The squared difference of mid-ranks, as proportions of pairable labels; Krippendorff counts
    # labels instead, which changes only the unit.

    name: str = "ordinal"
    moving = True

    def places(self, pooled: Floats) -> Floats:
        """Return the mid-rank of each label, as a proportion."""
        total = np.maximum(pooled.sum(-1, keepdims=True), np.finfo(float).tiny)
        return np.asarray((np.cumsum(pooled, axis=-1) - pooled / 2) / total - 0.5)


@dataclass(frozen=True, eq=False)
class Computed(Distance):
    """A distance given by a function of label codes, such as a table lookup."""

    name: str  # what the user called it
    # from two broadcastable arrays of label codes to their distances
    between: Callable[[Ints, Ints], Floats]
    n_labels: int
    # distance that counts as no agreement, if it is not the largest distance
    unit: float | None = None
    note: str = ""

    def pairs(self, first: Ints, second: Ints, pooled: Floats, part: Ints | None = None) -> Floats:
        return self.between(first, second)

    def reach(self, right: Floats, pooled: Floats) -> Floats:
        flat = np.ascontiguousarray(right).reshape(-1, self.n_labels)
        reached = [flat @ block for block in self._blocks()]
        return np.concatenate(reached, axis=-1).reshape(right.shape)

    def _blocks(self) -> Iterator[Floats]:
        codes = np.arange(self.n_labels)[:, None]
        for start in range(0, self.n_labels, BLOCK):
            yield self.between(codes, codes[start : start + BLOCK].T)

    def largest(self, pooled: Floats) -> Floats:
        return np.asarray(max(block.max() for block in self._blocks()))


DistanceLike = str | ArrayLike | Callable[[Any, Any], Any]

NUMBERS_ONLY = ("interval", "ratio")
NUMERIC_DISTANCES: tuple[str, ...] = (
    *("ordinal", *NUMBERS_ONLY, "linear", "quadratic", "rank_linear", "rank_quadratic"),
    *("gwet_ordinal", "radical", "circular", "bipolar"),
)
DISTANCES: tuple[str, ...] = ("nominal", *NUMERIC_DISTANCES, *SET_DISTANCES)
OTHER_NAMES = {
    "identity": "nominal",
    "unweighted": "nominal",
    "binary": "nominal",
    "categorical": "nominal",
    "discrete": "nominal",
    "equal": "linear",
    "absolute": "linear",
    "squared": "quadratic",
    "fleiss_cohen": "quadratic",
    "cicchetti_allison": "linear",
    "ordinal_gwet": "gwet_ordinal",
    "polar": "bipolar",
}

MANY_LABELS = 2_000
RULES = "A distance is symmetric, never negative, and 0 from a label to itself."
ONE_SIDED = (
    "Two labels of an item have no order, so a distance has no direction. Functions for raw labels "
    "elsewhere (irrCAC's) silently use the mean of both directions: give (table + table.T) / 2 to "
    "get their numbers."
)


def make_distance(
    distance: DistanceLike,
    labels: Sequence[Hashable],
    values: Floats | None = None,
    *,
    ordered: bool = True,
) -> Distance:
    """Make a distance between labels: by name (docs/coefficients.md), a table or a callable."""
    # A table [label, label] or callable with diagonal 1 and no larger value gives
    # agreement weights, w = 1 - distance. AC2 and observed agreement depend on what counts as no
    # agreement: distance 1, or the largest distance between two labels of the set if a distance of
    # a table exceeds 1, and for numeric distances. `values` are NaN for non-numeric labels.
    if not isinstance(distance, str):
        if callable(distance):
            name = getattr(distance, "__name__", "custom")
            _few(labels)
            found = [[number_or_nan(distance(a, b)) for b in labels] for a in labels]
            return _table(name, np.array(found), labels)
        return _table("custom", np.asarray(distance, dtype=float), labels)
    name = plain(distance).removesuffix("_weights").removesuffix("_distance")
    distance = OTHER_NAMES.get(name, name)
    if distance not in DISTANCES:
        raise NotApplicable(
            f"Unknown distance {distance!r}. Use one of {', '.join(DISTANCES)}, "
            "a table [label, label] or a function of two labels."
        )
    if distance == "nominal":
        return Nominal()
    if distance in SET_DISTANCES:
        if wrong := [repr(label) for label in labels if not isinstance(label, Set)]:
            raise NotApplicable(
                f"The distance {distance!r} needs labels that are sets, but these are not sets: "
                f"{', '.join(wrong[:5])}. In files, several labels are read as a set with "
                f"{Option('sets', True)}; in Python, use a frozenset."
            )
        _few(labels)
        table = set_table(distance, cast("Sequence[Set[Any]]", labels))
        return _table(distance, table, labels)
    x = np.full(len(labels), np.nan) if values is None else np.asarray(values, dtype=float)
    return numeric_distance(distance, x, [str(label) for label in labels], ordered)


def _few(labels: Sequence[Hashable]) -> None:
    if len(labels) > MANY_LABELS:
        raise NotApplicable(
            f"A distance function is evaluated for all pairs of labels; {len(labels):,} labels are "
            f"too many (at most {MANY_LABELS:,}). Use a numeric distance."
        )


def _table(name: str, table: Floats, labels: Sequence[Hashable]) -> Distance:
    n, note = len(labels), ""
    if table.shape == (n, n) and n > 1 and (np.diag(table) == 1).all() and (table <= 1).all():
        table = 1.0 - table
        note = "The table has 1 on its diagonal and was treated as weights of agreement."
    if table.shape != (n, n):
        raise AnnotationError(
            f"The table of distances has the shape {table.shape}, but there are {n} labels.",
            remedy="Give one row and one column for each label, in the order of the labels.",
        )
    problems = []
    same = np.eye(n, dtype=bool)
    one_sided = ~np.isclose(table, table.T, rtol=1e-9, atol=0, equal_nan=True)
    for wrong, what, remedy in (
        (~np.isfinite(table), "is not a number", RULES),
        (table < 0, "is negative", RULES),
        (same & (table != 0), "is not 0 although both labels are the same", RULES),
        (one_sided, "differs by direction", ONE_SIDED),
    ):
        if wrong.any():
            k, m = np.argwhere(wrong)[0]
            problems.append(
                Problem(
                    f"The distance from {quoted(labels[k])} to {quoted(labels[m])} {what}.",
                    f"distance {name}",
                    remedy,
                )
            )
    if problems:
        raise AnnotationError(problems)
    table = (table + table.T) / 2
    largest = float(table.max(initial=0.0))
    if largest > 1 and not note:
        note = f"Distances were divided by the largest, {largest:g}, to get weights of agreement."
        return Computed(name, partial(_look_up, table), n, note=note)
    return Computed(name, partial(_look_up, table), n, 1.0, note)


def _look_up(table: Floats, k: Ints, m: Ints) -> Floats:
    return np.asarray(table[k, m])


def numeric_distance(name: str, x: Floats, labels: Sequence[str], ordered: bool) -> Distance:
    """Make a distance from the values of the labels, or from their ranks if they are words."""
    numeric = bool(np.isfinite(x).all())
    if name in NUMBERS_ONLY and not numeric:
        words = [label for label, value in zip(labels, x, strict=True) if not np.isfinite(value)]
        raise NotApplicable(
            f"The distance {name!r} needs numbers, but these labels are not numbers: "
            f"{', '.join(words[:5])}. Use nominal or ordinal, or fix the labels."
        )
    if not (numeric or ordered):
        raise NotApplicable(
            f"The distance {name!r} needs an order, but the labels are words without an order. "
            f"Give the labels in their order: {Option('labels', ['low', 'mid', 'high'])}."
        )
    n = len(x)
    if name == "ordinal":
        if numeric and (np.diff(x) <= 0).any():
            raise NotApplicable(
                "The labels are numbers but are not in increasing order. Declare them in "
                "increasing order, or use numbers that increase."
            )
        return OrdinalDistance()
    if name == "interval":
        return Squared(name, x)
    if name == "ratio" and (x < 0).any():
        raise NotApplicable(
            "The distance 'ratio' needs labels that are not negative. Use interval."
        )
    if name.startswith("rank_") or not numeric:
        x = np.arange(n, dtype=float)
    if name not in BETWEEN:
        x = x / (np.ptp(x) or 1.0)
        if name.endswith("quadratic"):
            return Squared(name, x)
        return Computed(name, partial(_power, x, 0.5 if name == "radical" else 1.0), n)
    return Computed(name, partial(BETWEEN[name], x), n)


def _ratio(x: Floats, k: Ints, m: Ints) -> Floats:
    """Return the squared relative difference; 0 if both are 0."""
    total = x[k] + x[m]
    return np.asarray(((x[k] - x[m]) / np.where(total == 0, 1.0, total)) ** 2)


def _gwet_ordinal(x: Floats, k: Ints, m: Ints) -> Floats:
    """Return the pairs of labels from k to m as a proportion of all pairs."""
    apart = np.abs(k - m)
    return np.asarray(apart * (apart + 1) / max(len(x) * (len(x) - 1), 1), dtype=float)


def _power(x: Floats, power: float, k: Ints, m: Ints) -> Floats:
    return np.asarray(np.abs(x[k] - x[m]) ** power)


def _circular(x: Floats, k: Ints, m: Ints) -> Floats:
    """Return the squared half chord on a circle where the last label meets the first."""
    return np.asarray(np.sin(np.pi * (x[k] - x[m]) / (np.ptp(x) + 1.0)) ** 2)


def _bipolar(x: Floats, k: Ints, m: Ints) -> Floats:
    """Return a squared difference that grows toward both ends of the scale."""
    low, high = x.min(), x.max()
    scale = (x[k] + x[m] - 2 * low) * (2 * high - x[k] - x[m])
    return np.asarray((x[k] - x[m]) ** 2 / np.where(scale > 0, scale, 1.0))


BETWEEN = {
    "ratio": _ratio,
    "gwet_ordinal": _gwet_ordinal,
    "circular": _circular,
    "bipolar": _bipolar,
}
