"""Tables of two by two: links and pairs that both coders made, one of them, or neither."""

from __future__ import annotations

import math
import warnings
from collections.abc import Set
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.tables import from_joint
from annomodels.coref.clusterings import Clusters, Missing, Overlap, groups_of, overlap
from annomodels.errors import DataWarning
from annomodels.types import Floats, Ints


def kappa_of(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike) -> Floats:
    """Return Cohen's kappa of tables of two by two, given cell by cell; NaN where it is 0/0."""
    # The same as that of the coefficients, and a hundred times as fast for draws.
    a, b, c, d = (np.asarray(cell, dtype=float) for cell in (a, b, c, d))
    above = 2 * (a * d - b * c)
    below = np.asarray((a + b) * (b + d) + (a + c) * (c + d))
    out = np.full(below.shape, np.nan)
    return np.asarray(np.divide(above, below, out=out, where=below != 0))


class TwoByTwo(NamedTuple):
    """Yes and no of two coders: `a` both yes, `b` and `c` one of them, `d` both no.

    Parameters
    ----------
    a, b, c, d
        Cells; `a` and `b` are the row "yes", `a` and `c` the column "yes".

    Examples
    --------
    >>> cells = TwoByTwo(6238, 975, 1223, 9094)  # Kopeć and Ogrodniczuk 2014, table 5
    >>> round(cells.observed, 4), round(cells.expected, 4), round(cells.kappa, 4)
    (0.8746, 0.5132, 0.7424)
    """

    a: int
    b: int
    c: int
    d: int

    @property
    def n(self) -> int:
        return self.a + self.b + self.c + self.d

    @property
    def table(self) -> list[list[int]]:
        return [[self.a, self.b], [self.c, self.d]]

    @property
    def valid(self) -> bool:
        return min(self) >= 0 and self.n > 0

    @property
    def observed(self) -> float:
        """Observed agreement, (a + d) / n."""
        return (self.a + self.d) / self.n if self.valid else math.nan

    @property
    def expected(self) -> float:
        """Agreement expected from the margins of each coder, as in Cohen's kappa."""
        rows = (self.a + self.b) * (self.a + self.c) + (self.c + self.d) * (self.b + self.d)
        return rows / self.n**2 if self.valid else math.nan

    @property
    def kappa(self) -> float:
        """Cohen's kappa (1960), doi:10.1177/001316446002000104; NaN where it is undefined."""
        return float(kappa_of(*self)) if self.valid else math.nan

    @property
    def pi(self) -> float:
        """Scott's pi: chance from the pooled margins; NaN where it is undefined."""
        return self._value("pooled")

    @property
    def s(self) -> float:
        """Bennett's S: both answers equally likely by chance."""
        return self._value("uniform")

    @property
    def alpha(self) -> float:
        """Krippendorff's alpha of all decisions; NaN where it is undefined."""
        return self._value("without_replacement")

    def _value(self, expectation: str) -> float:
        if not self.valid:
            return math.nan
        return float(evaluate_with(expectation, from_joint(self.table, n=2 * self.n)).value)

    @property
    def yes(self) -> float:
        """Share of "yes" of both coders together."""
        return (2 * self.a + self.b + self.c) / (2 * self.n) if self.valid else math.nan


