"""Posteriors of pair kappa: the Bayesian bootstrap over mentions, text by text.

Pairs of a text are not independent: each mention is in many. So mentions are weighted, not pairs,
and a pair counts with the product of the weights of its two mentions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from annomodels.coefficients.counts import sparse_sum
from annomodels.coref.clusterings import Clusters, groups_of, overlap
from annomodels.coref.document import Corpus, Document, documents_of
from annomodels.coref.tables import kappa_of
from annomodels.coref.texts import pair_agreement
from annomodels.errors import NotApplicable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PairPosterior", "pair_draws", "pair_posterior"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELLS = 20_000_000


def pair_draws(x: Clusters, y: Clusters, draws: int = 1000, seed: int = 0) -> Floats:
    r"""Draws of pair kappa of two codings of one text, by weighting its shared mentions.

    .. math:: w \sim \mathrm{Dirichlet}(1, 1, ..., 1), \quad
              a = \frac12 \left(\sum_{ij} W_{ij}^2 - \sum_k w_k^2\right)

    and so on for the other cells of :func:`pair_table`, where :math:`W_{ij}` is the weight of the
    mentions in cluster i of the one and j of the other coder (Rubin 1981,
    doi:10.1214/aos/1176345338).

    Parameters
    ----------
    x, y
        Sets of mentions, or mappings from mention to cluster.
    draws
        Number of draws.
    seed
        Seed of the random numbers.

    Returns
    -------
    numpy.ndarray
        Kappa, shape [draw]; 1 where both coders have no pair or all, NaN with fewer than two
        shared mentions.

    Raises
    ------
    AnnotationError
        When the codings are no partitions.
    NotApplicable
        When `draws` is not positive.

    Examples
    --------
    >>> import annomodels as am
    >>> x = {m: m // 4 for m in range(80)}
    >>> y = x | {m: (m + 4) // 4 for m in range(0, 80, 9)}
    >>> low, high = np.quantile(pair_draws(x, y), [0.05, 0.95])
    >>> bool(low < am.coref.pair_table(x, y).kappa < high)
    True
    """
    _check(draws)
    shared = overlap(groups_of(x, "first"), groups_of(y, "second"), "drop")
    rng = np.random.default_rng(seed)
    step = max(1, CELLS // max(shared.n, 1))
    sizes = [min(step, draws - start) for start in range(0, draws, step)]
    codes = shared.mention_x, shared.mention_y
    return np.concatenate([_kappas(*codes, _weights(rng, size, shared.n)) for size in sizes])


def _check(draws: int) -> None:
    if draws < 1:
        raise NotApplicable(f"draws={draws!r} should be 1 or more, for instance 1000.")


def _weights(rng: np.random.Generator, draws: int, n: int) -> Floats:
    weights = rng.standard_exponential((draws, n))
    total = weights.sum(1, keepdims=True)
    return np.asarray(weights * n / np.where(total > 0, total, 1))


def _kappas(x: Ints, y: Ints, weights: Floats) -> Floats:
    """Kappa of weighted mentions from their cluster codes, shape [draw]."""
    n = len(x)
    if n < 2:
        return np.full(len(weights), math.nan)
    alone = (weights**2).sum(1)

    def pairs(group: Ints) -> Floats:
        codes, where = np.unique(group, return_inverse=True)
        held = sparse_sum(np.ones(n), where, np.arange(n), (len(codes), n)) @ weights.T
        return np.asarray(((held**2).sum(0) - alone) / 2)

    if max(np.bincount(x).max(), np.bincount(y).max()) < 2 or max(np.ptp(x), np.ptp(y)) == 0:
        return np.ones(len(weights))  # no pair, or every pair, for both
    both, first, second = pairs(x * (int(y.max()) + 1) + y), pairs(x), pairs(y)
    every = (weights.sum(1) ** 2 - alone) / 2
    return kappa_of(both, first - both, second - both, every - first - second + both)


def corrected_interval(kappa: float, draws: Floats, prob: float = 0.9) -> tuple[float, float]:
    r"""Bias-corrected interval of kappa from its draws (Efron 1981, doi:10.2307/3314608).

    The quantiles are moved by the place that kappa itself has among the draws: kappa near 1 has
    more draws below than above.

    Parameters
    ----------
    kappa
        The value from the data.
    draws
        Its draws, shape [draw].
    prob
        Probability inside.

    Examples
    --------
    >>> low, high = corrected_interval(0.5, np.linspace(0, 1, 1001), 0.9)
    >>> round(low, 3), round(high, 3)
    (0.05, 0.95)
    """
    half = 1 / (2 * len(draws))
    below = float((draws < kappa).mean() + (draws == kappa).mean() / 2)
    shift = 2 * ndtri(np.clip(below, half, 1 - half))
    places = ndtr(shift + ndtri([(1 - prob) / 2, (1 + prob) / 2]))
    low, high = np.quantile(draws, places)
    return float(low), float(high)


@dataclass(frozen=True, eq=False, repr=False)
class PairPosterior:
    """Draws of pair kappa of several texts.

    Parameters
    ----------
    names, genres
        Names and text types of the texts with two shared mentions or more.
    kappa
        Kappa of each text, the mean over its pairs of coders, shape [text].
    draws
        Its draws, shape [text, draw].
    """

    names: tuple[str, ...]
    genres: tuple[str | None, ...]
    kappa: Floats
    draws: Floats
    _seed: int

    def table(self, prob: float = 0.9) -> pd.DataFrame:
        """One row for each text: `kappa`, and the ends of its interval, `low` and `high`.

        The ends are those of :func:`corrected_interval`.
        """
        import pandas as pd

        ends = [corrected_interval(k, d, prob) for k, d in zip(self.kappa, self.draws, strict=True)]
        columns = {"document": self.names, "genre": self.genres, "kappa": self.kappa}
        low, high = zip(*ends, strict=True)
        return pd.DataFrame(columns | {"low": low, "high": high})

    @cached_property
    def these_texts(self) -> Floats:
        """Mean over these very texts: what is uncertain is the mentions, shape [draw].

        Draws of a text lie a little below its kappa on the whole. This is taken out, or it would
        not shrink with the number of texts as the spread does.
        """
        return np.asarray(self.draws.mean(0) - self.draws.mean() + self.kappa.mean())

    @cached_property
    def _shares(self) -> Floats:
        rng = np.random.default_rng([self._seed, 1])
        return rng.dirichlet(np.ones(len(self.names)), self.draws.shape[1])

    @cached_property
    def mean_over_texts(self) -> Floats:
        """Mean over texts like these: the texts are weighted, shape [draw].

        Kappa differs from text to text by its mentions too, so these are not drawn once more.
        """
        return np.asarray(self._shares @ self.kappa)

    @cached_property
    def new_text(self) -> Floats:
        """Kappa that one further text would show: one of these by its weight, shape [draw]."""
        rng = np.random.default_rng([self._seed, 2])
        place = (self._shares.cumsum(1) < rng.random((len(self._shares), 1))).sum(1)
        return np.asarray(self.kappa[np.minimum(place, len(self.names) - 1)])

    def by_genre(self) -> dict[str, PairPosterior]:
        """Give the same for each text type."""
        genres = [genre or "(none)" for genre in self.genres]
        return {
            genre: self._take([n for n, one in enumerate(genres) if one == genre])
            for genre in sorted(set(genres))
        }

    def _take(self, rows: Sequence[int]) -> PairPosterior:
        kept = list(rows)
        return PairPosterior(
            tuple(self.names[n] for n in kept),
            tuple(self.genres[n] for n in kept),
            self.kappa[kept],
            self.draws[kept],
            self._seed,
        )

    def __repr__(self) -> str:
        lines = [f"pair kappa of {len(self.names):,} text(s), mean {self.kappa.mean():.4f}"]
        for title in ("these_texts", "mean_over_texts", "new_text"):
            low, high = np.quantile(getattr(self, title), [0.05, 0.95])
            lines.append(f"{title:16s} 90 % of the draws in [{low:.4f}, {high:.4f}]")
        return "\n".join(lines)


def pair_posterior(corpus: Corpus, draws: int = 1000, seed: int = 0) -> PairPosterior:
    """Posterior of pair kappa of each text, of these texts, of texts like these, and of a new one.

    The mentions of a text are weighted as in :func:`pair_draws`, with the same weights for all
    pairs of its coders; for texts like these, the texts are weighted. This is a bootstrap, not a
    model of texts: texts do not learn from each other, and with few texts the interval for texts
    like these is too short. In simulated texts, 90 % intervals of ``table`` held
    the true value in 89 to 92 % of the texts where coders misplaced 8 % of 50 or 150 mentions, and
    in 84, 88 and 89 % where they misplaced 3 % of 50, 70 and 150 (600 texts each, so give or take
    2.5). For the mean over texts like these it was 84 % with 10 texts and 88 % with 30, for that
    over ten given texts 93 % (200 corpora each, give or take 4). Where coders agree in everything
    there is nothing to draw from: all draws are 1.

    Parameters
    ----------
    corpus
        A document or several; texts with fewer than two shared mentions are left out.
    draws
        Number of draws.
    seed
        Seed of the random numbers.

    Raises
    ------
    NotApplicable
        When `draws` is not positive, or no text has two shared mentions.

    Examples
    --------
    >>> from annomodels.coref import document
    >>> text = document("t", {"a": [[1, 2, 5], [3, 4]], "b": [[1, 2], [3, 4, 5]]})
    >>> pair_posterior(text).draws.shape
    (1, 1000)
    """
    _check(draws)
    documents = documents_of(corpus)
    points = pair_agreement(documents).by_document
    kept, values = [], []
    for n, document in enumerate(documents):
        if math.isfinite(points.get(document.id, math.nan)):
            kept.append(document)
            values.append(_document_draws(document, draws, np.random.default_rng([seed, 0, n])))
    if not kept:
        raise NotApplicable("No text has two mentions that two coders share. Check the mentions.")
    return PairPosterior(
        tuple(document.id for document in kept),
        tuple(document.genre for document in kept),
        np.array([points[document.id] for document in kept], dtype=float),
        np.stack(values),
        seed,
    )


def _document_draws(document: Document, draws: int, rng: np.random.Generator) -> Floats:
    """Draws of the mean over pairs of coders; a mention has one weight for all pairs."""
    place = {key: n for n, key in enumerate(document.keys)}
    pairs = []
    for pair in document.coder_pairs():
        shared = document.shared(*pair)
        if len(shared) > 1:
            x, y = (
                np.array([document.layers[coder].cluster_of[key] for key in shared])
                for coder in pair
            )
            pairs.append((x, y, np.array([place[key] for key in shared])))
    step = max(1, CELLS // len(place))
    out = []
    for start in range(0, draws, step):
        weights = _weights(rng, min(step, draws - start), len(place))
        out.append(np.mean([_kappas(x, y, weights[:, keys]) for x, y, keys in pairs], axis=0))
    return np.concatenate(out)
