"""Label shares of an item, smoothed by a mixture of Dirichlet distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln, softmax

from annomodels.types import Floats, Ints

ROUNDS = 200
# share of the main label of an initial component, by level
LEVELS = ((), (0.8,), (0.6, 0.9))
# one component with more labels, since each label would need a separate component
MOST_LABELS = 30
SMALLEST, LARGEST = 1e-3, 200.0
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
    for _ in range(ROUNDS):
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
        alpha = np.maximum(alpha * (up + 1e-4) / (down[:, None] + 1e-3), SMALLEST)
        alpha *= np.minimum(1.0, LARGEST / alpha.sum(axis=1, keepdims=True))
        part = share.sum(axis=0) + 0.5
        mixture = Mixture(alpha, part / part.sum())
    return mixture


def leaning(given: Floats, expected: Floats, pooled: Floats) -> Floats:
    """Return the ratio of observed to expected label use of a coder, [..., label]."""
    return np.asarray((given + OWN * pooled) / (expected + OWN * pooled))
