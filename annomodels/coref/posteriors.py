"""Posteriors of pair kappa: each text, these texts, similar texts, and a new one.

docs/research/coreference-intervals.md has the model and the reasons for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd

from annomodels.coefficients.intervals import as_text, interval
from annomodels.coefficients.sums import sparse_sum
from annomodels.coref.clusterings import Clusters, groups_of, overlap
from annomodels.coref.tables import kappa_of, pair_agreement
from annomodels.data.columns import columns
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import NotApplicable, Option, valid_seed
from annomodels.types import Bools, Floats, Ints

POWER = 0.75
FLOOR = 0.1
GRID = np.tan(np.linspace(0, np.pi / 2, 202)[:-1][:, None])
"""Values of rho that are equally likely under its prior."""


@dataclass(frozen=True)
class OverTexts:
    mean: Floats  # mean over texts like those of a group [group, draw]
    new: Floats  # kappa that one further text of the group would show [group, draw]


def over_texts(
    kappa: Floats, group: Ints | None, within: float, draws: int, rng: np.random.Generator
) -> OverTexts:
    """Draw the mean over texts like these and one further text."""
    # kappa_t ~ N(m_g, sigma^2), m_g ~ N(mu, (rho sigma)^2), p(mu, sigma) ~ sigma^(-3/4), rho ~
    # HalfCauchy(1) on a grid, or 0 without groups; mu and sigma have closed forms given rho.
    codes = np.zeros(len(kappa), dtype=np.int64) if group is None else group
    n_groups = int(codes.max()) + 1
    n = len(kappa)
    if n < 2:
        return OverTexts(*np.full((2, n_groups, draws), np.nan))
    size = np.bincount(codes)
    mean = np.bincount(codes, kappa) / size
    ratio = GRID if group is not None else np.zeros((1, 1))
    # a group's mean has the precision size / (1 + size rho²), in units of 1 / sigma²
    precision = size / (1 + size * ratio**2)
    total = precision.sum(1)
    centre = (precision * mean).sum(1) / total
    around = ((kappa - mean[codes]) ** 2).sum() + FLOOR * within
    squares = around + (precision * (mean - centre[:, None]) ** 2).sum(1)
    freedom = n - 2 + POWER
    log_p = 0.5 * np.log(precision / size).sum(1) - 0.5 * np.log(total)
    # identical texts: no variation to estimate
    log_p -= 0.5 * freedom * np.log(np.maximum(squares, 1e-300))
    weight = np.exp(log_p - log_p.max())
    chosen = rng.choice(len(weight), draws, p=weight / weight.sum())
    sigma = np.sqrt(squares[chosen] / rng.chisquare(freedom, draws))
    middle = centre[chosen] + sigma / np.sqrt(total[chosen]) * rng.standard_normal(draws)
    rho = ratio[chosen, 0]
    spread = rho / np.sqrt(1 + size[:, None] * rho**2)
    pull = size[:, None] * rho**2 / (1 + size[:, None] * rho**2)
    noise = rng.standard_normal((2, n_groups, draws))
    own = middle + pull * (mean[:, None] - middle) + sigma * spread * noise[0]
    return OverTexts(*(np.clip(one, -1, 1) for one in (own, own + sigma * noise[1])))


HALF = 0.5
SHORT, SHORTEST = (20.0, 30.0), 50
CELLS = 20_000_000


Extra = tuple[Ints, Ints, Floats]
"""A prior mention: the mention whose cluster it joins, for each coder, and weight [draw]."""


@dataclass(frozen=True)
class Weights:
    mentions: Floats  # [draw, mention]
    prior: Floats  # weights of the mention of agreement and of that of disagreement [2, draw]
    same: Floats  # position of the agreement mention, between 0 and 1 [draw]
    own: Floats  # position of the disagreement mention for each coder [coder, draw]

    def extras(self, first: int, second: int, n: int) -> tuple[Extra, Extra]:
        same, x, y = ((u * n).astype(np.int64) for u in (self.same, *self.own[[first, second]]))
        return (same, same, self.prior[0]), (x, y, self.prior[1])


def weight_blocks(
    rng: np.random.Generator, draws: int, n_mentions: int, n_coders: int
) -> Iterator[Weights]:
    """Draw weights in blocks that fit into memory; those of mentions have the mean 1."""
    step = max(1, CELLS // max(n_mentions, 1))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        prior = rng.standard_gamma(HALF, (2, size))
        same, own = rng.random(size), rng.random((n_coders, size))
        # draws of one mention are contiguous, for sparse products
        mentions = rng.standard_exponential((n_mentions, size)).T
        yield Weights(mentions, prior, same, own)


def kappas(x: Ints, y: Ints, weights: Floats, extras: Sequence[Extra] = ()) -> Floats:
    """Return kappa of weighted mentions from their cluster codes, shape [draw]."""
    if len(x) < 2:
        return np.full(len(weights), math.nan)
    added = [weight for *_, weight in extras]
    alone = np.einsum("dm,dm->d", weights, weights) + sum(weight**2 for weight in added)
    every = ((weights.sum(1) + sum(added)) ** 2 - alone) / 2
    wide = int(y.max()) + 1
    first = _pairs(x, weights, alone, [(x[a], weight) for a, _, weight in extras])
    second = _pairs(y, weights, alone, [(y[b], weight) for _, b, weight in extras])
    joint = [(x[a] * wide + y[b], weight) for a, b, weight in extras]
    both = _pairs(x * wide + y, weights, alone, joint)
    found = kappa_of(both, first - both, second - both, every - first - second + both)
    return np.where(np.isnan(found), 1.0, found)


def spread_factor(x: Ints, y: Ints) -> tuple[float, float]:
    """Return kappa, and the factor by which draws are spread around it."""
    # c = (L - P) / (L + P), L = sum_m (sum_m' g_mm')^2, P = sum_(m < m') g_mm'^2, where g is the
    # derivative of kappa by the weight of a pair. Draws have the variance L + P; if every pair
    # stands alone, L is 2 P, and P would be right. Short texts have intervals that are a little too
    # short in other ways, so the factor of the variance is the middle one of 1, c (1 + 20 / n) and
    # c (1 + 30 / n), with n mentions but at least 50; 20 and 30 were chosen by simulation.
    n = len(x)
    joint = x * (int(y.max()) + 1) + y
    # size of the cluster of each mention
    found = [np.unique(g, return_inverse=True, return_counts=True)[1:] for g in (x, y, joint)]
    own = [counts[place] for place, counts in found]
    first, second, both = (float((size - 1).sum()) / 2 for size in own)
    every = n * (n - 1) / 2
    chance = first * second / every
    below = (first + second) / 2 - chance
    if below <= 0:
        return 1.0, 1.0
    value = (both - chance) / below
    # derivatives of kappa by the four sums that a pair may be part of
    by_both = 1 / below
    by_first = (-second / every - value * (0.5 - second / every)) / below
    by_second = (-first / every - value * (0.5 - first / every)) / below
    by_every = (chance / every) * (1 - value) / below
    slopes = by_first, by_second, by_both
    moved = np.full(n, by_every * (n - 1))
    for slope, size in zip(slopes, own, strict=True):
        moved += slope * (size - 1)
    along = float((moved**2).sum())
    apart = (
        both * (by_every + by_first + by_second + by_both) ** 2
        + (first - both) * (by_every + by_first) ** 2
        + (second - both) * (by_every + by_second) ** 2
        + (every - first - second + both) * by_every**2
    )
    if along + apart <= 0:
        return value, 1.0
    share = max((along - apart) / (along + apart), 1 / 3)
    low, high = (share * (1 + more / max(n, SHORTEST)) for more in SHORT)
    return value, min(max(1.0, low), high) ** 0.5


def _pairs(
    group: Ints, weights: Floats, alone: Floats, added: Sequence[tuple[Ints, Floats]]
) -> Floats:
    """Return the weight of pairs within groups; added pairs may form a separate group."""
    codes, where = np.unique(group, return_inverse=True)
    places = np.arange(len(group))
    held = sparse_sum(np.ones(len(group)), where, places, (len(codes), len(group))) @ weights.T
    apart = np.zeros(len(weights))
    draw = np.arange(len(weights))
    for code, weight in added:
        place = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
        inside = codes[place] == code
        held[place[inside], draw[inside]] += weight[inside]
        apart += np.where(inside, 0.0, weight**2)
    pairs = (np.einsum("cd,cd->d", held, held) + apart - alone) / 2
    # groups of one mention have no pair; remove rounding errors that would count as one
    return np.where(pairs < 1e-9 * alone, 0.0, pairs)


def pair_blocks(
    codes: Ints, names: Sequence[str], n_draws: int, rng: np.random.Generator
) -> Iterator[dict[tuple[str, str], Floats]]:
    """Yield kappa of every two coders with two shared mentions, by block of draws."""
    # `codes` are the clusters of all mentions, -1 for mentions that a coder does not have [coder,
    # mention]. A mention has one weight for all pairs of coders.
    n = codes.shape[1]
    shared: dict[tuple[int, int], Ints] = {}
    for pair in combinations(range(len(names)), 2):
        both = np.flatnonzero((codes[list(pair)] >= 0).all(0))
        if len(both) > 1:
            shared[pair] = both
    factors = {(a, b): spread_factor(codes[a, at], codes[b, at]) for (a, b), at in shared.items()}
    for block in weight_blocks(rng, n_draws, n, len(names)):
        found = {}
        for (a, b), at in shared.items():
            mentions, extras = block.mentions.T[at].T, block.extras(a, b, len(at))
            value, factor = factors[a, b]
            draws = kappas(codes[a, at], codes[b, at], mentions, extras)
            spread = value + (draws - value) * factor
            found[names[a], names[b]] = np.asarray(np.clip(spread, -1.0, 1.0))
        yield found


def draws_of(document: Document, draws: int, seed: list[int]) -> dict[tuple[str, str], Floats]:
    """Draw kappa of every two coders of a text with two shared mentions, [draw] each."""
    rng = np.random.default_rng(seed)
    blocks = list(pair_blocks(document.codes, document.coders, draws, rng))
    return {pair: np.concatenate([block[pair] for block in blocks]) for pair in blocks[0]}


QUANTITIES = {
    "these_texts": "mean over these texts",
    "mean_over_texts": "mean over texts like these",
    "new_text": "one further text",
}


def pair_draws(x: Clusters, y: Clusters, draws: int = 1000, seed: int = 0) -> Floats:
    r"""Draw pair kappa of two codings of one text, by weighting its shared mentions.

    .. math:: w_m \sim \mathrm{Exponential}(1), \quad
              a = \frac12 \left(\sum_{ij} W_{ij}^2 - \sum_m w_m^2\right)

    and so on for the other cells of :func:`pair_table`, where :math:`W_{ij}` is the weight of the
    mentions in cluster i of one coder and j of the other (Rubin 1981, doi:10.1214/aos/1176345338).
    A prior adds two mentions, so coders who always agree still have an interval.

    Returns
    -------
    numpy.ndarray
        Kappa, shape [draw]; NaN with fewer than two shared mentions.

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
    if shared.n < 2:
        return np.full(draws, math.nan)
    codes, names = np.stack([shared.mention_x, shared.mention_y]), ("x", "y")
    rng = np.random.default_rng(valid_seed(seed))
    return np.concatenate([block[names] for block in pair_blocks(codes, names, draws, rng)])


