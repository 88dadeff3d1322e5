"""Numbers of wrong gold labels: of all items, and of the highest-probability ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import Column, columns
from annomodels.data.html import Html
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.limits import SETTLED
from annomodels.summaries.draws import choices, interval, two_readings
from annomodels.summaries.stacked import stacked, truth_draws
from annomodels.types import Floats, Ints

LIMITS = (0.0, 0.5, 0.8, 0.9, SETTLED, 0.99)
_DRAWS = 400
_CELLS = 20_000_000  # items x classes x draws to look at: about a second
_GRID = 200  # points of the curve

CURVE = columns(
    Column(
        "threshold", "Probability", "name",
        of=lambda row: f"≥ {row.threshold:g}" if row.threshold else "all items",
    ),
    "kept",
    ALL["share"].called("Share of items"),
    ALL["accuracy"].called("Expected accuracy", digits=3, bar=False),
    Column("wrong", "Expected wrong", "quantity", of=lambda row: round(float(row.wrong), 2)),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Wrong(Html):
    """Posterior of the number of wrong labels, by the gold standard and by majority vote."""

    n: int  # number of items without known truth
    gold: float  # expected number of wrong gold labels and its 95 % interval
    gold_low: float
    gold_high: float
    vote: float = np.nan  # the same of the majority vote
    vote_low: float = np.nan
    vote_high: float = np.nan
    # number of these items whose gold label was compared with truth that the fit was not told
    tested: int = 0
    by_audit: bool = False  # whether the number comes from an audit
    # numbers of the highest-probability items at which labels are counted, the first ones those of
    # the thresholds, the last one all; and the smallest probability among them
    first: Ints = field(default_factory=lambda: np.empty(0, dtype=int))
    probability: Floats = field(default_factory=lambda: np.empty(0))
    # expected wrong gold labels among the first items, shape [point], and those under replicated
    # truths, shape [draw, point]
    errors: Floats = field(default_factory=lambda: np.empty(0))
    counts: Floats = field(default_factory=lambda: np.empty(0))

    def __repr__(self) -> str:
        gold = f"{self.gold:.1f} ({self.gold_low:.0f} to {self.gold_high:.0f})"
        vote = f"{self.vote:.1f} ({self.vote_low:.0f} to {self.vote_high:.0f})"
        return f"Wrong labels expected among {self.n:,}: gold {gold}, majority vote {vote}"


def expected_errors(p_truth: Floats, data: Annotations) -> tuple[float, float]:
    """Expect wrong labels of gold and of the majority vote, ties at random, on open items."""
    unknown = data.known < 0
    p = p_truth[unknown]
    by_vote = (p * _by_vote(data)[unknown]).sum(axis=1)
    return float((1 - p.max(axis=1)).sum()), float((1 - by_vote).sum())


def wrong_labels(
    tree: xr.DataTree, data: Annotations, known: Mapping[Any, Any] | None = None
) -> Wrong:
    """Count wrong labels on replicated truths, one for each posterior draw."""
    # All numbers of wrong labels come from here. Of a stack the engine counted on every draw; after
    # an audit the number is that of the estimate. Labels are compared with `known` truth if it is
    # given.
    p = np.asarray(tree["truth"]["p_truth"].values, dtype=float)
    truth = np.full(data.n_items, -1) if known is None else np.asarray(data.with_truth(known).gold)
    two = two_readings(tree, data)
    unknown = (data.known < 0) & ~two
    at = np.flatnonzero(unknown & (truth >= 0))
    believed = p.copy()
    believed[at] = np.eye(data.n_labels)[truth[at]]
    best, order = p.argmax(axis=1), np.flatnonzero(unknown)
    order = order[np.argsort(-p.max(axis=1)[order], kind="stable")]
    top = p.max(axis=1)[order]
    kept = [int((top >= limit).sum()) for limit in LIMITS]
    grid = np.unique(np.linspace(min(1, len(top)), len(top), _GRID).round().astype(np.int64))
    first = np.concatenate([kept, grid])
    error = 1.0 - believed[np.arange(len(p)), best]
    errors = np.concatenate([[0.0], error[order].cumsum()])[first]
    gold = float(errors[-1])
    vote = float((1 - (believed * _by_vote(data)).sum(axis=1))[unknown].sum())
    counts, votes = _replicated(tree, data, order, first, best, np.where(unknown, truth, -1))
    # the engine counted all items, also those that have two readings by decision
    ends = None if len(at) or two.any() else wrong_interval(tree)
    audited = tree["audit"].attrs if "audit" in tree.children else {}
    if "wrong" in audited:
        gold, ends = float(audited["wrong"]), (audited["wrong_low"], audited["wrong_high"])
        if errors[-1] > 0:
            errors = np.minimum(errors * (gold / errors[-1]), first)
    (low,), (high,) = ((end,) for end in ends) if ends else interval(counts[:, -1:])
    vote_low, vote_high = interval(votes[:, None])
    return Wrong(
        n=len(order),
        gold=gold,
        gold_low=float(min(np.floor(low), gold)),
        gold_high=float(max(np.ceil(high), gold)),
        vote=vote,
        vote_low=float(np.floor(vote_low[0])),
        vote_high=float(np.ceil(vote_high[0])),
        tested=len(at),
        by_audit="wrong" in audited,
        first=first,
        probability=np.append(top, np.nan)[first - 1],
        errors=errors,
        counts=counts,
    )


def _by_vote(data: Annotations) -> Floats:
    """Probability that a vote, ties broken at random, takes each label, shape [item, label]."""
    winners = data.votes == data.votes.max(axis=1, keepdims=True)
    return np.asarray(winners / winners.sum(axis=1, keepdims=True))


def _replicated(
    tree: xr.DataTree, data: Annotations, order: Ints, first: Ints, best: Ints, known: Ints
) -> tuple[Floats, Floats]:
    """Wrong gold labels among the first items, [draw, point], and wrong votes, [draw]."""
    most = max(40, min(_DRAWS, _CELLS // max(data.n_items * data.n_labels, 1)))
    _, beliefs = truth_draws(tree, data, most)
    rng, by_vote = np.random.default_rng(0), _by_vote(data)
    counts, votes = [], []
    for _, p in beliefs:
        truth = np.where(known >= 0, known, choices(p, rng.random(len(p))))
        vote = choices(by_vote, rng.random(len(p)))
        counts.append(np.concatenate([[0], (truth != best)[order].cumsum()])[first])
        votes.append((truth != vote)[order].sum())
    return np.array(counts, dtype=float), np.array(votes, dtype=float)


def wrong_interval(tree: xr.DataTree) -> tuple[int, int] | None:
    """Return the 95 % interval of the number of wrong labels, if the engine counted them."""
    stats = tree["sample_stats"].to_dataset()
    if "wrong" not in stats:
        return None
    low, high = np.quantile(stats["wrong"].values, [0.025, 0.975])
    return int(np.floor(low)), int(np.ceil(high))


def as_coders_read(tree: xr.DataTree, data: Annotations) -> tuple[int, int] | None:
    """Return the 95 % interval of wrong labels if an expert read the question as coders do.

    The distance between the crowd and an expert, an effect of the data set, is then that of the
    median data set. None if the model has no such effect.
    """
    stack = stacked(tree)
    if stack is None or not len(stack.log_q):
        return None
    items = np.flatnonzero((data.known < 0) & ~two_readings(tree, data))
    best = np.asarray(tree["truth"]["p_truth"].values).argmax(axis=1)[items]
    same = stack.typical().at(np.zeros(_DRAWS, dtype=np.int64))
    wrong = same.wrong(items, best, np.random.default_rng(0))
    low, high = np.quantile(wrong, [0.025, 0.975])
    return int(np.floor(low)), int(np.ceil(high))


def coverage(tree: xr.DataTree, data: Annotations, wrong: Wrong | None = None) -> Summary:
    r"""Trade the share of items that are kept for the expected accuracy of their gold labels.

    Of the n items with the largest :math:`p_i = \max_k P(t_i = k \mid y)`,

    .. math:: E[\text{accuracy}] = 1 - \frac{W}{\sum_i (1 - p_i)} \,
        \frac{1}{n} \sum_{i \le n} (1 - p_i)

    with :math:`W` the expected number of wrong labels among all; intervals are scaled to that of W.
    """
    found = wrong_labels(tree, data) if wrong is None else wrong
    first, errors, cut = found.first, found.errors, len(LIMITS)
    fewest, most = _ends(found)
    size = np.where(first > 0, first, np.nan)
    accuracy, low, high = (1 - each / size for each in (errors, most, fewest))
    table = pd.DataFrame(
        {
            "threshold": LIMITS,
            "kept": first[:cut],
            "share": first[:cut] / max(found.n, 1),
            "accuracy": accuracy[:cut],
            "accuracy_low": low[:cut],
            "accuracy_high": high[:cut],
            "wrong": errors[:cut],
        }
    )
    points = slice(cut, None if found.n else cut)
    curve = xr.Dataset(
        {
            "kept": ("point", first[points]),
            "accuracy": ("point", accuracy[points]),
            "low": ("point", low[points]),
            "high": ("point", high[points]),
            "probability": ("point", found.probability[points]),
        }
    )
    known = data.n_items - found.n
    notes = (f"Left out because the label is known: {counted(known, 'item')}.",) if known else ()
    return Summary("Accuracy and coverage of the gold standard", table, curve, notes, CURVE)


def _ends(found: Wrong) -> tuple[Floats, Floats]:
    """95 % interval of the wrong labels among the first items, around what is expected."""
    low, high = interval(found.counts)
    # the ends move as the interval of all items does, and stay within the number of items
    low *= found.gold_low / low[-1] if low[-1] > 0 else 1.0
    high *= found.gold_high / high[-1] if high[-1] > 0 else 1.0
    whole = found.first == found.n
    low[whole], high[whole] = found.gold_low, found.gold_high
    return np.minimum(low, found.errors), np.clip(high, found.errors, found.first)
