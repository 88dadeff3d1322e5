"""The gold standard: a label, its probability and its reasons for every item; how right it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.errors import NotApplicable
from annomodels.summaries.columns import COLUMNS as ALL
from annomodels.summaries.columns import Column, columns
from annomodels.summaries.draws import choices, interval, model_of, thinned
from annomodels.summaries.gold.evidence import contributions, majority, votes_text, why_text
from annomodels.summaries.skills import doubtful, no_signal, signal
from annomodels.summaries.stacked import stacked, truth_draws
from annomodels.summaries.summary import Summary
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    import xarray as xr

    from annomodels.models.mixtures.stack import Stack

DEFAULT_THRESHOLD = 0.95
# R-hat of a member of a stack from which its chains are said to be apart
APART = 1.1
TOO_SURE = "Such probabilities are too sure where items differ in difficulty."
THRESHOLDS = (0.5, 0.8, 0.9, 0.95, 0.99)
_DRAWS = 400
_CELLS = 20_000_000  # items x classes x draws to look at: about a second
_GRID = 200  # points of the curve

COLUMNS = columns("item label probability runner_up votes overturned settled known")
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


def gold(
    tree: xr.DataTree, data: Annotations, threshold: float | None = DEFAULT_THRESHOLD
) -> Summary:
    """Most probable label of every item, how sure it is, and why.

    The label is argmax_k P(truth = k | labels), averaged over the draws. `why` lists what each
    coder contributed to the log-odds of the label against the runner-up,
    E[log confusion[coder, label, y] - log confusion[coder, runner-up, y]], largest first, and
    the part of the prevalence where it counts.

    Returns
    -------
    Summary
        One row per item: item, label, probability, mcse (Monte Carlo error of the probability),
        runner_up, runner_up_probability, n, votes, majority (empty on a tie), overturned (the
        label differs from a majority), settled, known (known gold), why.

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> tree, data = small_fit()
    >>> gold(tree, data).table[["item", "label", "probability", "votes", "why"]].round(3)
      item label  probability         votes                           why
    0   t1   neg        0.973  neg 2, pos 1  ana +2.2, ben +2.2, cem -0.8
    1   t2   pos        0.995         pos 3  ana +2.2, ben +2.2, cem +0.8
    """
    import pandas as pd

    limit = DEFAULT_THRESHOLD if threshold is None else threshold
    if not 0 <= limit <= 1:
        raise NotApplicable(f"The threshold is {limit}. Give a probability between 0 and 1.")
    draws = tree["truth"].to_dataset()
    p = draws["p_truth"].values
    rows = np.arange(data.n_items)
    order = np.argsort(-p, axis=1, kind="stable")
    best, second = order[:, 0], order[:, min(1, p.shape[1] - 1)]
    known = np.full(data.n_items, -1) if data.gold is None else data.gold
    vote = majority(data.votes)
    some = thinned(tree, data, 500)
    why = why_text(contributions(some, data, best, second), data)
    strength = signal(tree, data)
    labels = _names(data)
    probability = p[rows, best]
    table = pd.DataFrame(
        {
            "item": list(data.items),
            "label": labels[best],
            "probability": probability,
            "mcse": draws["p_truth_mcse"].values[rows, best],
            "runner_up": labels[np.where(known >= 0, -1, second)],
            "runner_up_probability": np.where(known >= 0, 0.0, p[rows, second]),
            "n": np.diff(data.starts),
            "votes": votes_text(data),
            "majority": labels[vote],
            "overturned": (vote >= 0) & (vote != best),
            # where all labels look alike, a prevalence near 1 is no knowledge of an item
            "settled": (probability >= limit) & ((known >= 0) | (not doubtful(strength))),
            "known": labels[known],
            "why": ["known gold" if g >= 0 else text for g, text in zip(known, why, strict=True)],
        }
    )
    wrong = audited_wrong(tree), wrong_interval(tree)
    unused = model_of(tree).unused(data)
    stack = (*stack_notes(tree), unused) if unused else stack_notes(tree)
    notes = _notes(data, p, known, limit, strength, stack, *wrong)
    return Summary("Gold standard", table, draws, notes, COLUMNS)


def expected_errors(p_truth: Floats, data: Annotations) -> tuple[float, float]:
    """Expect so many wrong labels: of the most probable label, and of the majority vote.

    A tied vote counts as a choice at random among the labels that tie. Items of known gold are
    left out.

    >>> from annomodels.summaries.examples import small_fit
    >>> tree, data = small_fit()
    >>> [round(errors, 3) for errors in expected_errors(tree["truth"]["p_truth"].values, data)]
    [0.032, 0.032]
    """
    open_items = np.ones(data.n_items, bool) if data.gold is None else data.gold < 0
    votes = data.votes[open_items]
    p = p_truth[open_items]
    winners = votes == votes.max(axis=1, keepdims=True)
    by_vote = (p * winners).sum(axis=1) / winners.sum(axis=1)
    return float((1 - p.max(axis=1)).sum()), float((1 - by_vote).sum())


def _names(data: Annotations) -> NDArray[np.object_]:
    """Labels as objects, with an empty text last, where the code -1 points."""
    names = np.empty(data.n_labels + 1, dtype=object)
    names[:-1] = data.labels
    names[-1] = ""
    return names


def _notes(
    data: Annotations,
    p: Floats,
    known: NDArray[np.integer[Any]],
    limit: float,
    strength: Floats,
    stack: tuple[str, ...],
    audited: float | None,
    wrong: tuple[int, int] | None,
) -> tuple[str, ...]:
    model, vote = expected_errors(p, data)
    model = model if audited is None else audited
    by = "" if audited is None else " by the audit"
    n_open = int((known < 0).sum())
    settled = int((p.max(axis=1) >= limit).sum())
    notes = [
        f"Of {n_open:,} labels, {model:,.1f} are expected to be wrong{by}"
        f"{'' if wrong is None else f' (95 % interval {wrong[0]:,} to {wrong[1]:,})'}; by majority "
        f"vote {vote:,.1f}.{'' if stack else f' {TOO_SURE}'}",
        f"{settled:,} of {data.n_items:,} items have a label with probability {limit:g} or more.",
    ]
    if n_open < data.n_items:
        notes.append(f"The gold of {data.n_items - n_open:,} items is known and was used.")
    notes += stack
    if doubtful(strength):
        notes.append(f"{no_signal(strength)} No label counts as settled, whatever its probability.")
    return tuple(notes)


def audited_wrong(tree: xr.DataTree) -> float | None:
    """Give how many labels are expected to be wrong after an audit, where there was one."""
    if "audit" not in tree.children:
        return None
    return float(tree["sample_stats"].to_dataset()["wrong"].values.mean())


def wrong_interval(tree: xr.DataTree) -> tuple[int, int] | None:
    """Give the 95 % interval of the number of wrong labels, where a fit has draws of it."""
    stats = tree["sample_stats"].to_dataset()
    if "wrong" not in stats:
        return None
    low, high = np.quantile(stats["wrong"].values, [0.025, 0.975])
    return int(np.floor(low)), int(np.ceil(high))


def stack_notes(tree: xr.DataTree) -> tuple[str, ...]:
    """Say where P(truth) comes from, if from a stack, and what its intervals promise."""
    stack = stacked(tree)
    if stack is None:
        return ()
    model, independent = cast("Stack", model_of(tree)), stack.independent
    weights = np.array([1.0 - independent, independent]) @ stack.weight
    means = zip(model.names, weights, strict=False)
    told = "gold" in tree["observed_data"].to_dataset()
    taught = "the known truth" if told else "public data sets with known truth"
    notes = [
        f"P(truth) is a mixture: {', '.join(f'{name} {weight:.2f}' for name, weight in means)}, "
        f"weighted by how well held-out labels are predicted and calibrated on {taught}. Coders "
        f"err independently with probability {independent:.2f}. The crowd is assumed to know "
        f"nothing about {float(stack.unknown.mean()):.1%} of the items."
    ]
    names = tree["posterior"].to_dataset()["coder"].values
    for group in json.loads(tree.attrs.get("copies", "[]")):
        first, *others = (str(names[j]) for j in group)
        verb = "copies" if len(others) == 1 else "copy"
        notes.append(
            f"{', '.join(others)} {verb} {first}: on an item that several of them labeled, only "
            "one label counts."
        )
    members = json.loads(tree.attrs.get("members", "{}"))
    if apart := [name for name, each in members.items() if each["rhat_max"] >= APART]:
        notes.append(
            f"The chains of {', '.join(apart)} found several solutions, over which P(truth) is "
            "averaged."
        )
    if left_out := json.loads(tree.attrs.get("left_out", "[]")):
        notes.append(f"The run ended before {', '.join(left_out)} could be fitted.")
    return tuple(notes)


def coverage(tree: xr.DataTree, data: Annotations) -> Summary:
    r"""Trade the share of items that are kept for the expected accuracy of their gold labels.

    Items are sorted by :math:`p_i = \max_k P(t_i = k \mid y)`, the surest first. Of the
    n first ones,

    .. math:: E[\text{accuracy}] = \frac{1}{n} \sum_{i \le n} p_i .

    The intervals are of the number of right labels among replicated truths, one set of truths for
    each posterior draw. Items of known gold are left out.

    >>> from annomodels.summaries.examples import small_fit
    >>> coverage(*small_fit()).table[["threshold", "kept", "accuracy"]].round(3).head(3)
       threshold  kept  accuracy
    0        0.0     2     0.984
    1        0.5     2     0.984
    2        0.8     2     0.984
    """
    import pandas as pd
    import xarray as xr

    p = np.asarray(tree["truth"]["p_truth"].values, dtype=float)
    unknown = np.ones(data.n_items, bool) if data.gold is None else data.gold < 0
    sure = p.max(axis=1)
    order = np.flatnonzero(unknown)
    order = order[np.argsort(-sure[order], kind="stable")]
    surest = sure[order]
    limits = (0.0, *THRESHOLDS)
    kept = np.array([int((surest >= limit).sum()) for limit in limits])
    points = np.unique(np.linspace(1, max(len(order), 1), _GRID).round().astype(np.int64))
    points = points[points <= len(order)]
    low, high = _intervals(tree, data, p, order, np.concatenate([kept, points]))
    expected = np.concatenate([[0.0], surest.cumsum()])
    some = kept > 0
    accuracy = np.divide(expected[kept], kept, out=np.full(len(kept), np.nan), where=some)
    table = pd.DataFrame(
        {
            "threshold": limits,
            "kept": kept,
            "share": kept / max(len(order), 1),
            "accuracy": accuracy,
            "accuracy_low": low[: len(kept)],
            "accuracy_high": high[: len(kept)],
            "wrong": kept - expected[kept],
        }
    )
    curve = xr.Dataset(
        {
            "kept": ("point", points),
            "accuracy": ("point", expected[points] / points),
            "low": ("point", low[len(kept) :]),
            "high": ("point", high[len(kept) :]),
            "probability": ("point", surest[points - 1]),
        }
    )
    known = data.n_items - len(order)
    notes = (f"{known:,} items whose truth is known are left out.",) if known else ()
    return Summary("Accuracy and coverage of the gold standard", table, curve, notes, CURVE)


def _intervals(
    tree: xr.DataTree, data: Annotations, p: Floats, order: Ints, kept: Ints
) -> tuple[Floats, Floats]:
    """95 % intervals of the accuracy of the `kept` surest items; NaN with one draw only."""
    most = max(40, min(_DRAWS, _CELLS // max(p.size, 1)))
    missing = np.full(len(kept), np.nan)
    best = p.argmax(axis=1)
    rng = np.random.default_rng(0)
    n, drawn = truth_draws(tree, data, most)
    if n < 2:
        return missing, missing.copy()
    right = np.zeros((n, len(order) + 1))
    for s, shares in drawn:
        truth = choices(shares, rng.random(len(shares)))
        right[s, 1:] = (truth == best)[order].cumsum()
    found = np.full((n, len(kept)), np.nan)
    np.divide(right[:, kept], kept, out=found, where=kept > 0)
    low, high = missing.copy(), missing.copy()
    low[kept > 0], high[kept > 0] = interval(found[:, kept > 0])
    return low, high
