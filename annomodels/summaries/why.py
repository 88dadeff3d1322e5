"""Reasons for gold labels: votes, and log-odds contributed by prevalence and each coder."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import columns
from annomodels.data.names import label_text, places_of
from annomodels.data.summary import Summary
from annomodels.models.base import n_states
from annomodels.summaries.draws import (
    SMALLEST,
    Draws,
    interval,
    model_of,
    only,
    per_item,
    stacked,
    thinned,
    truth_probabilities,
)
from annomodels.summaries.notes import say
from annomodels.types import Bools, Floats, Ints

SHOWN = 5
MOST_DRAWS, FEWEST_DRAWS = 500, 50
# draws times labels at most: all parts fit in memory, and states of items take two seconds
WORK, STATES_WORK = 2**25, 2**21
RIVAL_DRAWS = 50  # only the order of P(truth) counts
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


def reason_draws(tree: xr.DataTree, data: Annotations) -> Draws:
    """Return the draws over which all tables and pages average reasons."""
    work = STATES_WORK if n_states(model_of(tree), data.n_labels) else WORK
    return thinned(tree, data, int(np.clip(work // max(len(data), 1), FEWEST_DRAWS, MOST_DRAWS)))


def runner_up(tree: xr.DataTree, data: Annotations, p: Floats, items: Ints) -> Ints:
    """Return the second label of some items; the most probable other one if the truth is known."""
    second = np.argsort(-p[items], axis=1, kind="stable")[:, min(1, p.shape[1] - 1)]
    known = np.flatnonzero(data.known[items] >= 0)
    if len(known):
        drawn = truth_probabilities(thinned(tree, data, RIVAL_DRAWS), only(data, items[known]))
        alone = np.sum([each for _, each in drawn], axis=0)
        alone[np.arange(len(known)), data.known[items[known]]] = -np.inf
        second[known] = alone.argmax(axis=1)
    return second


def contributions(draws: Draws, data: Annotations, first: Ints, second: Ints) -> Evidence:
    """Compute posterior-mean log-odds of one label against another, coder by coder."""
    at = np.flatnonzero(runs(data))
    value, prior = parts_of(draws, data, first, second)
    item, coder = data.item[at].astype(np.int64), data.coder[at].astype(np.int64)
    return Evidence(item, coder, np.add.reduceat(value, at), prior)


def parts_of(draws: Draws, data: Annotations, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """Return the mean part of each label in the log-odds, and the prior log-odds of each item."""
    if draws.states is not None:
        return _of_states(draws, data, first, second)
    log_prevalence, log_confusion = mean_log(draws)
    for_first = log_confusion[data.coder, first[data.item], data.label]
    value = for_first - log_confusion[data.coder, second[data.item], data.label]
    return value, log_prevalence[first] - log_prevalence[second]


def runs(data: Annotations) -> Bools:
    """Mark the first label of each coder on each item."""
    begins = np.ones(len(data), dtype=bool)
    begins[1:] = (data.item[1:] != data.item[:-1]) | (data.coder[1:] != data.coder[:-1])
    return begins


def _of_states(draws: Draws, data: Annotations, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    value, prior = np.zeros(len(data)), np.zeros(data.n_items)
    kinds = draws.kinds_of(data)
    for step in range(len(draws)):
        each = np.log(np.maximum(draws.emission[step], SMALLEST))[data.coder, :, data.label]
        whole = per_item(each, data.starts)
        share = np.broadcast_to(draws.log_share(step, kinds), whole.shape)
        truth = np.log(np.maximum(draws.truth(step), NEVER)).T
        path = Path(share, whole, truth[first], truth[second])
        part = np.einsum("ns,ns->n", path.shift()[data.item], each)
        missed = path.change - per_item(part, data.starts)
        value += part + (missed / np.maximum(np.diff(data.starts), 1))[data.item]
        prior += path.prior
    return value / len(draws), prior / len(draws)


class Path(NamedTuple):
    r"""Weights of the states of rows as the weight t of all labels goes from 0 to 1.

    Label n adds to the log-odds of truth a against b (Aumann & Shapley)

    .. math:: \int_0^1 E_{q_a(t)}[\log \theta_{j_n, s, y_n}]
              - E_{q_b(t)}[\log \theta_{j_n, s, y_n}] \, dt.
    """

    share: Floats  # log P(state), [row, state]
    labels: Floats  # log P(labels | state), [row, state]
    first: Floats  # log P(a | state), [row, state]
    second: Floats  # log P(b | state), [row, state]

    def shift(self) -> Floats:
        """Return the integral of q_a(t) - q_b(t), [row, state]."""
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        out = np.zeros_like(self.labels)
        for t, width in zip((nodes + 1) / 2, weights / 2, strict=True):
            score = self.share + t * self.labels
            out += width * _normalized(score + self.first)[0]
            out -= width * _normalized(score + self.second)[0]
        return out

    def log_odds(self, score: Floats) -> Floats:
        """Return the log-odds of a against b, given log weights of the states."""
        return _normalized(score + self.first)[1] - _normalized(score + self.second)[1]

    @property
    def prior(self) -> Floats:
        """Log-odds without the labels, [row]."""
        return self.log_odds(self.share)

    @property
    def change(self) -> Floats:
        """Change of the log-odds from no labels to all labels, [row]."""
        return self.log_odds(self.share + self.labels) - self.prior


def _normalized(score: Floats) -> tuple[Floats, Floats]:
    """Return exp(score) divided by its sum over the last axis, and the log of that sum."""
    top = score.max(axis=-1, keepdims=True)
    # exponentials that are nearly 0, and not quite, take a hundred times as long
    weight = np.exp(np.maximum(score - top, -600.0))
    total = weight.sum(axis=-1, keepdims=True)
    return weight / total, (top + np.log(total))[..., 0]


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


PREVALENCE, SUM = "(prevalence)", "(sum)"
PARTS = ["item", "label", "runner_up", "probability", "source", "said", "log_odds", "low", "high"]
NODES = 16  # of the Gauss-Legendre rule: on three fits, errors of log-odds are below .0003
NEVER = np.finfo(float).tiny  # stands for a probability of 0, which has no logarithm


COLUMNS = columns(
    "item label runner_up source said", ALL["log_odds"].called("Log-odds", interval=("low", "high"))
)


def why(
    tree: xr.DataTree, data: Annotations, items: Hashable | Iterable[Hashable] | None = None
) -> Summary:
    r"""Decompose the log-odds of gold labels into prevalence and coders.

    For the label a, the runner-up b and the labels y, on each draw

    .. math:: \log \frac{P(a \mid y)}{P(b \mid y)} = \log \frac{\pi_a}{\pi_b}
              + \sum_n \log \frac{\theta_{j_n, a, y_n}}{\theta_{j_n, b, y_n}} .

    Rows are means over the draws; the last row of an item is the sum.
    """
    p = tree["truth"].to_dataset()["p_truth"].values
    best, vote = p.argmax(axis=1), majority(data.votes)
    overturned = np.flatnonzero((vote >= 0) & (vote != best))
    chosen = overturned if items is None else places_of(data.items, items, "item")
    against = runner_up(tree, data, p, chosen)
    draws = reason_draws(tree, data)
    rows: list[dict[str, object]] = []
    held = []
    for i, second in zip(chosen.tolist(), against.tolist(), strict=True):
        first = int(best[i])
        names, said, drawn = _take_apart(draws.of_item(data, i), data, i, first, second)
        low, high = interval(drawn)
        about = {
            "item": data.items[i],
            "label": data.labels[first],
            "runner_up": data.labels[second],
            "probability": float(p[i, first]),
        }
        parts = zip(names, said, drawn.mean(axis=0), low, high, strict=True)
        rows += [about | dict(zip(PARTS[4:], part, strict=True)) for part in parts]
        held.append(drawn)
    given = [data.items[i] for i in chosen if data.known[i] >= 0]
    values = np.concatenate(held, axis=1) if held else np.empty((len(draws), 0))
    texts = {
        word: ("part", np.array([label_text(row[word]) for row in rows], dtype=object))
        for word in ("item", "source")
    }
    return Summary(
        "Why: log-odds of the gold label against the runner-up",
        pd.DataFrame(rows, columns=PARTS),
        xr.Dataset({"log_odds": (("sample", "part"), values)}, coords=texts),
        _notes(tree, len(overturned) if items is None else None, data.n_items, given),
        COLUMNS,
    )


def _take_apart(
    draws: Draws, data: Annotations, i: int, first: int, second: int
) -> tuple[list[str], list[str], Floats]:
    """Return names of the parts, labels given, and draws of the log-odds, [sample, part]."""
    rows = slice(int(data.starts[i]), int(data.starts[i + 1]))
    coder, label = data.coder[rows], data.label[rows]
    emitted = draws.emission[:, coder, :, label].transpose(1, 0, 2)
    logp = np.log(np.maximum(emitted, SMALLEST))
    each, prior = along_the_path(draws, logp, first, second)
    named = np.array(list(dict.fromkeys(coder.tolist())), dtype=np.int64)
    values = each @ (coder[:, None] == named)
    order = np.argsort(-np.abs(values.mean(axis=0)), kind="stable")
    total = values.sum(axis=1) + prior
    said = [", ".join(label_text(data.labels[k]) for k in label[coder == j]) for j in named]
    return (
        [*(label_text(data.coders[named[n]]) for n in order), PREVALENCE, SUM],
        [*(said[n] for n in order), "", ""],
        np.column_stack([values[:, order], prior, total]),
    )


def _notes(
    tree: xr.DataTree, overturned: int | None, n_items: int, given: list[object]
) -> tuple[str, ...]:
    notes = [] if overturned is None else [say("overturned", n=overturned, of=n_items)]
    if given:
        notes.append(say("known_replaces", names=list(map(label_text, given))))
    notes.append(say("logarithms"))
    return (*notes, say("why_stack")) if stacked(tree) is not None else tuple(notes)


def along_the_path(draws: Draws, logp: Floats, first: int, second: int) -> tuple[Floats, Floats]:
    """Return the parts of an item's labels in its log-odds, [sample, label], and the prior ones."""
    truth = np.log(np.maximum([draws.truth(n) for n in range(len(draws))], NEVER))
    share = np.log(np.maximum(draws.share, SMALLEST))
    path = Path(share, logp.sum(axis=1), truth[:, :, first], truth[:, :, second])
    out = np.einsum("ds,dns->dn", path.shift(), logp)
    missed = path.change - out.sum(axis=1)
    return out + missed[:, None] / max(logp.shape[1], 1), path.prior
