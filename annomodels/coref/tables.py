"""Two-by-two tables: links and pairs by both coders, one of them, or neither."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Set
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.tables import from_joint
from annomodels.coref.clusterings import Clusters, Missing, Overlap, groups_of, overlap
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import DataWarning
from annomodels.types import Floats, Ints


def kappa_of(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike) -> Floats:
    """Return Cohen's kappa of two-by-two tables, by cell; NaN if it is 0/0."""
    # Equal to the coefficient, and 100 times as fast for draws.
    a, b, c, d = (np.asarray(cell, dtype=float) for cell in (a, b, c, d))
    above = 2 * (a * d - b * c)
    below = np.asarray((a + b) * (b + d) + (a + c) * (c + d))
    out = np.full(below.shape, np.nan)
    return np.asarray(np.divide(above, below, out=out, where=below != 0))


class TwoByTwo(NamedTuple):
    """Counts of two coders: `a` both say yes, `b` and `c` only one of them, `d` both say no.

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
    """Two-by-two table over coreference links; the columns are the target, as in Figure 3.

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
        """Share of the links that the target has, a / (a + b); 0 without links."""
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
    r"""Tabulate the links that form the clusters, after Passonneau (1997).

    A cluster C has :math:`|C| - 1` links. Both coders have :math:`a = \sum |C| - |p(C)|` of them,
    where p(C) are the pieces of C in the other coding; `b` are further links of `y`, `c` further
    links of `x`, and :math:`d = N - 1 - a - b - c` with N mentions.

    .. warning::
       `d` can be negative, for instance for {12}{34} against {13}{24}: "N - 1 possible links" is
       not a set from which links are drawn. Then ``valid`` is False and kappa is NaN. Report
       :func:`pair_table` and its kappa; this table is here to reproduce published figures.

    Parameters
    ----------
    x, y
        The target and the other coding: sets of mentions, or mappings from mention to cluster.
    missing
        Treatment of mentions in only one coding: "error", "singleton" to add them to the other, or
        "drop" to leave them out.

    Returns
    -------
    LinkTable
        (a, b, c, d), with ``recall``, ``precision``, ``kappa`` and ``valid``.

    Raises
    ------
    AnnotationError
        If the codings have different mentions, or are not partitions.

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
    r"""Tabulate coreferent and other pairs of mentions.

    :math:`a = \sum_{ij} \binom{n_{ij}}{2}` from the numbers of mentions that clusters share, so no
    pair is ever listed. Its kappa is the adjusted Rand index (Hubert and Arabie 1985,
    doi:10.1007/BF01908075), and the agreement of Kopeć and Ogrodniczuk (2014, section 7.5).

    Parameters
    ----------
    missing
        As in :func:`link_table`.

    Returns
    -------
    TwoByTwo
        (both, x only, y only, neither).

    Raises
    ------
    AnnotationError
        If the codings are not partitions, or mentions are missing and `missing` is "error".

    Examples
    --------
    >>> cells = pair_table([{1, 3}, {2, 4, 5}], [{1}, {2, 4}, {3, 5}])
    >>> cells.table, round(cells.kappa, 4)
    ([[1, 3], [1, 5]], 0.0909)
    """
    shared = overlap(groups_of(x, "first"), groups_of(y, "second"), missing)
    return pairs_of(shared.mention_x, shared.mention_y)


def pairs_of(x: Ints, y: Ints) -> TwoByTwo:
    joint = x * (int(y.max(initial=0)) + 1) + y
    sizes = np.unique(joint, return_counts=True)[1], np.bincount(x), np.bincount(y)
    both, own, other = (int((size * (size - 1) // 2).sum()) for size in sizes)
    every = len(x) * (len(x) - 1) // 2
    return TwoByTwo(both, own - both, other - both, every - own - other + both)


def sets_of[T](x: Set[T], y: Set[T], every: int) -> TwoByTwo:
    return TwoByTwo(len(x & y), len(x - y), len(y - x), every - len(x | y))


RULES = {
    "": "kappa as it is",
    "both none": "both coders marked none, so kappa counts as 1",
    "one none": "one coder marked none, so kappa is 0",
    "both all": "both coders marked all, so kappa counts as 1",
    "too few": "fewer than two shared mentions, so the text is left out",
    "negative": "the table has a negative cell, so kappa is not defined and the text is left out",
}


def text_kappa(cells: TwoByTwo) -> tuple[float, str]:
    """Compute kappa of one text by the conventions of Kopeć and Ogrodniczuk (2014, section 5).

    If both coders marked no mention, kappa is 1; if one did, it is 0, as the formula gives. The
    paper does not say what holds if both marked all (here 1, by symmetry) or if there is nothing to
    compare (here NaN).

    Returns
    -------
    tuple
        Kappa, and the rule that gave it: "", "both none", "one none", "both all", "too few" or
        "negative".

    Examples
    --------
    >>> text_kappa(TwoByTwo(0, 0, 0, 100)), text_kappa(TwoByTwo(0, 0, 7, 93))
    ((1.0, 'both none'), (0.0, 'one none'))
    """
    a, b, c, d = cells
    if min(cells) < 0:
        return math.nan, "negative"
    if not cells.n:
        return math.nan, "too few"
    if not a + b + c:
        return 1.0, "both none"
    if not b + c + d:
        return 1.0, "both all"
    if not (a + b and a + c):
        return 0.0, "one none"
    return cells.kappa, ""


class TextAgreement(Summary):
    """Two-by-two tables of texts and coder pairs, and their kappa.

    Parameters
    ----------
    title, table, draws, notes, columns
        As in every summary, without draws. The table has one row for each text and pair of coders:
        `document`, `genre`, `first` and `second` coder, the cells `a` to `d`, `kappa` and the
        `rule` that gave it. A link table has `recall` and `precision` too, with the first coder as
        the target.
    """

    @cached_property
    def by_document(self) -> pd.Series:
        """Kappa of each text, the mean over its pairs of coders; NaN where none is defined."""
        return self.table.groupby("document", sort=False)["kappa"].mean()

    @property
    def mean(self) -> float:
        """Mean of kappa over texts."""
        return float(self.by_document.mean())

    @property
    def sigma(self) -> float:
        """Standard deviation of kappa over texts, divided by their number as in the papers."""
        return float(self.by_document.std(ddof=0))

    @cached_property
    def by_genre(self) -> pd.DataFrame:
        """Number of `texts`, mean and `sigma` of kappa over them, for each text type."""
        genres = self.table.drop_duplicates("document").set_index("document")["genre"]
        kappa = self.by_document.dropna()
        groups = kappa.groupby(genres.reindex(kappa.index).fillna("(none)"))
        out = groups.agg(texts="size", mean="mean").assign(sigma=groups.std(ddof=0))
        return pd.DataFrame(out.rename_axis("genre"))

    @property
    def pooled(self) -> TwoByTwo:
        """Sum of the cells over texts and pairs of coders.

        Coders cannot link mentions of two texts, so chance agreement differs from that within a
        text.
        """
        kind = LinkTable if "recall" in self.table else TwoByTwo
        return kind(*self.table[list("abcd")].sum().astype(int).tolist())

    @property
    def alpha(self) -> float:
        """Alpha over all decisions pooled, chance from both coders' margins together."""
        return self.pooled.alpha

    @property
    def rules(self) -> dict[str, int]:
        """Number of texts and coder pairs with kappa by each rule."""
        counts = Counter(self.table["rule"])
        return {rule: counts[rule] for rule in RULES}

    def __repr__(self) -> str:
        texts = counted(int(self.by_document.notna().sum()), "text")
        lines = [f"{self.title}: mean kappa {self.mean:.4f} over {texts}, σ {self.sigma:.4f}"]
        for rule, times in self.rules.items():
            if rule and times:
                lines.append(f"{times:,} × {RULES[rule]}")
        return "\n".join(lines)