class LinkTable(TwoByTwo):
    """Table of two by two over coreference links; the columns are the target, as in Figure 3.

    Source: Passonneau (1997), Applying reliability metrics to co-reference annotation.

    Examples
    --------
    >>> cells = LinkTable(166, 19, 13, 44)  # table 3 there
    >>> round(cells.recall, 3), round(cells.precision, 3), round(cells.kappa, 2)
    (0.927, 0.897, 0.65)
    """

    __slots__ = ()

    @property
    def recall(self) -> float:
        """Share of the target's links that were found, a / (a + c); 0 where it has none."""
        return share(self.a, self.a + self.c)

    @property
    def precision(self) -> float:
        """Share of the links that are the target's, a / (a + b); 0 where there is none."""
        return share(self.a, self.a + self.b)

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision."""
        return harmonic(self.recall, self.precision)


def share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def harmonic(recall: float, precision: float) -> float:
    return share(2 * recall * precision, recall + precision)


def link_table(x: Clusters, y: Clusters, *, missing: Missing = "error") -> LinkTable:
    r"""Contingency table of the links that build the clusters, after Passonneau (1997).

    A cluster C takes :math:`|C| - 1` links. Both coders have :math:`a = \sum |C| - |p(C)|` of them,
    where p(C) are the pieces of C in the other coding; `b` are further links of `y`, `c` further
    links of `x`, and :math:`d = N - 1 - a - b - c` with N mentions.

    .. warning::
       `d` can be negative, for instance for {12}{34} against {13}{24}: "N - 1 possible links" is
       not a set that links are drawn from. Then ``valid`` is False and kappa NaN. Report
       :func:`pair_table` and its kappa; this table is here to reproduce published figures.

    Parameters
    ----------
    x, y
        The target and the other coding: sets of mentions, or mappings from mention to cluster.
    missing
        "error" where a mention is in one coding only, "singleton" to complete the other with it,
        "drop" to leave it out.

    Returns
    -------
    LinkTable
        (a, b, c, d), with ``recall``, ``precision``, ``kappa`` and ``valid``.

    Raises
    ------
    AnnotationError
        When the codings are not about the same mentions, or are no partitions.

    Examples
    --------
    >>> ca1 = [set("ABDGI"), set("CEF"), set("HJ")]
    >>> ca3 = [set("ABGI"), set("CEF"), {"D", "D'"}, set("HJ")]
    >>> cells = link_table(ca1, ca3, missing="singleton")
    >>> tuple(cells), round(cells.kappa, 2)
    ((6, 1, 1, 2), 0.52)
    """
    cells = links_of(overlap(groups_of(x, "first"), groups_of(y, "second"), missing))
    if min(cells) < 0:
        warnings.warn(
            f"The link table {tuple(cells)} has a negative cell, so its kappa is not defined. "
            "Use the kappa of am.coref.pair_table.",
            DataWarning,
            stacklevel=2,
        )
    return cells


def links_of(shared: Overlap) -> LinkTable:
    pieces = len(shared.both)
    a = shared.n - pieces
    b = shared.n - int((shared.y_sizes > 0).sum()) - a
    c = shared.n - int((shared.x_sizes > 0).sum()) - a
    return LinkTable(a, b, c, max(shared.n - 1, 0) - a - b - c)


def pair_table(x: Clusters, y: Clusters, *, missing: Missing = "drop") -> TwoByTwo:
    r"""Contingency table of coreferent and other pairs of mentions.

    :math:`a = \sum_{ij} \binom{n_{ij}}{2}` from the numbers of mentions that clusters share, so no
    pair is ever listed. Its kappa is the adjusted Rand index (Hubert and Arabie 1985,
    doi:10.1007/BF01908075), and the agreement of Kopeć and Ogrodniczuk (2014, section 7.5).

    Parameters
    ----------
    missing
        "drop" to compare the shared mentions only, "singleton" to complete, "error" to refuse.

    Returns
    -------
    TwoByTwo
        (both, x only, y only, neither).

    Raises
    ------
    AnnotationError
        When the codings are no partitions, or mentions are missing and that is an error.

    Examples
    --------
    >>> cells = pair_table([{1, 3}, {2, 4, 5}], [{1}, {2, 4}, {3, 5}])
    >>> cells.table, round(cells.kappa, 4)
    ([[1, 3], [1, 5]], 0.0909)
    """
    shared = overlap(groups_of(x, "first"), groups_of(y, "second"), missing)
    return pairs_of(shared.mention_x, shared.mention_y)


def pairs_of(x: Ints, y: Ints) -> TwoByTwo:
    """Pair table of two codings of the same mentions, from the cluster of each mention."""
    joint = x * (int(y.max(initial=0)) + 1) + y
    sizes = np.unique(joint, return_counts=True)[1], np.bincount(x), np.bincount(y)
    both, own, other = (int((size * (size - 1) // 2).sum()) for size in sizes)
    every = len(x) * (len(x) - 1) // 2
    return TwoByTwo(both, own - both, other - both, every - own - other + both)


def sets_of[T](x: Set[T], y: Set[T], every: int) -> TwoByTwo:
    return TwoByTwo(len(x & y), len(x - y), len(y - x), every - len(x | y))
