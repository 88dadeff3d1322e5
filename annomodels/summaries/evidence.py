"""Which coder spoke for a label and which against it: log-odds, and votes in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annomodels.annotations import Annotations
from annomodels.names import label_text
from annomodels.summaries.draws import SMALLEST, Draws

__all__ = ["Evidence", "contributions", "majority", "mean_log", "votes_text", "why_text"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHOWN = 5
WORTH_SAYING = 0.5  # log-odds from which the prevalence is named beside the coders


class Evidence:
    """Log-odds that each coder contributed to each item.

    Parameters
    ----------
    item, coder
        Codes; a coder who labelled an item twice stands there once, shape [part].
    value
        Log-odds for the first label against the second, shape [part].
    prior
        Log-odds that the prevalence contributes, shape [item].
    """

    def __init__(self, item: Ints, coder: Ints, value: Floats, prior: Floats) -> None:
        self.item, self.coder, self.value, self.prior = item, coder, value, prior


def mean_log(draws: Draws, block: int = 64) -> tuple[Floats, Floats]:
    """Posterior means of log prevalence [truth] and log confusion [coder, truth, label]."""
    total = np.zeros(draws.confusion.shape[1:])
    for first in range(0, len(draws), block):
        part = draws.confusion[first : first + block]
        total += np.log(np.maximum(part, SMALLEST)).sum(axis=0)
    prevalence = np.log(np.maximum(draws.prevalence, SMALLEST)).mean(axis=0)
    return prevalence, total / len(draws)


def contributions(draws: Draws, data: Annotations, first: Ints, second: Ints) -> Evidence:
    """Posterior-mean log-odds of one label against another, coder by coder.

    For annotation n of item i: E[log confusion[coder_n, first_i, y_n]
    - log confusion[coder_n, second_i, y_n]].

    Parameters
    ----------
    draws
        Draws of the parameters.
    data
        The labels.
    first, second
        The two classes that are compared, shape [item].
    """
    log_prevalence, log_confusion = mean_log(draws)
    for_first = log_confusion[data.coder, first[data.item], data.label]
    value = for_first - log_confusion[data.coder, second[data.item], data.label]
    prior = log_prevalence[first] - log_prevalence[second]
    begins = np.ones(len(data), dtype=bool)
    begins[1:] = (data.item[1:] != data.item[:-1]) | (data.coder[1:] != data.coder[:-1])
    at = np.flatnonzero(begins)
    item, coder = data.item[at].astype(np.int64), data.coder[at].astype(np.int64)
    return Evidence(item, coder, np.add.reduceat(value, at), prior)


def why_text(evidence: Evidence, data: Annotations) -> list[str]:
    """For each item its largest contributions, such as "ana +2.1, ben -0.7"."""
    order = np.lexsort((-np.abs(evidence.value), evidence.item))
    item = evidence.item[order]
    starts = np.searchsorted(item, np.arange(data.n_items + 1))
    rank = np.arange(len(item)) - starts[item]
    kept = rank < SHOWN
    names = [str(name) for name in data.coders]
    coders, values = evidence.coder[order][kept].tolist(), evidence.value[order][kept].tolist()
    parts: list[list[str]] = [[] for _ in range(data.n_items)]
    for i, j, value in zip(item[kept].tolist(), coders, values, strict=True):
        parts[i].append(f"{names[j]} {value:+.1f}")
    left = np.diff(starts) - SHOWN
    for i in np.flatnonzero(left > 0).tolist():
        parts[i].append(f"{left[i]} more")
    for i in np.flatnonzero(np.abs(evidence.prior) >= WORTH_SAYING).tolist():
        parts[i].append(f"prevalence {evidence.prior[i]:+.1f}")
    return [", ".join(part) for part in parts]


def votes_text(data: Annotations) -> list[str]:
    """Votes of each item in words, most first, such as "pos 4, neg 1"."""
    names = [label_text(name) for name in data.labels]
    patterns, which = np.unique(data.votes, axis=0, return_inverse=True)
    texts = []
    for row in patterns:
        order = np.argsort(-row, kind="stable")
        texts.append(", ".join(f"{names[k]} {row[k]}" for k in order if row[k]))
    return [texts[p] for p in which.ravel().tolist()]


def majority(votes: Ints) -> Ints:
    """Find the label with the most votes, -1 on a tie or without votes, shape [item].

    Examples
    --------
    >>> majority(np.array([[3, 1], [2, 2], [0, 0]]))
    array([ 0, -1, -1])
    """
    most = votes.max(axis=1, keepdims=True)
    unique = (votes == most).sum(axis=1) == 1
    return np.where(unique, votes.argmax(axis=1), -1)
