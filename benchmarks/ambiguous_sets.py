"""Simulated sets with ambiguous and with hard items, coders of mixed skill, and spammers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

import annomodels as am

Floats = NDArray[np.float64]

ITEMS, CODERS = 450, 50


@dataclass(frozen=True, eq=False)
class Made:
    """A simulated set with what is true of it.

    Parameters
    ----------
    data
        The labels.
    ambiguous
        Which items have two readings, shape [item].
    spammer
        Which coders do not look at the items, shape [coder].
    truth
        First reading of each item.
    pair
        The two readings of each item, if it is ambiguous.
    """

    data: am.Annotations
    ambiguous: NDArray[np.bool_]
    spammer: NDArray[np.bool_]
    truth: NDArray[np.int64]
    pair: NDArray[np.int64]


def coders(
    k: int, prevalence: Floats, share: float, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]]:
    """Confusion matrices [coder, truth, label], and who is a spammer.

    Honest coders have an accuracy of .6 + .35 Beta(2, 2), which varies by class; half of their
    errors fall on labels that all coders take the class for, half on labels of their own. Of the
    spammers a third label at random, a third say one label (95 %), a third follow the prevalence.
    """
    alike = np.array([np.insert(rng.dirichlet(np.ones(k - 1)), c, 0.0) for c in range(k)])
    spammer = np.zeros(CODERS, dtype=bool)
    spammer[rng.permutation(CODERS)[: round(share * CODERS)]] = True
    rows = np.empty((CODERS, k, k))
    kind = 0
    for j in range(CODERS):
        if spammer[j]:
            one = np.full(k, 0.05 / (k - 1))
            one[rng.integers(k)] = 0.95
            rows[j] = (np.full(k, 1 / k), one, prevalence)[kind % 3]
            kind += 1
            continue
        accuracy = 0.6 + 0.35 * rng.beta(2, 2)
        for c in range(k):
            right = rng.beta(30 * accuracy, 30 * (1 - accuracy))
            own = np.insert(rng.dirichlet(np.ones(k - 1)), c, 0.0)
            rows[j, c] = (1 - right) * (alike[c] + own) / 2
            rows[j, c, c] += right
    return rows, spammer


@dataclass(frozen=True)
class Hard:
    """How items differ in difficulty.

    Parameters
    ----------
    sd
        Scale of what is taken from the log-odds of the right label.
    freedom
        Degrees of freedom of Student's t; normal if 0.
    careless
        Share of the items to which half of the labels are given at random.
    """

    sd: float = 0.0
    freedom: int = 0
    careless: float = 0.0


def make(
    k: int, per_item: int, share: float, rng: np.random.Generator, hard: Hard | None = None
) -> Made:
    """Make a set: `share` of the items lie between two classes, the first with .3 to .7 of readers.

    Coders are not shared by all items: each item has `per_item` of 50, by their activity.
    """
    prevalence = rng.dirichlet(np.full(k, 5.0))
    ambiguous = np.zeros(ITEMS, dtype=bool)
    ambiguous[rng.permutation(ITEMS)[: round(share * ITEMS)]] = True
    pairs = np.array(list(combinations(range(k), 2)))
    pair = pairs[rng.choice(len(pairs), ITEMS, p=rng.dirichlet(np.ones(len(pairs))))]
    first_share = rng.uniform(0.3, 0.7, ITEMS)
    truth = rng.choice(k, ITEMS, p=prevalence)
    rows, spammer = coders(k, prevalence, 0.2, rng)
    activity = rng.normal(0, 0.4, CODERS)
    records = []
    taken, careless = np.ones(ITEMS), np.zeros(ITEMS, dtype=bool)
    if hard is not None:
        drawn = rng.standard_t(hard.freedom, ITEMS) if hard.freedom else rng.normal(size=ITEMS)
        taken, careless = np.exp(-hard.sd * drawn), rng.random(ITEMS) < hard.careless
    for i in range(ITEMS):
        for j in np.argsort(-(activity + rng.gumbel(size=CODERS)))[:per_item]:
            read = truth[i]
            if ambiguous[i]:
                read = pair[i, 0 if rng.random() < first_share[i] else 1]
            p = rows[j, read].copy()
            if not spammer[j] and hard is not None:
                p[read] *= taken[i]
                p /= p.sum()
            if careless[i] and rng.random() < 0.5:
                p = np.full(k, 1 / k)
            records.append((i, int(j), int(rng.choice(k, p=p))))
    data = am.Annotations.from_records(records, labels=range(k))
    seen = np.array([int(name) for name in data.coders])
    order = np.array([int(name) for name in data.items])
    return Made(data, ambiguous[order], spammer[seen], truth[order], pair[order])


def auc(score: Floats, positive: NDArray[np.bool_]) -> float:
    """Probability that a positive scores above a negative, ties counting half."""
    from scipy.stats import rankdata

    n, m = int(positive.sum()), int((~positive).sum())
    return float((rankdata(score)[positive].sum() - n * (n + 1) / 2) / (n * m))


def bins(p: Floats, positive: NDArray[np.bool_], count: int = 10) -> Floats:
    """Items, sum of probabilities and positives in each tenth of the scale, shape [bin, 3]."""
    where = np.minimum((p * count).astype(int), count - 1)
    columns = [None, p, positive.astype(float)]
    return np.stack([np.bincount(where, c, minlength=count) for c in columns], axis=1)


def calibration_error(table: Floats) -> float:
    """Compute the expected calibration error of a table of :func:`bins`."""
    return float(np.abs(table[:, 1] - table[:, 2]).sum() / table[:, 0].sum())


def entropy_of_votes(data: am.Annotations) -> Floats:
    """Entropy of the vote shares of each item."""
    share = data.votes / np.maximum(data.votes.sum(axis=1, keepdims=True), 1)
    return entropy(share)


def entropy(p: Floats) -> Floats:
    """Entropy of rows, in nats."""
    return np.asarray(-np.where(p > 0, p * np.log(np.maximum(p, 1e-300)), 0.0).sum(axis=1))
