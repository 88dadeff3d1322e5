"""Log-odds that each coder contributed to a label, and votes as text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.summaries.draws import SMALLEST, Draws, per_item
from annomodels.types import Bools, Floats, Ints

SHOWN = 5
STATE_DRAWS = 20  # draws for the contributions of coders if items have states
WORTH_SAYING = 0.5  # log-odds from which the prevalence is listed with the coders


class Evidence(NamedTuple):
    """Log-odds that each coder contributed to each item, and prior log-odds, [item]."""

    item: Ints
    coder: Ints
    value: Floats
    prior: Floats


def mean_log(draws: Draws, block: int = 64) -> tuple[Floats, Floats]:
    """Return posterior means of log prevalence [truth] and log confusion [coder, truth, label]."""
    total = np.zeros(draws.confusion.shape[1:])
    for first in range(0, len(draws), block):
        part = draws.confusion[first : first + block]
        total += np.log(np.maximum(part, SMALLEST)).sum(axis=0)
    prevalence = np.log(np.maximum(draws.prevalence, SMALLEST)).mean(axis=0)
    return prevalence, total / len(draws)


def contributions(draws: Draws, data: Annotations, first: Ints, second: Ints) -> Evidence:
    """Compute posterior-mean log-odds of one label against another, coder by coder."""
    # If items have states, a contribution is the fall of the log-odds without the coder.
    begins = runs(data)
    at = np.flatnonzero(begins)
    item, coder = data.item[at].astype(np.int64), data.coder[at].astype(np.int64)
    if draws.states is not None:
        value, prior = _left_out(draws, data, first, second, np.cumsum(begins) - 1)
        return Evidence(item, coder, value, prior)
    log_prevalence, log_confusion = mean_log(draws)
    for_first = log_confusion[data.coder, first[data.item], data.label]
    value = for_first - log_confusion[data.coder, second[data.item], data.label]
    prior = log_prevalence[first] - log_prevalence[second]
    return Evidence(item, coder, np.add.reduceat(value, at), prior)


def runs(data: Annotations) -> Bools:
    """Mark the first label of each coder on each item."""
    begins = np.ones(len(data), dtype=bool)
    begins[1:] = (data.item[1:] != data.item[:-1]) | (data.coder[1:] != data.coder[:-1])
    return begins


def _left_out(
    draws: Draws, data: Annotations, first: Ints, second: Ints, part: Ints
) -> tuple[Floats, Floats]:
    """Return the mean fall of the log-odds without each coder, and the prior log-odds."""
    n = int(part[-1]) + 1 if len(part) else 0
    value, prior = np.zeros(n), np.zeros(data.n_items)
    owner = np.zeros(n, dtype=np.int64)
    owner[part] = data.item
    kinds = draws.kinds_of(data)
    used = np.unique(np.linspace(0, len(draws) - 1, STATE_DRAWS).astype(int))
    for step in used:
        share = draws.log_share(int(step), kinds)
        emission = np.log(np.maximum(draws.emission[step], SMALLEST))
        truth = draws.truth(step)
        each = emission[data.coder, :, data.label]
        of_part = np.zeros((n, share.shape[1]))
        np.add.at(of_part, part, each)
        whole = per_item(each, data.starts) + share
        with_all = _log_odds(whole, truth, first, second)
        without = _log_odds(whole[owner] - of_part, truth, first[owner], second[owner])
        value += with_all[owner] - without
        prior += _log_odds(np.broadcast_to(share, whole.shape), truth, first, second)
    return value / len(used), prior / len(used)


def _log_odds(logp: Floats, truth: Floats, first: Ints, second: Ints) -> Floats:
    """Return the log-odds of two truths from log weights of the states, shape [row]."""
    p = np.exp(logp - logp.max(axis=1, keepdims=True)) @ truth
    rows = np.arange(len(p))
    out: Floats = np.log(np.maximum(p[rows, first], SMALLEST))
    return out - np.log(np.maximum(p[rows, second], SMALLEST))


def why_text(evidence: Evidence, data: Annotations) -> list[str]:
    """List the largest contributions to each item, such as "ana +2.1, ben -0.7"."""
    order = np.lexsort((-np.abs(evidence.value), evidence.item))
    starts = np.searchsorted(evidence.item[order], np.arange(data.n_items + 1))
    coder, value = evidence.coder[order].tolist(), evidence.value[order].tolist()
    starts, texts = starts.tolist(), []
    for begin, end, prior in zip(starts[:-1], starts[1:], evidence.prior, strict=True):
        some = range(begin, min(end, begin + SHOWN))
        parts = [f"{data.coders[coder[n]]} {value[n]:+.1f}" for n in some]
        parts += [f"{end - begin - SHOWN} more"] * (end - begin > SHOWN)
        parts += [f"prevalence {prior:+.1f}"] * int(abs(prior) >= WORTH_SAYING)
        texts.append(", ".join(parts))
    return texts


def votes_text(data: Annotations) -> list[str]:
    """List the votes of each item, most frequent first, such as "4 × pos, 1 × neg"."""
    names = [label_text(name) for name in data.labels]
    patterns, which = np.unique(data.votes, axis=0, return_inverse=True)
    texts = []
    for row in patterns:
        order = np.argsort(-row, kind="stable")
        texts.append(", ".join(f"{row[k]} × {names[k]}" for k in order if row[k]))
    return [texts[p] for p in which.ravel().tolist()]


def majority(votes: Ints) -> Ints:
    """Return the label with the most votes, -1 on a tie or without votes, shape [item]."""
    most = votes.max(axis=1, keepdims=True)
    unique = (votes == most).sum(axis=1) == 1
    return np.where(unique, votes.argmax(axis=1), -1)
