"""Posteriors of pair kappa: of each text, of these texts, of texts like them, and of a new one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from annomodels.coefficients.intervals import interval
from annomodels.coref.clusterings import Clusters, groups_of, overlap
from annomodels.coref.overtexts import over_texts
from annomodels.coref.resampling import kappas, pair_blocks, respread, weight_blocks
from annomodels.coref.texts import pair_agreement
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.errors import NotApplicable, Option, valid_seed
from annomodels.types import Floats

if TYPE_CHECKING:
    import pandas as pd


QUANTITIES = {
    "these_texts": "mean over these texts",
    "mean_over_texts": "mean over texts like these",
    "new_text": "one further text",
}


def pair_draws(x: Clusters, y: Clusters, draws: int = 1000, seed: int = 0) -> Floats:
    r"""Draws of pair kappa of two codings of one text, by weighting its shared mentions.

    .. math:: w_m \sim \mathrm{Exponential}(1), \quad
              a = \frac12 \left(\sum_{ij} W_{ij}^2 - \sum_m w_m^2\right)

    and so on for the other cells of :func:`pair_table`, where :math:`W_{ij}` is the weight of the
    mentions in cluster i of the one and j of the other coder (Rubin 1981,
    doi:10.1214/aos/1176345338). Two mentions of a prior are among them, with Gamma(1/2) weights:
    one that both coders put with the same mention, and one that each puts with a mention of their
    own. So coders who agree in everything still have an interval. Where most pairs stand alone,
    draws are drawn together, as a pair then weighs in for both of its mentions.

    Parameters
    ----------
    x, y
        Sets of mentions, or mappings from mention to cluster.
    draws, seed
        Number and seed of the draws.

    Returns
    -------
    numpy.ndarray
        Kappa, shape [draw]; NaN with fewer than two shared mentions.

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
    valid_draws(draws)
    shared = overlap(groups_of(x, "first"), groups_of(y, "second"), "drop")
    rng = np.random.default_rng(valid_seed(seed))
    codes = shared.mention_x, shared.mention_y
    found = [
        kappas(*codes, block.mentions, block.extras(0, 1, shared.n))
        for block in weight_blocks(rng, draws, shared.n, 2)
    ]
    return respread(*codes, np.concatenate(found))


def valid_draws(draws: int) -> None:
    """Refuse a number of draws below 1."""
    if draws < 1:
        raise NotApplicable(f"{Option('draws', draws)} should be 1 or more, for instance 1000.")


