r"""Observed and expected disagreement of labels that are sets, without a table of label pairs.

Sets that share nothing are at distance 1. So the expected disagreement is 1 less what the pairs of
sets that do share something bring, and only these are looked at.

Draws say how alpha on chains varies from text to text. A mention
that one coder puts elsewhere changes the labels of a whole chain, so labels cannot be resampled one
by one; texts can. What a text does to alpha is what is lost without it,

.. math:: \alpha_t = T \alpha - (T - 1) \alpha_{-t},

and the mean of these over texts like them has the same model as kappas of texts (``overtexts``).
Source: Tukey (1958); Efron and Tibshirani (1993), An introduction to the bootstrap, chapter 11.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annomodels.coefficients.rows import within_items
from annomodels.coefficients.sets import SizeDistance
from annomodels.coref.overtexts import over_texts
from annomodels.coref.partials import likeness, partial_likeness
from annomodels.coref.setlabels import Cut, SetLabels, places
from annomodels.types import Floats, Ints


class Disagreement(NamedTuple):
    """Observed and expected disagreement with what they rest on."""

    observed: float  # mean distance of two labels of an item
    drawn: float  # mean distance of two labels drawn with replacement from all (pi, K)
    n_items: int  # items with two labels or more, and their labels
    n_labels: int

    @property
    def without_replacement(self) -> float:
        """Mean distance of two different labels (alpha)."""
        n = self.n_labels
        return self.drawn * n / (n - 1) if n > 1 else math.nan


def pairable(labels: SetLabels) -> SetLabels:
    """Labels of items that have two or more."""
    return labels.take(np.bincount(labels.item, minlength=1)[labels.item] > 1)


def disagreement(
    parts: Sequence[SetLabels],
    distance: SizeDistance,
    cut: Cut = "whole",
    observed: tuple[Sequence[SetLabels], Cut] | None = None,
) -> Disagreement:
    r"""Observed and expected disagreement, Krippendorff's weights for missing labels.

    .. math:: D_o = \frac1n \sum_u \frac{1}{m_u - 1} \sum_{i \ne j} d(u_i, u_j), \quad
              D_e = \frac{1}{n^2} \sum_k \sum_l n_k n_l d(k, l)

    Words are at distance 1 from other words and from all sets. Sets of different documents are
    disjoint.
    """
    return together(pieces(parts, distance, cut, observed), distance)


@dataclass(frozen=True)
class Piece:
    """Contribution of a document to the disagreement of a corpus."""

    # sum over labels of their mean distance from the others of their item, and those labels
    apart: float
    n_observed: int
    alike: float  # sum of 1 - distance over pairs of its sets that share something
    words: Counter[str]  # how often each word, and each size of a set
    sizes: Counter[int]
    n_items: int  # items with two labels or more, and their labels
    n_labels: int


def pieces(
    parts: Sequence[SetLabels],
    distance: SizeDistance,
    cut: Cut = "whole",
    observed: tuple[Sequence[SetLabels], Cut] | None = None,
) -> list[Piece]:
    """Compute the contribution of each document; parameters as in :func:`disagreement`."""
    meeting = {"whole": _whole, "without": _without, "before": partial_likeness}[cut]
    found = []
    for n, whole in enumerate(parts):
        part = pairable(whole)
        other, own_cut = (
            (part, cut) if observed is None else (pairable(observed[0][n]), observed[1])
        )
        sizes = part.sizes(cut)
        found.append(
            Piece(
                _within(other, distance, own_cut) if len(part.item) else 0.0,
                len(other.item),
                meeting(part, distance) if part.n_bases and len(part.item) else 0.0,
                Counter(part.words[word] for word in part.word[part.word >= 0].tolist()),
                Counter(sizes[sizes >= 0].tolist()),
                len(np.unique(part.item)),
                len(part.item),
            )
        )
    return found


def together(found: Sequence[Piece], distance: SizeDistance) -> Disagreement:
    """Disagreement of documents from what each of them adds."""
    n = sum(piece.n_labels for piece in found)
    if not n:
        return Disagreement(math.nan, math.nan, 0, 0)
    words, sizes = Counter[str](), Counter[int]()
    for piece in found:
        words.update(piece.words)
        sizes.update(piece.sizes)
    alike = float(sum(times**2 for times in words.values()))
    empty = sizes.pop(0, 0)
    others, weight = (np.array(list(each), dtype=np.int64) for each in (sizes, sizes.values()))
    alike += empty**2 + 2 * empty * float((weight * (1 - distance(0, others, 0))).sum())
    return Disagreement(
        observed=sum(piece.apart for piece in found) / sum(piece.n_observed for piece in found),
        drawn=1 - (alike + sum(piece.alike for piece in found)) / n**2,
        n_items=sum(piece.n_items for piece in found),
        n_labels=n,
    )


def _within(labels: SetLabels, distance: SizeDistance, cut: Cut) -> float:
    """Sum over items of the mean distance of each label from the others of its item."""
    p, q = within_items(labels.item, int(labels.item.max(initial=-1)) + 1)
    p, q = p[p != q], q[p != q]
    sizes = labels.sizes(cut)
    apart = (labels.word[p] != labels.word[q]).astype(float)
    sets = (labels.base[p] >= 0) & (labels.base[q] >= 0)
    a, b = p[sets], q[sets]
    apart[sets] = distance(sizes[a], sizes[b], labels.common(a, b, cut))
    per_item = np.bincount(labels.item)[labels.item[p]]
    return float((2 * apart / (per_item - 1)).sum())


def _twice(labels: SetLabels) -> Floats:
    """Weight 2 for pairs of different base sets, 1 for a base set with itself."""
    return np.where(labels.meets.row == labels.meets.column, 1.0, 2.0)


def _whole(labels: SetLabels, distance: SizeDistance) -> float:
    meets, sizes = labels.meets, labels.base_sizes
    times = np.bincount(labels.base[labels.base >= 0], minlength=labels.n_bases)
    like = likeness(distance, sizes[meets.row], sizes[meets.column], meets.common)
    return float((_twice(labels) * times[meets.row] * times[meets.column] * like).sum())


def _without(labels: SetLabels, distance: SizeDistance) -> float:
    r"""Sum for C\{m} and C'\{m'}: what they share depends on where m and m' lie, and if m = m'."""
    meets, sizes = labels.meets, labels.base_sizes
    n = len(labels.elements)
    some = (labels.base >= 0) & (labels.own >= 0)
    cell, times = np.unique(labels.base[some] * n + labels.own[some], return_counts=True)
    cut = np.bincount(cell // n, times.astype(float), minlength=labels.n_bases)
    every = np.bincount(labels.base[labels.base >= 0], minlength=labels.n_bases)
    kept = every.astype(float) - cut

    def weights(base: Ints) -> Floats:
        place = places(cell, base[meets.pair] * n + meets.element)
        return np.append(times, 0)[place].astype(float)

    left, right = weights(meets.row), weights(meets.column)
    inside, inside_other, same = (
        np.bincount(meets.pair, w, minlength=len(meets.row)) for w in (left, right, left * right)
    )
    row, column = meets.row, meets.column
    # (weight, size, what the removed element takes from the common part) of each kind of label
    first: list[tuple[Floats, Ints, int]] = [
        (inside, sizes[row] - 1, 1),
        (cut[row] - inside, sizes[row] - 1, 0),
        (kept[row], sizes[row], 0),
    ]
    second: list[tuple[Floats, Ints, int]] = [
        (inside_other, sizes[column] - 1, 1),
        (cut[column] - inside_other, sizes[column] - 1, 0),
        (kept[column], sizes[column], 0),
    ]
    total = np.zeros(len(row))
    for weight, size, lost in first:
        for other, other_size, other_lost in second:
            both = weight * other - (same if lost and other_lost else 0)
            like = likeness(distance, size, other_size, meets.common - lost - other_lost)
            total += both * like
    total += same * likeness(distance, sizes[row] - 1, sizes[column] - 1, meets.common - 1)
    return float((_twice(labels) * total).sum())


FEWEST = 3
"""Texts below which there is no interval: two hardly tell how texts differ."""


def by_text(found: Sequence[Piece], distance: SizeDistance, nominal: bool) -> Floats:
    """Compute the jackknife value of alpha, or K, of each text with labels, shape [text]."""
    own = [piece for piece in found if piece.n_labels]
    whole = _coefficient(together(own, distance), nominal)
    without = [
        _coefficient(together([*own[:t], *own[t + 1 :]], distance), nominal)
        for t in range(len(own))
    ]
    return np.asarray(len(own) * whole - (len(own) - 1) * np.array(without, dtype=float))


def _coefficient(found: Disagreement, nominal: bool) -> float:
    expected = found.drawn if nominal else found.without_replacement
    return 1 - found.observed / expected if expected > 0 else float("nan")


def chance_corrected_draws(
    found: Sequence[Piece], distance: SizeDistance, nominal: bool, draws: int, seed: int
) -> Floats | None:
    """Draws of alpha, or K, over texts like these; None with too few texts."""
    if sum(piece.n_labels > 0 for piece in found) < FEWEST:
        return None
    values = by_text(found, distance, nominal)
    if np.isnan(values).any():
        return None
    whole = _coefficient(together(found, distance), nominal)
    drawn = over_texts(values, None, 0.0, draws, np.random.default_rng([seed, 3])).mean[0]
    return np.asarray(np.clip(drawn - values.mean() + whole, -1.0, 1.0))
