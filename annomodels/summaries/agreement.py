"""Agreement three ways: the classical value, its sampling posterior, and what the model implies."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from annomodels.coefficients.agreement import agreement as classical
from annomodels.coefficients.implied import implied, implied_pair
from annomodels.coefficients.result import AgreementPanel
from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import Column, columns
from annomodels.data.summary import Summary
from annomodels.summaries.coders.populations import new_coders
from annomodels.summaries.draws import Draws, interval, model_of, thinned, told_by
from annomodels.summaries.predicted.p_next import drawn
from annomodels.summaries.stacked import stacked
from annomodels.types import Floats

if TYPE_CHECKING:
    import xarray as xr

    from annomodels.models.mixtures.stack import Stack

MODEL_DRAWS = 1000
# how much wider the few draws of a stack's members are taken, so that intervals cover on simulated
# crowds, where all members are a little off
WIDER = 1.3
MOST_PAIRED = 40  # coders up to which a mean over all pairs of coders is worth its time
BY_PAIR = ("light_kappa",)

COLUMNS = columns(
    ALL["title"].called("Coefficient"),
    ALL["value"].called("Observed value"),
    "observed expected p_above_667 p_above_800",
    Column("model", "Model-implied value", interval=("model_low", "model_high")),
    "model_p_above_667 model_p_above_800",
    ALL["n"].called("Items"),
    "note",
)


def agreement(tree: xr.DataTree, data: Annotations, draws: int = 2000) -> Summary:
    """Agreement coefficients of the labels, with what the model implies for many items."""
    # implied: median over draws, from sum_k prevalence_k confusion_akl confusion_bkm of coders a, b
    panel = classical(data, draws=draws)
    table = panel.table.copy()
    model = model_implied(tree, data, panel)
    values = np.stack(list(model.values()), axis=1)
    low, high = interval(values)
    note = table.pop("note")
    table = table.drop(columns="convention")
    table["model"] = np.median(values, axis=0)
    table["model_low"], table["model_high"] = low, high
    unknown = np.isnan(values).any(axis=0) | (len(values) < 2)
    for name, threshold in (("model_p_above_667", 0.667), ("model_p_above_800", 0.8)):
        table[name] = np.where(unknown, np.nan, (values > threshold).mean(axis=0))
    table["note"] = note
    kept = panel.draws.assign(model=(("sample", "coefficient"), values))
    notes = list(panel.notes)
    new = new_coders(tree, MODEL_DRAWS)
    if new is not None:
        kappa = implied_pair(new.share, new.first, new.second, "kappa")
        kept["new_coders"] = (("pair",), kappa)
        if len(kappa) > 1:
            low, high = interval(kappa)
            notes.append(
                "Two further coders like these would have a kappa of about "
                f"{np.median(kappa):.2f}; 19 of 20 such pairs between {low:.2f} and {high:.2f}."
            )
    if tree.attrs.get("engine") == "em":
        notes.append("The engine em gives no intervals for coefficients that the model implies.")
    notes += told_by(tree)
    return Summary("Agreement", table, kept, tuple(notes), COLUMNS)


def model_implied(tree: xr.DataTree, data: Annotations, panel: AgreementPanel) -> dict[str, Floats]:
    """Compute on every draw what the model implies for the coefficients of a panel."""
    weight = data.per_coder
    parts: list[dict[str, Floats]] = []
    for sampled, times in _counted_draws(tree, data):
        found: dict[str, Floats] = dict.fromkeys(panel, np.full(len(sampled), np.nan))
        for distance in dict.fromkeys(result.distance for result in panel.values()):
            names = [result.name for result in panel.values() if result.distance == distance]
            if data.n_coders > MOST_PAIRED:
                names = [name for name in names if name not in BY_PAIR]
            found |= implied(sampled.share, sampled.emission, names, weight, distance, data.values)
        parts.append({name: np.repeat(found[name], times) for name in panel})
    values = {name: np.concatenate([part[name] for part in parts]) for name in panel}
    if stacked(tree) is not None:
        for name, each in values.items():
            middle = np.median(each)
            values[name] = np.minimum(middle + WIDER * (each - middle), np.maximum(each, 1.0))
    return values


def _counted_draws(tree: xr.DataTree, data: Annotations) -> list[tuple[Draws, int]]:
    """Draws that imply agreement, and how often each counts."""
    # Coders of a stack are drawn given truths that allow for whatever the members get wrong, which
    # makes them look worse than they agree. So it is the members that imply agreement, weighted by
    # the labels that they predict.
    stack = stacked(tree)
    members = {} if stack is None else dict(drawn(tree, data))
    if stack is None or not members:
        return [(thinned(tree, data, MODEL_DRAWS), 1)]
    names = cast("Stack", model_of(tree)).names[1:]
    share = dict(zip(names, stack.held_out_weight.tolist(), strict=False))
    total = sum(share[name] for name in members)
    times = {n: MODEL_DRAWS * share[n] / total / len(draws) for n, draws in members.items()}
    return [(draws, round(times[n])) for n, draws in members.items() if round(times[n])]
