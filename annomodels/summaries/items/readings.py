"""Evidence for two readings of an item rather than one, with its p-value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.summaries.draws import (
    SMALLEST,
    Draws,
    choices,
    draw_labels,
    per_item,
    state_probabilities,
)
from annomodels.types import Floats, Ints

Codes = NDArray[np.integer]

FIRST = 50  # draws after which items with a large p-value are dropped
STILL_OPEN = 0.2


class TwoReadings:
    """Log evidence that each coder saw one of two readings, against one truth for all coders."""

    # T(y) = sum_n log((confusion[coder_n, a, y_n] + confusion[coder_n, b, y_n]) / 2)
    #      - log sum_k prevalence_k prod_n confusion[coder_n, k, y_n]
    # for the labels y of an item, at posterior means; a and b are the classes with most support:
    # each label spreads one vote over the truths in proportion to P(truth | label)

    def __init__(self, draws: Draws) -> None:
        confusion, prevalence = draws.confusion.mean(axis=0), draws.prevalence.mean(axis=0)
        self.n_labels = confusion.shape[2]
        by_label = np.maximum(confusion, SMALLEST).transpose(0, 2, 1)
        self.likelihood = np.ascontiguousarray(by_label).reshape(-1, len(prevalence))
        votes = self.likelihood * prevalence
        self.votes = votes / votes.sum(axis=1, keepdims=True)
        self.log_likelihood = np.log(self.likelihood)
        self.log_prevalence = np.log(np.maximum(prevalence, SMALLEST))

    def __call__(self, coder: Codes, label: Codes, starts: Ints) -> Floats:
        """Return T for each item, shape [item]; `starts` are the offsets of its labels."""
        row = coder.astype(np.int64) * self.n_labels + label
        support = per_item(self.votes[row], starts)
        pair = np.argsort(-support, axis=1, kind="stable")[:, :2]
        item = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        width = self.likelihood.shape[1]
        flat, at = self.likelihood.ravel(), row * width
        either = flat[at + pair[item, 0]] + flat[at + pair[item, -1]]
        two = per_item(np.log(either / 2), starts)
        one = per_item(self.log_likelihood[row], starts) + self.log_prevalence
        top = one.max(axis=1)
        out: Floats = two - top - np.log(np.exp(one - top[:, None]).sum(axis=1))
        return out


def surprise(
    draws: Draws, data: Annotations, rng: np.random.Generator, tie: float = 1e-9
) -> tuple[Floats, Floats]:
    """Return the posterior predictive p-value of two readings per item, and the statistic."""
    # Items with the same labels by the same coders share replicates; after FIRST draws, only items
    # with a small p-value continue.
    evidence = TwoReadings(draws)
    n = np.diff(data.starts)
    observed = evidence(data.coder, data.label, data.starts)
    group = _same_labels(data, rng, draws.kinds_of(data))
    size = int(group.max()) + 1
    as_large, tried = np.zeros(size), np.zeros(size)
    going = np.flatnonzero(n > 0)
    coder, starts = data.coder, data.starts[np.append(going, data.n_items)]
    for step, p in state_probabilities(draws, data):
        if step == FIRST:
            going = going[(as_large <= STILL_OPEN * tried)[group[going]]]
            coder = data.coder[np.isin(data.item, going)]
            starts = np.concatenate([[0], np.cumsum(n[going])])
        if not len(going):
            break
        state = choices(p[going], rng.random(len(going)))
        label = draw_labels(draws.emission[step], coder, np.repeat(state, n[going]), rng)
        large = evidence(coder, label, starts) >= observed[going] - tie
        as_large += np.bincount(group[going], large, size)
        tried += np.bincount(group[going], minlength=size)
    out = ((1 + as_large) / (1 + tried))[group]
    out[n == 0] = observed[n == 0] = np.nan
    return out, observed


def _same_labels(
    data: Annotations, rng: np.random.Generator, kinds: Ints | None
) -> NDArray[np.intp]:
    """Assign group numbers to items of one kind with the same labels by the same coders."""
    size = data.n_coders * data.n_labels
    marks = rng.integers(0, 2**63, size=size, dtype=np.uint64)
    row = data.coder.astype(np.int64) * data.n_labels + data.label
    key = np.zeros(data.n_items, dtype=np.uint64)
    np.add.at(key, data.item, marks[row])
    if data.gold is not None:
        key += rng.integers(0, 2**63, size=data.n_labels + 1, dtype=np.uint64)[data.gold]
    if kinds is not None:
        key += rng.integers(0, 2**63, size=int(kinds.max()) + 1, dtype=np.uint64)[kinds]
    return np.unique(key, return_inverse=True)[1]