def centred(draws: Floats, point: float, texts: int) -> Floats:
    """Move draws of a mean over texts towards its point, all the way for very many texts."""
    moved = draws + (point - draws.mean()) * (1 - 1 / texts)
    # no kappa is above 1; the difference of two may be below -1
    return np.asarray(np.minimum(moved, 1.0))


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
    mean_over_texts
        Mean over texts like these, shape [draw]; NaN with fewer than two texts.
    new_text
        Kappa that one further text would show, shape [draw]; NaN with fewer than two texts.
    """

    names: tuple[str, ...]
    genres: tuple[str | None, ...]
    kappa: Floats
    draws: Floats
    mean_over_texts: Floats
    new_text: Floats
    _seed: int

    def table(self, prob: float = 0.9) -> pd.DataFrame:
        """One row for each text: `kappa`, and the ends of its interval, `low` and `high`.

        Parameters
        ----------
        prob
            Probability of the intervals.
        """
        import pandas as pd

        low, high = interval(self.draws.T, prob, self.kappa)
        columns = {"document": self.names, "genre": self.genres, "kappa": self.kappa}
        return pd.DataFrame(columns | {"low": low, "high": high})

    def summary(self, prob: float = 0.9) -> pd.DataFrame:
        """One row for each of the three quantities: number of `texts`, `kappa`, `low` and `high`.

        Parameters
        ----------
        prob
            Probability of the intervals.
        """
        import pandas as pd

        rows = []
        for name, title in QUANTITIES.items():
            draws = getattr(self, name)
            middle = self.kappa.mean() if name == "these_texts" else np.median(draws)
            low, high = map(float, interval(draws, prob, middle))
            rows.append((name, title, len(self.names), float(middle), low, high))
        columns = ["quantity", "title", "texts", "kappa", "low", "high"]
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def these_texts(self) -> Floats:
        """Mean over these very texts: what is uncertain is the mentions, shape [draw].

        Draws of a text lie a little below its kappa on the whole, as kappa is skewed. In the mean
        over T texts that is T times less, where its spread is less by the root of T only.
        """
        return centred(self.draws.mean(0), float(self.kappa.mean()), len(self.kappa))

    def by_genre(self) -> dict[str, PairPosterior]:
        """Return the same for each text type; types share information as far as they are alike.

        So a type with a single text has a mean, too.
        """
        genres = [genre or "(none)" for genre in self.genres]
        names = sorted(set(genres))
        codes = np.array([names.index(genre) for genre in genres])
        rng = np.random.default_rng([self._seed, 2])
        found = over_texts(
            self.kappa, codes, float(self.draws.var(axis=1).mean()), self.draws.shape[1], rng
        )
        return {
            name: self._take(np.flatnonzero(codes == n).tolist(), found.mean[n], found.new[n])
            for n, name in enumerate(names)
        }

    def text(self, name: str) -> PairPosterior:
        """Return the same for one text, which does not tell how texts differ.

        Parameters
        ----------
        name
            Name of the text.
        """
        nothing = np.full(self.draws.shape[1], np.nan)
        return self._take([self.names.index(name)], nothing, nothing)

    def _take(self, rows: Sequence[int], mean: Floats, new: Floats) -> PairPosterior:
        return PairPosterior(
            tuple(self.names[n] for n in rows),
            tuple(self.genres[n] for n in rows),
            self.kappa[rows],
            self.draws[rows],
            mean,
            new,
            self._seed,
        )

    def __repr__(self) -> str:
        lines = [f"pair kappa of {len(self.names):,} text(s), mean {self.kappa.mean():.4f}"]
        lines += [
            f"{row.quantity:16s} 90 % interval [{row.low:.4f}, {row.high:.4f}]"
            for row in self.summary().itertuples()
        ]
        return "\n".join(lines)


def pair_posterior(corpus: Corpus, draws: int = 1000, seed: int = 0) -> PairPosterior:
    """Posterior of pair kappa of each text, of these texts, of texts like these, and of a new one.

    The mentions of a text are weighted as in :func:`pair_draws`, with the same weights for all
    pairs of its coders. The kappas of texts are normal around the mean of their text type, and
    these means around a common one, with the spreads estimated; see ``by_genre``. How often the
    intervals covered the true value in simulated texts stands on the page :doc:`/coref-coverage`.
    What they do not know is that coders may err on a whole chain: they take errors on different
    mentions for independent.

    Parameters
    ----------
    corpus
        A document or several; texts with fewer than two shared mentions are left out.
    draws, seed
        Number and seed of the draws.

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
    valid_draws(draws)
    valid_seed(seed)
    documents = documents_of(corpus)
    points = pair_agreement(documents).by_document
    kept, values = [], []
    for n, document in enumerate(documents):
        if math.isfinite(points.get(document.id, math.nan)):
            kept.append(document)
            values.append(_document_draws(document, draws, np.random.default_rng([seed, 0, n])))
    if not kept:
        raise NotApplicable("No text has two mentions that two coders share. Check the mentions.")
    kappa = np.array([points[document.id] for document in kept], dtype=float)
    drawn = np.stack(values)
    rng = np.random.default_rng([seed, 1])
    found = over_texts(kappa, None, float(drawn.var(axis=1).mean()), draws, rng)
    return PairPosterior(
        tuple(document.id for document in kept),
        tuple(document.genre for document in kept),
        kappa,
        drawn,
        found.mean[0],
        found.new[0],
        seed,
    )


def _document_draws(document: Document, draws: int, rng: np.random.Generator) -> Floats:
    """Draws of the mean over pairs of coders."""
    blocks = pair_blocks(document, draws, rng)
    return np.concatenate([np.mean(list(block.values()), axis=0) for block in blocks])
