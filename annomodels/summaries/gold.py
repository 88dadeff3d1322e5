"""Gold standard: label, probability and reasons of every item, and expected wrong labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import Column, columns
from annomodels.data.html import Html
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import NotApplicable
from annomodels.limits import SETTLED
from annomodels.models.catalog import is_stack
from annomodels.models.mixtures.stack import Dependence, Stack
from annomodels.summaries.draws import (
    choices,
    interval,
    model_of,
    stacked,
    truth_draws,
    two_readings,
)
from annomodels.summaries.items import states
from annomodels.summaries.notes import say
from annomodels.summaries.skills import doubtful, signal
from annomodels.summaries.trust.findings import signal_finding
from annomodels.summaries.trust.known_truth import (
    CONTRADICTED,
    contradicted,
    known_truth_finding,
)
from annomodels.summaries.why import contributions, majority, reason_draws, votes_text, why_text
from annomodels.types import Floats, Ints

OVERCONFIDENT = "Such probabilities are overconfident if items differ in difficulty."

COLUMNS = columns("item label probability state source runner_up votes overturned")
SOURCES = ("model", "truth", "audit", "decision")


def gold(
    tree: xr.DataTree,
    data: Annotations,
    wrong: Wrong | None = None,
    threshold: float | None = None,
) -> Summary:
    """Tabulate the most probable label of every item with its probability and reasons."""
    limit = SETTLED if threshold is None else threshold
    if not 0 <= limit <= 1:
        raise NotApplicable(f"The threshold is {limit}. Give a probability between 0 and 1.")
    draws = tree["truth"].to_dataset()
    p = draws["p_truth"].values
    order = np.argsort(-p, axis=1, kind="stable")
    best, second = order[:, 0], order[:, min(1, p.shape[1] - 1)]
    known = data.known
    vote = majority(data.votes)
    why = why_text(contributions(reason_draws(tree, data), data, best, second), data)
    strength = signal(tree, data)
    labels, found = _names(data), states(tree, data, limit)
    table = found.assign(
        label=labels[best],
        source=_sources(tree, data),
        runner_up=labels[np.where(known >= 0, -1, second)],
        votes=votes_text(data),
        overturned=(vote >= 0) & (vote != best),
        why=["known truth" if g >= 0 else text for g, text in zip(known, why, strict=True)],
    )
    names = "item label probability state source runner_up n votes overturned p_contested"
    first, last = names.split(), ["doubt", "reason", "why"]
    # between them are the columns of models whose items have states
    table = table[[*first, *table.columns.difference([*first, *last], sort=False), *last]]
    worst = (CONTRADICTED,) * contradicted(known_truth_finding(tree, data))
    wrong = wrong_labels(tree, data) if wrong is None else wrong
    model = model_of(tree)
    unused = model.unused(data) if is_stack(model) else ""
    more = (*stack_notes(tree), unused) if unused else stack_notes(tree)
    caution = OVERCONFIDENT if stacked(tree) is None else ""
    notes = (*worst, *_notes(data, p, limit, strength, caution, more, wrong))
    return Summary("Gold standard", table, draws, notes, COLUMNS)


def _sources(tree: xr.DataTree, data: Annotations) -> list[str]:
    code = np.where(data.known >= 0, 1, 0)
    if "audit" in tree.children:
        code[tree["audit"].to_dataset()["audited_item"].values] = 2
    entries = json.loads(tree.attrs.get("decisions", "[]"))
    decided = {name for name, entry in entries if not entry.get("skip")}
    if decided:
        code[[label_text(name) in decided for name in data.items]] = 3
    return [SOURCES[k] for k in code]


def _names(data: Annotations) -> NDArray[np.object_]:
    """Return the labels as objects, plus an empty string for the code -1."""
    names = np.empty(data.n_labels + 1, dtype=object)
    names[:-1] = data.labels
    names[-1] = ""
    return names


def _notes(
    data: Annotations,
    p: Floats,
    limit: float,
    strength: Floats,
    caution: str,
    more: tuple[str, ...],
    w: Wrong,
) -> tuple[str, ...]:
    n = int((p.max(axis=1) >= limit).sum())
    words = {"verb": "is" if round(w.gold) == 1 else "are", "audit": " by the audit" * w.by_audit}
    words["ends"] = f" (95 % interval {w.gold_low:,.0f} to {w.gold_high:,.0f})"
    words["ends"] *= bool(np.isfinite(w.gold_low))
    first = say("wrong", n=w.n, wrong=w.gold, vote=w.vote, caution=caution, **words)
    notes = [first.rstrip(), str(say("kept", n=n, of=data.n_items, limit=limit))]
    if known := int((data.known >= 0).sum()):
        notes.append(say("known", n=known, of=data.n_items))
    if two := data.n_items - known - w.n:
        notes.append(say("two_readings", n=two))
    notes += more
    if doubtful(strength):
        weak = signal_finding(strength).sentence
        notes.append(say("no_signal", weak=weak))
    return tuple(notes)


def mixture_note(tree: xr.DataTree) -> str:
    """Describe the mixture behind P(truth); empty without a stack."""
    stack = stacked(tree)
    if stack is None:
        return ""
    model, about = cast("Stack", model_of(tree)), Dependence(**json.loads(tree.attrs["dependence"]))
    told = "gold" in tree["observed_data"].to_dataset()
    taught = "the known truth" if told else "public data sets with known truth"
    unknown, rho = float(stack.unknown.sum(axis=1).mean()), about.correlation
    words = {"votes": model.together(rho), "correlation": rho, "unknown": unknown}
    return say("mixture", hard=about.hard, taught=taught, **words)


def stack_notes(tree: xr.DataTree) -> tuple[str, ...]:
    """Note whether a stack treated coders as exchangeable, and which coders copy."""
    if stacked(tree) is None:
        return ()
    notes = []
    if json.loads(tree.attrs["dependence"])["exchangeable"]:
        notes.append(say("exchangeable"))
    names = tree["posterior"].to_dataset()["coder"].values
    for group in json.loads(tree.attrs.get("copies", "[]")):
        first, *others = (str(names[j]) for j in group)
        notes.append(say("copies", others=", ".join(others), n=len(others), first=first))
    return tuple(notes)


LIMITS = (0.0, 0.5, 0.8, 0.9, SETTLED, 0.99)
_DRAWS = 400
_CELLS = 20_000_000  # items x classes x draws: about one second
_GRID = 200  # points of the curve

CURVE = columns(
    Column(
        "threshold", "Probability", "name",
        of=lambda row: f"≥ {row.threshold:g}" if row.threshold else "all items",
    ),
    "kept",
    ALL["share"].called("Share of items"),
    ALL["accuracy"].called("Expected accuracy", digits=3, bar=False),
    Column("wrong", "Expected wrong", "quantity", of=lambda row: round(float(row.wrong))),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Wrong(Html):
    """Posterior number of wrong labels for the gold standard and the majority vote."""

    n: int  # number of items without known truth
    gold: float  # expected number of wrong gold labels and its 95 % interval
    gold_low: float
    gold_high: float
    vote: float = np.nan  # the same for the majority vote
    vote_low: float = np.nan
    vote_high: float = np.nan
    # number of these items compared with true labels that the fit did not use
    tested: int = 0
    by_audit: bool = False  # whether the number comes from an audit
    # sizes of the sets of highest-probability items: one per threshold, then the points of the
    # curve, the last with all items; and the smallest probability in each set
    first: Ints = field(default_factory=lambda: np.empty(0, dtype=int))
    probability: Floats = field(default_factory=lambda: np.empty(0))
    # expected wrong gold labels in each set, shape [point], and counts under replicated truths,
    # shape [draw, point]
    errors: Floats = field(default_factory=lambda: np.empty(0))
    counts: Floats = field(default_factory=lambda: np.empty(0))

    def __repr__(self) -> str:
        gold = f"{self.gold:.1f} ({self.gold_low:.0f} to {self.gold_high:.0f})"
        vote = f"{self.vote:.1f} ({self.vote_low:.0f} to {self.vote_high:.0f})"
        return f"Wrong labels expected among {self.n:,}: gold {gold}, majority vote {vote}"


def wrong_labels(
    tree: xr.DataTree, data: Annotations, known: Mapping[Any, Any] | None = None
) -> Wrong:
    """Count wrong labels on replicated truths, one for each posterior draw."""
    # All counts of wrong labels come from here. For a stack, the engine counts on every draw; after
    # an audit, the count is the audit's estimate. Labels are compared with `known` truth if given.
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
    vote = float((1 - (believed * by_vote_of(data)).sum(axis=1))[unknown].sum())
    counts, votes = _replicated(tree, data, order, first, best, np.where(unknown, truth, -1))
    # the engine also counted items with two readings by decision
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


def by_vote_of(data: Annotations) -> Floats:
    """Return P(majority vote is the label), ties broken at random, shape [item, label]."""
    winners = data.votes == data.votes.max(axis=1, keepdims=True)
    return np.asarray(winners / winners.sum(axis=1, keepdims=True))


def _replicated(
    tree: xr.DataTree, data: Annotations, order: Ints, first: Ints, best: Ints, known: Ints
) -> tuple[Floats, Floats]:
    """Count wrong gold labels in each set, [draw, point], and wrong votes, [draw]."""
    most = max(40, min(_DRAWS, _CELLS // max(data.n_items * data.n_labels, 1)))
    _, beliefs = truth_draws(tree, data, most)
    rng, by_vote = np.random.default_rng(0), by_vote_of(data)
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
    """Return the 95 % interval of wrong labels for an expert who reads as coders do.

    The data set effect, the distance between crowd and expert, is set to that of the median data
    set. None if the model has no data set effect.
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
    r"""Tabulate the expected accuracy of gold labels against the share of items kept.

    For the n items with the largest :math:`p_i = \max_k P(t_i = k \mid y)`,

    .. math:: E[\text{accuracy}] = 1 - \frac{W}{\sum_i (1 - p_i)} \,
        \frac{1}{n} \sum_{i \le n} (1 - p_i)

    where :math:`W` is the expected number of wrong labels among all items. Intervals are scaled
    to that of W.
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
    """Return the 95 % interval of wrong labels in each set, including the expected number."""
    low, high = interval(found.counts)
    # scale the ends to the interval of all items, within the number of items
    low *= found.gold_low / low[-1] if low[-1] > 0 else 1.0
    high *= found.gold_high / high[-1] if high[-1] > 0 else 1.0
    whole = found.first == found.n
    low[whole], high[whole] = found.gold_low, found.gold_high
    return np.minimum(low, found.errors), np.clip(high, found.errors, found.first)
