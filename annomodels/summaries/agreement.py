"""Agreement coefficients: observed value, sampling posterior and model-implied value."""

from __future__ import annotations

import numpy as np
import xarray as xr

from annomodels.coefficients.agreement import agreement as classical
from annomodels.coefficients.implied import implied
from annomodels.coefficients.result import AgreementPanel
from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import Column, columns
from annomodels.data.summary import Summary
from annomodels.models.mixtures.stack import OWN, mode_of
from annomodels.summaries.coders import new_coders
from annomodels.summaries.draws import SMALLEST, Draws, interval, thinned, told_by
from annomodels.types import Floats

MODEL_DRAWS = 1000
# limits on the draws of a stack: cells of all confusion matrices, and fewest draws
MOST_NUMBERS, FEWEST_DRAWS = 50_000_000, 100
MOST_PAIRED = 40  # coders; with more, a mean over all pairs takes too long
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
    """Compute agreement coefficients, observed and implied by the model for many items."""
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
        kappa = implied(new.share, np.stack([new.first, new.second], axis=1), "kappa")["kappa"]
        kept["new_coders"] = (("pair",), kappa)
        if len(kappa) > 1:
            low, high = interval(kappa)
            notes.append(
                "Two further coders like these would have a kappa of about "
                f"{np.median(kappa):.2f}; 19 of 20 such pairs have one between {low:.2f} and "
                f"{high:.2f}."
            )
    if tree.attrs.get("engine") == "em":
        notes.append("The engine em gives no intervals for coefficients that the model implies.")
    notes += told_by(tree)
    return Summary("Agreement", table, kept, tuple(notes), COLUMNS)


def model_implied(tree: xr.DataTree, data: Annotations, panel: AgreementPanel) -> dict[str, Floats]:
    """Compute the model-implied value of each coefficient of a panel on every draw."""
    draws = (
        _at_the_mode(tree, data) if "stack" in tree.children else thinned(tree, data, MODEL_DRAWS)
    )
    found: dict[str, Floats] = dict.fromkeys(panel, np.full(len(draws), np.nan))
    for distance in dict.fromkeys(result.distance for result in panel.values()):
        names = [result.name for result in panel.values() if result.distance == distance]
        if data.n_coders > MOST_PAIRED:
            names = [name for name in names if name not in BY_PAIR]
        weight, values = data.per_coder, data.values
        found |= implied(draws.share, draws.emission, names, weight, distance, values)
    return {name: found[name] for name in panel}


def _at_the_mode(tree: xr.DataTree, data: Annotations) -> Draws:
    """Draw confusion matrices of a stack given P(truth) at the mode of its model."""
    # Posterior truths of a stack allow for errors of the model; confusion matrices drawn given
    # them would imply too little agreement.
    stack, k = tree["stack"].to_dataset(), data.n_labels
    if "log_mode" not in stack:  # streamed data
        return thinned(tree, data, MODEL_DRAWS)
    p = np.exp(stack["log_mode"].values)
    cell = data.coder.astype(np.int64) * k + data.label
    counts = np.stack(
        [np.bincount(cell, p[data.item, truth], data.n_coders * k) for truth in range(k)]
    ).reshape(k, -1, k)
    counts = counts.transpose(1, 0, 2)
    rows, _ = mode_of(counts, p.sum(axis=0), exchangeable=False)
    own = counts.sum(axis=2, keepdims=True) + OWN
    draws = max(FEWEST_DRAWS, min(MODEL_DRAWS, MOST_NUMBERS // rows.size))
    rng = np.random.default_rng(0)
    emission = rng.standard_gamma(np.broadcast_to(rows * own, (draws, *rows.shape)))
    emission = np.maximum(emission, SMALLEST)
    emission /= emission.sum(axis=3, keepdims=True)
    return Draws(rng.dirichlet(p.sum(axis=0) + 1.0, draws), emission)