def valid_draws(draws: int) -> None:
    if draws < 1:
        raise NotApplicable(f"{Option('draws', draws)} should be 1 or more, for instance 1000.")


def centred(draws: Floats, point: float, texts: int) -> Floats:
    """Move draws of a mean over texts towards its point, all the way for very many texts."""
    # Draws of a text average slightly below its kappa, because kappa is skewed. The mean over T
    # texts divides this bias by T, but its spread only by the root of T.
    moved = draws + (point - draws.mean()) * (1 - 1 / texts)
    # no kappa is above 1; the difference of two may be below -1
    return np.asarray(np.minimum(moved, 1.0))


@dataclass(frozen=True, eq=False, repr=False)
class PairPosterior(Summary):
    """Posterior of pair kappa of several texts.

    Parameters
    ----------
    title, table, draws, notes, columns
        As in every summary. The table has one row for each text with two shared mentions or more:
        `document`, `genre`, `kappa`, the mean over its pairs of coders, and the ends of its
        interval, `low` and `high`. The draws are `kappa` (document, draw), and of each quantity
        (draw): `these_texts`, the mean over these texts, with uncertainty from the
        mentions; `mean_over_texts`, the mean over texts like these; and `new_text`, the kappa that
        one further text would show. The last two are NaN with fewer than two texts.
    overall
        One row for each quantity: its `title`, number of `texts`, `kappa`, `low` and `high`.
    seed, prob
        Seed of the draws, and probability of the intervals.
    """

    overall: pd.DataFrame = field(kw_only=True)
    seed: int = field(kw_only=True)
    prob: float = field(kw_only=True)

    def tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        yield from (("table", self.table), ("overall", self.overall))

    def by_genre(self) -> dict[str, PairPosterior]:
        """Return the posterior for each text type; similar types share information.

        So a type with a single text has a mean, too.
        """
        genres = [genre or "(none)" for genre in self.table["genre"]]
        names = sorted(set(genres))
        codes = np.array([names.index(genre) for genre in genres])
        kappa, drawn = self.table["kappa"].to_numpy(), self.draws["kappa"].to_numpy()
        found = _like_these(kappa, codes, drawn, [self.seed, 2])
        return {
            name: self._part(codes == n, found.mean[n], found.new[n])
            for n, name in enumerate(names)
        }

    def text(self, name: str) -> PairPosterior:
        """Return the same for one text, without the variation between texts."""
        nothing = np.full(self.draws.sizes["draw"], np.nan)
        return self._part((self.table["document"] == name).to_numpy(), nothing, nothing)

    def _part(self, rows: Bools, mean: Floats, new: Floats) -> PairPosterior:
        """Return the posterior of some of the texts, with draws over texts like them."""
        return _posterior(
            self.table[rows].reset_index(drop=True),
            self.draws["kappa"].to_numpy()[rows],
            mean,
            new,
            self.seed,
            self.prob,
        )

    def __repr__(self) -> str:
        return "\n".join([self.title, as_text(self.overall), *self.notes])


