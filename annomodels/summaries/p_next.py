"""Next label of an item: a mixture of draws and vote shares, weighted on held-out labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import digamma, gammaln, softmax

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text, places_of
from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable, Option
from annomodels.models.catalog import is_stack
from annomodels.summaries.draws import SMALLEST, Draws, model_of, state_probabilities, thinned
from annomodels.summaries.notes import say
from annomodels.types import Floats, Ints

CLIMBS = 200  # of EM over the components of the mixture
# share of the main label of an initial component, by level
LEVELS = ((), (0.8,), (0.6, 0.9))
# one component with more labels, since each label would need a separate component
MOST_LABELS = 30
LEAST, MOST = 1e-3, 200.0  # pseudo-counts of a label, and of a component
# pseudo-labels of each coder with the pooled distribution
OWN = 5.0


@dataclass(frozen=True, eq=False)
class Mixture:
    """Mixture of Dirichlet distributions of the label shares of items."""

    alpha: Floats
    weight: Floats

    def log_density(self, counts: Floats) -> Floats:
        """Return log P(labels, component) for counts [item, label], shape [item, component]."""
        total = self.alpha.sum(axis=1)
        out = gammaln(total) - gammaln(total + counts.sum(axis=1)[:, None])
        for alpha, column in zip(self.alpha.T, counts.T, strict=True):
            out += gammaln(alpha + column[:, None]) - gammaln(alpha)
        return np.asarray(out + np.log(self.weight))

    def predict(self, counts: Floats) -> Floats:
        """Return P(next label) of items with these counts, shape [item, label]."""
        share = softmax(self.log_density(counts), axis=1)
        share = share / (self.alpha.sum(axis=1) + counts.sum(axis=1)[:, None])
        return np.asarray(share @ self.alpha + counts * share.sum(axis=1, keepdims=True))


def smoothed(votes: Ints | Floats) -> Mixture:
    """Fit the mixture to votes [item, label]; BIC chooses the number of components."""
    patterns, times = np.unique(np.asarray(votes, dtype=float), axis=0, return_counts=True)
    weight = times.astype(float)
    n_labels = votes.shape[1]
    pooled = (votes.sum(axis=0) + 0.5) / (votes.sum() + 0.5 * n_labels)
    best, least = None, np.inf
    for levels in LEVELS if 1 < n_labels <= MOST_LABELS else LEVELS[:1]:
        found = _climb(_start(pooled, levels), patterns, weight)
        likelihood = float(weight @ np.logaddexp.reduce(found.log_density(patterns), axis=1))
        size = found.alpha.size + len(found.weight) - 1
        bic = 0.5 * size * np.log(weight.sum()) - likelihood
        if best is None or bic < least:
            best, least = found, bic
    assert best is not None
    return best


def _start(pooled: Floats, levels: tuple[float, ...]) -> Mixture:
    """Return one broad component, and one per level and label."""
    alpha = [2.0 * pooled]
    for level in levels:
        for k in range(len(pooled)):
            others = pooled * (1.0 - level) / max(1.0 - pooled[k], 1e-9)
            others[k] = level
            alpha.append(4.0 * others)
    return Mixture(np.array(alpha), np.full(len(alpha), 1.0 / len(alpha)))


def _climb(mixture: Mixture, patterns: Floats, weight: Floats) -> Mixture:
    """Maximize the likelihood: EM over components, fixed points of pseudo-counts (Minka 2000)."""
    total = patterns.sum(axis=1)[:, None]
    for _ in range(CLIMBS):
        share = softmax(mixture.log_density(patterns), axis=1) * weight[:, None]
        alpha, sums = mixture.alpha, mixture.alpha.sum(axis=1)
        up = np.stack(
            [
                (share * (digamma(a + column[:, None]) - digamma(a))).sum(axis=0)
                for a, column in zip(alpha.T, patterns.T, strict=True)
            ],
            axis=1,
        )
        down = (share * (digamma(sums + total) - digamma(sums))).sum(axis=0)
        alpha = np.maximum(alpha * (up + 1e-4) / (down[:, None] + 1e-3), LEAST)
        alpha *= np.minimum(1.0, MOST / alpha.sum(axis=1, keepdims=True))
        part = share.sum(axis=0) + 0.5
        mixture = Mixture(alpha, part / part.sum())
    return mixture


def leaning(given: Floats, expected: Floats, pooled: Floats) -> Floats:
    """Return the ratio of observed to expected label use of a coder, [..., label]."""
    return np.asarray((given + OWN * pooled) / (expected + OWN * pooled))


By = Literal["item", "coder"]
DRAWS = 100
# labels held out in turn to weight the sources
POINTS = 4000
MOST_ROWS = 2_000_000
ROUNDS = 300
CELLS = 4_000_000
SHARES = "shares of the labels"


def p_next(
    tree: xr.DataTree,
    data: Annotations,
    by: By = "item",
    items: Hashable | Iterable[Hashable] | None = None,
    coders: Hashable | Iterable[Hashable] | None = None,
) -> Summary:
    r"""Tabulate the probability that one more coder gives each label.

    .. math::

        p(y \mid i, j) = w_0\, S_{ijy} + \sum_m w_m\, E\Big[\sum_s P_m(s_i = s \mid y_{1:N}, \theta)
        \, \theta_{j,s,y}\Big]

    where S are smoothed label shares of the item, adjusted for how often the coder uses each label.
    The weights w maximize the density of held-out labels. A random coder is drawn in proportion to
    the labels given.
    """
    if by not in ("item", "coder"):
        raise NotApplicable(f"{Option('by', by)} is unknown: give 'item' or 'coder'.")
    if coders is not None and by == "item":
        raise NotApplicable(f"{Option('coders')} belongs to {Option('by', 'coder')}.")
    every = np.arange(data.n_items), np.arange(data.n_coders)
    chosen = every[0] if items is None else places_of(data.items, items, "item")
    voices = every[1] if coders is None else places_of(data.coders, coders, "coder")
    said = predicted(tree, data)
    names = [f"p_next_{label_text(label)}" for label in data.labels]
    if by == "item":
        p, weights, who = said.anyone[chosen], said.weights[0], "a coder at random"
        columns: dict[str, list[Hashable]] = {"item": [data.items[i] for i in chosen]}
    else:
        rows = len(chosen) * len(voices)
        if rows > MOST_ROWS:
            raise NotApplicable(
                f"{len(chosen):,} items by {len(voices):,} coders are {rows:,} rows, more than "
                f"{MOST_ROWS:,}: name some of them with {Option('items')} or {Option('coders')}."
            )
        item, coder = np.repeat(chosen, len(voices)), np.tile(voices, len(chosen))
        p, weights, who = said.of_coders(item, coder), said.weights[1], "a coder who is told"
        columns = {
            "item": [data.items[i] for i in item],
            "coder": [data.coders[j] for j in coder],
        }
    table = pd.DataFrame(columns | dict(zip(names, p.T, strict=True)))
    parts = ", ".join(
        f"{each.name} {weight:.2f}" for each, weight in zip(said.sources, weights, strict=True)
    )
    notes = [str(say("predictions", who=who, parts=parts))]
    if by == "item":
        notes.append("A random coder is drawn in proportion to the labels given.")
    kept = xr.Dataset({"p_next": (("row", "label"), p)}, coords={"label": data.coords["label"]})
    return Summary("Next labels", table, kept, tuple(notes))


@dataclass(frozen=True, eq=False)
class PredictionSource:
    """Source of predictions: one set of draws, or the label shares."""

    name: str
    anyone: Floats  # P(next label by a random coder), shape [item, label]
    held: Floats  # log P of held-out labels: for a random coder, for the coder who gave it
    # P(next label) of pairs of items and coders, shape [pair, label]
    of_coders: Callable[[Ints, Ints], Floats]


@dataclass(frozen=True, eq=False)
class Predicted:
    sources: Sequence[PredictionSource]
    weights: Floats

    @cached_property
    def anyone(self) -> Floats:
        """P(next label by a random coder), shape [item, label]."""
        parts = zip(self.weights[0], self.sources, strict=True)
        return np.asarray(sum(weight * each.anyone for weight, each in parts))

    def of_coders(self, item: Ints, coder: Ints) -> Floats:
        """Return P(next label) of pairs of items and coders, shape [pair, label]."""
        p = np.array(self.anyone[item])
        known = np.flatnonzero(coder >= 0)
        if len(known):
            parts = zip(self.weights[1], self.sources, strict=True)
            p[known] = sum(w * each.of_coders(item[known], coder[known]) for w, each in parts)
        return p


def predicted(tree: xr.DataTree, data: Annotations) -> Predicted:
    points = np.unique(np.linspace(0, len(data) - 1, min(len(data), POINTS)).astype(int))
    name = "hierarchical" if is_stack(model_of(tree)) else model_of(tree).title
    draws = thinned(tree, data, DRAWS)
    sources = [_of_shares(data, points), _of_draws(name, draws, data, points)]
    held = np.stack([each.held for each in sources])
    weights = np.stack([stacking_weights(held[:, n]) for n in (0, 1)])
    return Predicted(sources, weights / weights.sum(axis=1, keepdims=True))


def stacking_weights(densities: Floats) -> Floats:
    """Return the mixture weights that maximize the density of points [source, point], by EM."""
    # argmax_w sum_n log sum_m w_m p_m(y_n | y_-n): Yao, Vehtari, Simpson and Gelman (2018),
    # doi:10.1214/17-BA1091
    density = np.exp(densities - densities.max(axis=0))
    weights = np.full(len(density), 1.0 / len(density))
    for _ in range(ROUNDS):
        share = weights[:, None] * density
        weights = (share / share.sum(axis=0)).mean(axis=1)
    return np.asarray(np.maximum(weights, 1e-3))


def _of_shares(data: Annotations, points: Ints) -> PredictionSource:
    votes = data.votes.astype(float)
    mixture = smoothed(votes)
    share = mixture.predict(votes)
    pooled = (votes.sum(axis=0) + 0.5) / (votes.sum() + 0.5 * data.n_labels)
    given = np.zeros((data.n_coders, data.n_labels))
    expected = np.zeros_like(given)
    np.add.at(given, (data.coder, data.label), 1.0)
    np.add.at(expected, data.coder, share[data.item])
    item, coder, label = (part[points] for part in (data.item, data.coder, data.label))
    at = np.arange(len(points)), label
    mine = np.zeros((len(points), data.n_labels))
    mine[at] = 1.0
    less = mixture.predict(votes[item] - mine)
    own = less * leaning(given[coder] - mine, expected[coder] - share[item], pooled)
    own /= own.sum(axis=1, keepdims=True)
    held = np.log(np.maximum([less[at], own[at]], SMALLEST))
    lean = leaning(given, expected, pooled)

    def of_coders(item: Ints, coder: Ints) -> Floats:
        p = share[item] * lean[coder]
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    return PredictionSource(SHARES, share, held, of_coders)


def _of_draws(name: str, draws: Draws, data: Annotations, points: Ints) -> PredictionSource:
    """Predict from draws; hold out labels by importance weighting."""
    # On each draw 1 / P(label n | other labels of its item) = sum_s P(s | y) / theta_jsy. This is
    # the importance weight, truncated at sqrt(number of draws) times its mean.
    volume = data.per_coder / len(data)
    item, coder, label = (part[points] for part in (data.item, data.coder, data.label))
    anyone = np.zeros((data.n_items, data.n_labels))
    odds, said = np.empty((2, len(draws), len(points)))
    for step, p in state_probabilities(draws, data):
        rows = draws.emission[step]
        mean = np.tensordot(volume, rows, axes=1)
        anyone += p @ mean
        less = p[item] / np.maximum(rows[coder, :, label], SMALLEST)
        odds[step] = less.sum(axis=1)
        said[step] = (less * mean[:, label].T).sum(axis=1) / odds[step]
    weight = np.minimum(odds, np.sqrt(len(draws)) * odds.mean(axis=0))
    weight /= weight.sum(axis=0)
    held = np.stack([(weight * said).sum(axis=0), (weight / odds).sum(axis=0)])

    def of_coders(item: Ints, coder: Ints) -> Floats:
        out = np.zeros((len(item), data.n_labels))
        size = max(1, CELLS // (draws.emission.shape[2] * data.n_labels))
        for step, p in state_probabilities(draws, data):
            rows = draws.emission[step]
            for first in range(0, len(item), size):
                some = slice(first, first + size)
                out[some] += np.einsum("ns,nsl->nl", p[item[some]], rows[coder[some]])
        return out / len(draws)

    return PredictionSource(
        name, anyone / len(draws), np.log(np.maximum(held, SMALLEST)), of_coders
    )