def _of_pairs(
    title: str,
    corpus: Corpus,
    cells: Callable[[Document, str, str], TwoByTwo],
    more: tuple[str, ...] = (),
) -> TextAgreement:
    """Build the tables of every text and coder pair, with additional ratios."""
    records = []
    for document in documents_of(corpus):
        for pair in document.coder_pairs():
            found = cells(document, *pair)
            ratios = [getattr(found, name) for name in more]
            place = document.id, document.genre, *pair
            records.append((*place, *found, *ratios, *text_kappa(found)))
    names = ("document", "genre", "first", "second", *"abcd", *more, "kappa", "rule")
    return TextAgreement(title, pd.DataFrame(records, columns=list(names)))


def link_agreement(corpus: Corpus, *, missing: Missing = "singleton") -> TextAgreement:
    """Compute kappa on links per text, after Passonneau (1997); see :func:`link_table`.

    Parameters
    ----------
    missing
        "singleton" if a mention that one coder did not mark corefers with nothing, as in the paper;
        "drop" to leave it out; or "error".

    Examples
    --------
    >>> from annomodels.coref import document
    >>> text = document("t", {"CA1": ["ABDGI", "CEF", "HJ"], "CA3": ["ABGI", "CEF", "Dd", "HJ"]},
    ...     letters=True)
    >>> link_agreement(text)
    links: mean kappa 0.5238 over 1 text, σ 0.0000
    """

    def cells(document: Document, first: str, second: str) -> TwoByTwo:
        x, y = (document.layers[c].groups for c in (first, second))
        return links_of(overlap([list(g) for g in x], [list(g) for g in y], missing))

    return _of_pairs("links", corpus, cells, ("recall", "precision"))