def _like_these(kappa: Floats, group: Ints | None, drawn: Floats, seed: list[int]) -> OverTexts:
    within = float(drawn.var(axis=1).mean())
    return over_texts(kappa, group, within, drawn.shape[1], np.random.default_rng(seed))


def _posterior(
    texts: pd.DataFrame, drawn: Floats, mean: Floats, new: Floats, seed: int, prob: float
) -> PairPosterior:
    """Build a posterior; `texts` has the kappa of each, `drawn` its draws [text, draw]."""
    import xarray as xr

    kappa, n = texts["kappa"].to_numpy(), len(texts)
    low, high = interval(drawn.T, prob, kappa)
    these = centred(drawn.mean(0), float(kappa.mean()), n)
    quantities = dict(zip(QUANTITIES, (these, mean, new), strict=True))
    rows = []
    for name, draws in quantities.items():
        middle = float(kappa.mean() if name == "these_texts" else np.median(draws))
        ends = map(float, interval(draws, prob, middle))
        rows.append((name, QUANTITIES[name], n, middle, *ends))
    return PairPosterior(
        f"pair kappa of {counted(n, 'text')}, mean {kappa.mean():.4f}",
        texts.assign(low=low, high=high),
        xr.Dataset(
            {"kappa": (("document", "draw"), drawn)}
            | {name: ("draw", draws) for name, draws in quantities.items()},
            coords={"document": texts["document"]},
        ),
        columns=columns("document genre kappa"),
        overall=pd.DataFrame(rows, columns=["quantity", "title", "texts", "kappa", "low", "high"]),
        seed=seed,
        prob=prob,
    )


