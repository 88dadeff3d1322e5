"""Easy and hard items in the votes, estimated from counts of labels without their coders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, logsumexp

from annomodels.types import Floats, Ints, PyMCModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# pseudo-counts of right and wrong labels on easy items, and of hard and easy items
RIGHT, WRONG = 90.0, 10.0
HARD, EASY = 2.0, 3.0
# Dirichlet concentrations of the labels of a hard item: on few labels, or scattered
CONCENTRATIONS = np.array([1.0, 8.0])
STEPS, ARRIVED = 500, 1e-7


@dataclass(frozen=True)
class Difficulty:
    r"""Describe easy and hard items in the votes alone.

    .. math::

        P(c_i) = (1 - \eta) \frac{1}{K} \sum_k a^{c_{ik}}
        \left(\frac{1 - a}{K - 1}\right)^{n_i - c_{ik}}
        + \eta \sum_m w_m \frac{\Gamma(A_m)}{\Gamma(A_m + n_i)}
        \prod_k \frac{\Gamma(A_m / K + c_{ik})}{\Gamma(A_m / K)}

    On an easy item, each label is the true label with probability a. A hard item has a separate
    label distribution, drawn from a Dirichlet distribution independently of its truth. With several
    classes, items on which many labels agree are rarely hard: a random label distribution is rarely
    so concentrated on one class.
    """

    hard: float = 0.4  # eta
    accuracy: float = 0.9  # a
    scattered: float = 0.5  # proportion of hard items with scattered labels


def log_parts(votes: ArrayLike, difficulty: Difficulty) -> tuple[Floats, Floats]:
    """Return log P(counts, state): easy by truth [item, truth], hard by kind [item, 2]."""
    c = np.asarray(votes, dtype=float)
    n, k = c.sum(axis=1, keepdims=True), c.shape[1]
    right, wrong = np.log(difficulty.accuracy), np.log((1.0 - difficulty.accuracy) / max(k - 1, 1))
    easy = c * right + (n - c) * wrong - np.log(k) + np.log1p(-difficulty.hard)
    share = np.array([1.0 - difficulty.scattered, difficulty.scattered])
    hard = np.log(share) + np.log(difficulty.hard) + gammaln(CONCENTRATIONS)
    hard = hard - gammaln(CONCENTRATIONS + n)
    for m, a in enumerate(CONCENTRATIONS / k):
        hard[:, m] += (gammaln(a + c) - gammaln(a)).sum(axis=1)
    return easy, hard


def easy_share(votes: ArrayLike, difficulty: Difficulty) -> Floats:
    """Return P(easy, truth | votes), shape [item, truth]; the remainder is P(hard)."""
    easy, hard = log_parts(votes, difficulty)
    return np.asarray(np.exp(easy - logsumexp(np.hstack([easy, hard]), axis=1, keepdims=True)))


def patterns(votes: Ints) -> tuple[Ints, Ints]:
    """Return distinct votes, the most frequent label first, and their counts [pattern]."""
    # classes are exchangeable here, so only the sorted counts of labels matter
    ordered = -np.sort(-np.asarray(votes), axis=1)
    found, times = np.unique(ordered[ordered[:, 0] > 0], axis=0, return_counts=True)
    return found, times


def together(parts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Merge the patterns of several parts of the items."""
    votes, times = (np.concatenate(each) for each in zip(*parts, strict=True))
    found, place = np.unique(votes, axis=0, return_inverse=True)
    return found, np.bincount(place.ravel(), times, len(found)).astype(np.int64)


def difficulty_of(votes: Ints, times: Ints) -> Difficulty:
    """Find the mode of the difficulty by EM, given patterns of votes and their counts."""
    now = Difficulty()
    if not len(votes) or votes.shape[1] < 2:
        return now
    items, n = float(times.sum()), votes.sum(axis=1)
    for _ in range(STEPS):
        easy, hard = log_parts(votes, now)
        whole = logsumexp(np.hstack([easy, hard]), axis=1, keepdims=True)
        p, of_kind = np.exp(easy - whole), times @ np.exp(hard - whole)
        right = float(times @ (p * votes).sum(axis=1))
        given = float(times @ (p.sum(axis=1) * n))
        before, now = (
            now,
            Difficulty(
                hard=float((of_kind.sum() + HARD) / (items + HARD + EASY)),
                accuracy=(right + RIGHT) / (given + RIGHT + WRONG),
                scattered=float((of_kind[1] + 1.0) / (of_kind.sum() + 2.0)),
            ),
        )
        moved = abs(now.hard - before.hard) + abs(now.accuracy - before.accuracy)
        if moved + abs(now.scattered - before.scattered) < ARRIVED:
            break
    return now


def build_votes(votes: Ints, times: Ints) -> PyMCModel:
    """Build the PyMC model of the difficulty, given patterns of votes."""
    import pymc as pm
    import pytensor.tensor as pt

    k = votes.shape[1]
    n = votes.sum(axis=1, keepdims=True)
    with pm.Model() as model:
        hard = pm.Beta("hard", HARD + 1.0, EASY + 1.0)
        accuracy = pm.Beta("accuracy", RIGHT + 1.0, WRONG + 1.0)
        scattered = pm.Beta("scattered", 2.0, 2.0)
        wrong = (1.0 - accuracy) / (k - 1)
        easy = votes * pt.log(accuracy) + (n - votes) * pt.log(wrong) - np.log(k)
        by_kind = [
            pm.logp(pm.DirichletMultinomial.dist(n=n[:, 0], a=np.full(k, a / k)), votes)
            for a in CONCENTRATIONS
        ]
        # remove the multinomial coefficient: the order of labels among coders is irrelevant
        orders = gammaln(n[:, 0] + 1.0) - gammaln(votes + 1.0).sum(axis=1)
        shares = (pt.log1p(-scattered), pt.log(scattered))
        kinds = [
            pt.log(hard) + share + of_kind - orders
            for share, of_kind in zip(shares, by_kind, strict=True)
        ]
        states = pt.concatenate([easy + pt.log1p(-hard), pt.stack(kinds, axis=1)], axis=1)
        pm.Potential("votes", (times * pt.logsumexp(states, axis=1)).sum())
    return model
