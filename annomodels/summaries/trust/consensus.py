"""Consensus of coders from labels alone: a fast Dawid-Skene estimate as a reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from annomodels.data.annotations import Annotations
from annomodels.summaries.draws import choices, per_item
from annomodels.types import Floats, Ints

ROUNDS, CELLS, DRAWS = 30, 20_000_000, 40
# pseudo-counts of each row of a coder: from the crowd, uniform, and on the diagonal
CROWD, FLAT, DIAGONAL = 3.0, 0.1, 2.0
# leave-one-coder-out probability from which an item is settled
SETTLED = 0.8


@dataclass(frozen=True, eq=False)
class Consensus:
    """Classes of items by EM, without known truth and repeats."""

    data: Annotations  # the labels, the first of each coder on an item
    p: Floats  # P(class), shape [item, class]
    others: Floats  # P(class) from the other coders, shape [annotation, class]
    confusion: Floats  # shape [coder, class, label]
    prevalence: Floats  # shape [class]

    def uneven(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw the dispersion of errors over items, observed and with independent errors.

        See :func:`annomodels.summaries.trust.discrepancies.error_dispersion`.
        """
        data, out = self.data, np.zeros((2, DRAWS))
        for draw in range(DRAWS):
            truth = choices(self.p, rng.random(data.n_items))[data.item]
            rows = self.confusion[data.coder, truth]
            right = rows[np.arange(len(truth)), truth]
            for n, label in enumerate((data.label, choices(rows, rng.random(len(truth))))):
                excess = per_item((label != truth) - (1.0 - right), data.starts)
                out[n, draw] = (excess**2).sum() / max(float((right * (1 - right)).sum()), 1e-9)
        return out[0], out[1]

    @property
    def settled(self) -> Ints:
        """Class settled by the other coders, -1 if none, shape [annotation]."""
        return np.where(self.others.max(axis=1) >= SETTLED, self.others.argmax(axis=1), -1)

    @property
    def counts(self) -> Ints:
        """Counts of labels on items settled by other coders, shape [coder, class, label]."""
        n, k = self.data.n_coders, self.data.n_labels
        rows = np.flatnonzero(self.settled >= 0)
        cell = (self.data.coder[rows].astype(np.int64) * k + self.settled[rows]) * k
        return np.bincount(cell + self.data.label[rows], minlength=n * k * k).reshape(n, k, k)


def consensus(data: Annotations) -> Consensus | None:
    """Estimate the classes of items; None if the confusion matrices are too large."""
    n, k = data.n_coders, data.n_labels
    if n * k * k > CELLS or k < 2:
        return None
    data = data.without_repeats() if data.repeats else data
    item, coder, label = (np.asarray(x, np.int64) for x in (data.item, data.coder, data.label))
    p: Floats = (data.votes + FLAT) / (data.votes + FLAT).sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        cell = coder * k + label
        by_class = [np.bincount(cell, p[item, c], n * k).reshape(n, k) for c in range(k)]
        counts = np.stack(by_class, axis=1)
        crowd = counts.sum(axis=0) + FLAT + DIAGONAL * np.eye(k)
        confusion = counts + CROWD * crowd / crowd.sum(axis=1, keepdims=True)
        confusion /= confusion.sum(axis=2, keepdims=True)
        prevalence = (p.sum(axis=0) + 1.0) / (len(p) + k)
        each = np.log(confusion[coder, :, label])
        log_p = np.stack([np.bincount(item, each[:, c], len(p)) for c in range(k)], axis=1)
        log_p += np.log(prevalence)
        p = np.asarray(softmax(log_p, axis=1))
    return Consensus(
        data, p, np.asarray(softmax(log_p[item] - each, axis=1)), confusion, prevalence
    )