def pair_posterior(
    corpus: Corpus, draws: int = 1000, seed: int = 0, prob: float = 0.95
) -> PairPosterior:
    """Compute the posterior of pair kappa of each text, these texts, similar texts and a new one.

    The mentions of a text are weighted as in :func:`pair_draws`, with the same weights for all
    pairs of its coders. The kappas of texts are normal around the mean of their text type, and
    these means around a common mean; both spreads are estimated; see ``by_genre``. The intervals
    assume that errors on different mentions are independent;
    :doc:`/research/coreference-intervals` measures them.

    Parameters
    ----------
    corpus
        A document or several; texts with fewer than two shared mentions are left out.

    Raises
    ------
    NotApplicable
        If `draws` is not positive, or no text has two shared mentions.

    Examples
    --------
    >>> from annomodels.coref import document
    >>> text = document("t", {"a": [[1, 2, 5], [3, 4]], "b": [[1, 2], [3, 4, 5]]})
    >>> pair_posterior(text).draws["kappa"].shape
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
            # the mean over pairs of coders
            values.append(np.mean([*draws_of(document, draws, [seed, 0, n]).values()], axis=0))
    if not kept:
        raise NotApplicable("No text has two mentions that two coders share. Check the mentions.")
    texts = pd.DataFrame(
        {
            "document": [document.id for document in kept],
            "genre": [document.genre for document in kept],
            "kappa": [float(points[document.id]) for document in kept],
        }
    )
    drawn = np.stack(values)
    found = _like_these(texts["kappa"].to_numpy(), None, drawn, [seed, 1])
    return _posterior(texts, drawn, found.mean[0], found.new[0], seed, prob)