def pair_agreement(corpus: Corpus) -> TextAgreement:
    """Compute kappa on coreferent pairs per text (BLANC-type kappa, adjusted Rand index).

    Kopeć and Ogrodniczuk (2014, section 7.5). Pairs of mentions that both coders marked.

    Examples
    --------
    >>> from annomodels.coref import document
    >>> text = document("t", {"a": [[1, 3], [2, 4, 5]], "b": [[1], [2, 4], [3, 5]]})
    >>> pair_agreement(text).table[["a", "b", "c", "d"]].values.tolist()
    [[1, 3, 1, 5]]
    """

    def cells(document: Document, first: str, second: str) -> TwoByTwo:
        x, y = (document.codes[document.coders.index(coder)] for coder in (first, second))
        both = (x >= 0) & (y >= 0)
        return pairs_of(x[both], y[both])

    return _of_pairs("coreferent pairs", corpus, cells)


def near_identity_agreement(corpus: Corpus) -> TextAgreement:
    """Compute kappa on near-identity links between shared mentions, per text.

    Kopeć and Ogrodniczuk (2014, section 5), with their conventions for texts without links.
    Report their counts, see ``rules``.
    """

    def cells(document: Document, first: str, second: str) -> TwoByTwo:
        shared = frozenset(document.shared(first, second))
        x, y = (
            {
                pair
                for pair in (
                    frozenset(layer.markables[m].key for m in one) for one in layer.near_identity
                )
                if pair <= shared
            }
            for layer in (document.layers[first], document.layers[second])
        )
        every = len(shared) * (len(shared) - 1) // 2
        return sets_of(x, y, every)

    return _of_pairs("near-identity links", corpus, cells)


def clustered_agreement(corpus: Corpus, *, restrict_first: bool = False) -> TextAgreement:
    """Compute kappa on membership in a cluster of two or more; the paper has ``pooled.kappa``.

    Kopeć and Ogrodniczuk (2014, section 7.4), over mentions that both coders marked.

    Parameters
    ----------
    restrict_first
        Whether a cluster counts only its shared mentions. By default the full cluster of each
        coder counts; the paper does not say.

    Examples
    --------
    >>> from annomodels.coref import document
    >>> text = document("t", {"a": [[1, 2], [3], [4]], "b": [[1, 2, 3], [4]]})
    >>> tuple(clustered_agreement(text).pooled)
    (2, 0, 1, 1)
    """

    def cells(document: Document, first: str, second: str) -> TwoByTwo:
        shared = frozenset(document.shared(first, second))
        x, y = (
            {
                key
                for group in document.layers[c].groups
                if len(group & shared if restrict_first else group) > 1
                for key in group & shared
            }
            for c in (first, second)
        )
        return sets_of(x, y, len(shared))

    return _of_pairs("clustered mentions", corpus, cells)
