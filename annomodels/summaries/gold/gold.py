"""Gold standard: label, probability and reasons of every item, and expected errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.columns import columns
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable
from annomodels.limits import SETTLED
from annomodels.models.catalog import is_stack
from annomodels.models.mixtures.stack import Dependence
from annomodels.summaries.draws import model_of, thinned
from annomodels.summaries.gold.coverage import Wrong, wrong_labels
from annomodels.summaries.gold.why import contributions, majority, votes_text, why_text
from annomodels.summaries.items.items import states
from annomodels.summaries.notes import say
from annomodels.summaries.skills import doubtful, signal
from annomodels.summaries.stacked import stacked
from annomodels.summaries.trust.findings import signal_finding
from annomodels.summaries.trust.known_truth import (
    CONTRADICTED,
    contradicted,
    known_truth_finding,
)
from annomodels.types import Floats

if TYPE_CHECKING:
    from annomodels.models.mixtures.stack import Stack

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
    rows = np.arange(data.n_items)
    order = np.argsort(-p, axis=1, kind="stable")
    best, second = order[:, 0], order[:, min(1, p.shape[1] - 1)]
    known = data.known
    vote = majority(data.votes)
    some = thinned(tree, data, 500)
    why = why_text(contributions(some, data, best, second), data)
    strength = signal(tree, data)
    labels, found = _names(data), states(tree, data, limit)
    about = ("doubt", "item", "n", "label", "probability", "p_contested", "state", "reason")
    table = pd.DataFrame(
        {
            "item": list(data.items),
            "label": labels[best],
            "probability": p[rows, best],
            "state": found["state"],
            "source": _sources(tree, data),
            "runner_up": labels[np.where(known >= 0, -1, second)],
            "n": found["n"],
            "votes": votes_text(data),
            "overturned": (vote >= 0) & (vote != best),
            "p_contested": found["p_contested"],
            **found.drop(columns=list(about)),  # only models whose items have states
            "doubt": found["doubt"],
            "reason": found["reason"],
            "why": ["known truth" if g >= 0 else text for g, text in zip(known, why, strict=True)],
        }
    )
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
