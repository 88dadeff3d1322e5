r"""Weights of mentions: what makes draws of kappa on coreferent pairs, and the prior behind them.

Pairs of a text are not independent: each mention is in many. So mentions are weighted, not pairs,
and a pair counts with the product of the weights of its two mentions (the Bayesian bootstrap of
Rubin 1981, doi:10.1214/aos/1176345338).

To the mentions of the text come two of a prior, each with a Gamma(1/2) weight: one that all coders
put into the cluster of the same mention, and one that each of them puts into the cluster of a
mention of their choice, drawn again each time. They are for mentions what Jeffreys' prior is for
a share: without the second, coders who happened to agree in everything would be sure to do so for
ever, and near-perfect ones have intervals that are too short on that side.

A pair of mentions weighs in for both of them, while one coder's slip on one of them is behind a
disagreement. In long chains that is nothing, as a misplaced mention is in many pairs and the others
are in one of these; where most pairs stand alone, draws vary three times as much as they should. So
draws are drawn together there, see :func:`spread_factor`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annomodels.coefficients.counts import sparse_sum
from annomodels.coref.tables import kappa_of
from annomodels.data.document import Document
from annomodels.types import Floats, Ints

HALF = 0.5
SHORT, SHORTEST = (20.0, 30.0), 50
CELLS = 20_000_000


@dataclass(frozen=True)
class Extra:
    """A mention of the prior: what it is like for either coder, and its weight."""

    x: Ints  # the mention whose cluster it is in, for the first and the second coder [draw]
    y: Ints
    weight: Floats  # its weight [draw]


@dataclass(frozen=True)
class Weights:
    """Weights of a block of draws."""

    mentions: Floats  # [draw, mention]
    prior: Floats  # weights of the mention of agreement and of that of disagreement [2, draw]
    same: Floats  # where the mention of agreement lies, between 0 and 1 [draw]
    own: Floats  # where that of disagreement lies for each coder [coder, draw]

    def extras(self, first: int, second: int, n: int) -> tuple[Extra, Extra]:
        """Mentions of the prior for two coders with n shared mentions."""
        same, x, y = ((u * n).astype(np.int64) for u in (self.same, *self.own[[first, second]]))
        return Extra(same, same, self.prior[0]), Extra(x, y, self.prior[1])


def weight_blocks(
    rng: np.random.Generator, draws: int, n_mentions: int, n_coders: int
) -> Iterator[Weights]:
    """Draw weights in blocks that fit into memory; those of mentions have the mean 1."""
    step = max(1, CELLS // max(n_mentions, 1))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        prior = rng.standard_gamma(HALF, (2, size))
        same, own = rng.random(size), rng.random((n_coders, size))
        # draws of one mention side by side, as the sparse products want them
        mentions = rng.standard_exponential((n_mentions, size)).T
        yield Weights(mentions, prior, same, own)


def kappas(x: Ints, y: Ints, weights: Floats, extras: Sequence[Extra] = ()) -> Floats:
    """Kappa of weighted mentions from their cluster codes."""
    if len(x) < 2:
        return np.full(len(weights), math.nan)
    alone, every = _all_pairs(weights, extras)
    first = _pairs(x, weights, alone, [(x[e.x], e.weight) for e in extras])
    second = _pairs(y, weights, alone, [(y[e.y], e.weight) for e in extras])
    return _joined(x, y, weights, extras, (alone, every, first, second))


def spread_factor(x: Ints, y: Ints) -> tuple[float, float]:
    """Return kappa, and the factor by which draws are spread around it."""
    # c = (L - P) / (L + P), L = sum_m (sum_m' g_mm')^2, P = sum_(m < m') g_mm'^2, where g is the
    # derivative of kappa by the weight of a pair. Draws have the variance L + P; if every pair
    # stands alone, L is 2 P, and P would be right. Short texts have intervals that are a little too
    # short in other ways, so the factor of the variance is the middle one of 1, c (1 + 20 / n) and
    # c (1 + 30 / n), with n mentions but at least 50; 20 and 30 were chosen by simulation.
    n = len(x)
    joint = x * (int(y.max()) + 1) + y
    own = [_sizes(group) for group in (x, y, joint)]
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


def _sizes(group: Ints) -> Ints:
    """Size of the cluster of each mention."""
    place = np.unique(group, return_inverse=True)[1]
    return np.asarray(np.bincount(place)[place])


def respread(x: Ints, y: Ints, draws: Floats) -> Floats:
    """Spread kappas around kappa itself as :func:`spread_factor` says."""
    if len(x) < 2:
        return draws
    value, factor = spread_factor(x, y)
    return _spread(draws, value, factor)


def _spread(draws: Floats, value: float, factor: float) -> Floats:
    return np.asarray(np.clip(value + (draws - value) * factor, -1.0, 1.0))


def _all_pairs(weights: Floats, extras: Sequence[Extra]) -> tuple[Floats, Floats]:
    """Sum of the squared weights, and weight of all pairs."""
    added = [extra.weight for extra in extras]
    alone = np.einsum("dm,dm->d", weights, weights) + sum(weight**2 for weight in added)
    return alone, ((weights.sum(1) + sum(added)) ** 2 - alone) / 2


def _joined(
    x: Ints,
    y: Ints,
    weights: Floats,
    extras: Sequence[Extra],
    sums: tuple[Floats, Floats, Floats, Floats],
) -> Floats:
    """Kappa, where the sums over all mentions and over the clusters of either coder are known."""
    alone, every, first, second = sums
    wide = int(y.max()) + 1
    joint = [(x[e.x] * wide + y[e.y], e.weight) for e in extras]
    both = _pairs(x * wide + y, weights, alone, joint)
    found = kappa_of(both, first - both, second - both, every - first - second + both)
    return np.where(np.isnan(found), 1.0, found)


def _pairs(
    group: Ints, weights: Floats, alone: Floats, added: Sequence[tuple[Ints, Floats]]
) -> Floats:
    """Weight of the pairs within groups; what is added may stand in a group of its own."""
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
    # groups of one mention each have no pair; what rounding leaves would count as one
    return np.where(pairs < 1e-9 * alone, 0.0, pairs)


def pair_blocks(
    document: Document, draws: int, rng: np.random.Generator
) -> Iterator[dict[tuple[str, str], Floats]]:
    """Yield kappa of every pair of coders with two shared mentions, by block of draws."""
    # A mention has one weight for all pairs of coders.
    codes, names = document.codes, document.coders
    n = codes.shape[1]
    shared: dict[tuple[int, int], Ints] = {}
    for pair in combinations(range(len(names)), 2):
        both = np.flatnonzero((codes[list(pair)] >= 0).all(0))
        if len(both) > 1:
            shared[pair] = both
    whole = sorted({coder for pair, at in shared.items() if len(at) == n for coder in pair})
    factors = {(a, b): spread_factor(codes[a, at], codes[b, at]) for (a, b), at in shared.items()}
    for block in weight_blocks(rng, draws, n, len(names)):
        # coders who marked all mentions: what does not depend on the other coder, once
        known: dict[int, Floats] = {}
        alone, every = np.zeros(0), np.zeros(0)
        for coder in whole:
            extras = block.extras(coder, coder, n)
            if not known:
                alone, every = _all_pairs(block.mentions, extras)
            added = [(codes[coder][e.x], e.weight) for e in extras]
            known[coder] = _pairs(codes[coder], block.mentions, alone, added)
        found = {}
        for (a, b), at in shared.items():
            extras = block.extras(a, b, len(at))
            if len(at) == n:
                sums = alone, every, known[a], known[b]
                values = _joined(codes[a], codes[b], block.mentions, extras, sums)
            else:
                values = kappas(codes[a, at], codes[b, at], block.mentions.T[at].T, extras)
            value, factor = factors[a, b]
            found[names[a], names[b]] = _spread(values, value, factor)
        yield found
