"""Summaries of interval labels: true values, coders, items and implied agreement."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import ndtr

from annomodels.coefficients.agreement import agreement as classical
from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import Column
from annomodels.data.columns import columns as columns_of
from annomodels.data.summary import Summary
from annomodels.limits import STATES
from annomodels.models.numeric import NumberValues
from annomodels.summaries.coders import notable
from annomodels.summaries.draws import estimated, interval
from annomodels.summaries.notes import items_by_state, say
from annomodels.summaries.trust.checks import Check, judged
from annomodels.summaries.trust.convergence import fit_findings
from annomodels.summaries.trust.findings import Finding, finding
from annomodels.types import Floats

FEWEST_LABELS = 5
USELESS = 0.1
CONTESTED = 1.25
BEYOND = 0.05

VALUE = ALL["value"].called("True value", kind="quantity")
GOLD = columns_of(
    "item", VALUE, "sd state", Column("mean", "Mean of the labels", "quantity"), "shift n"
)
CODERS = columns_of(
    "coder kind n reliability",
    ALL["bias"].called(kind="quantity", interval=("bias_low", "bias_high")),
    "scale noise p_reversed",
)
ITEMS = columns_of("item n", ALL["difficulty"].called(kind="quantity"), "label_sd state")
AGREEMENT = columns_of("coefficient value p_above_667 p_above_800 note")


def gold(tree: xr.DataTree, data: Annotations) -> Summary:
    """Tabulate the posterior of the true value of every item."""
    truth, table, mean = tree["truth"].to_dataset(), items(tree, data).table, _mean_labels(data)
    ends = {end: truth[f"truth_{end}"].values for end in ("low", "high")}
    table = table.assign(**ends, mean=mean, shift=table["value"] - mean)
    table["source"] = np.where(data.known >= 0, "truth", "model")
    names = "item value low high sd state source n mean shift difficulty difficulty_sd label_sd"
    table = table[names.split()]
    spread = float(_draws(tree).truth_spread.mean())
    typical = float(np.median(table["sd"]))
    notes = (say("numbers", sd=typical, spread=spread),)
    return Summary("Gold standard", table, tree["truth_draws"].to_dataset(), notes, GOLD)


def coders(tree: xr.DataTree, data: Annotations) -> Summary:
    """Tabulate bias, scale, noise, reliability s^2 tau^2 / (s^2 tau^2 + sigma^2) of each coder."""
    n, drawn = data.per_coder, _draws(tree)
    spread, scale, noise = drawn.truth_spread[:, None], drawn.scale, drawn.noise_sd
    signal = (scale * spread) ** 2
    reliability = signal / (signal + noise**2)
    draws = {"bias": drawn.bias, "scale": scale, "noise": noise, "reliability": reliability}
    columns: dict[str, Any] = {"coder": list(data.coders), "n": n}
    for name, values in draws.items():
        columns |= estimated(name, values)
    columns["p_reversed"] = (scale < 0).mean(axis=0)
    useless = (draws["reliability"] < USELESS).mean(axis=0) > 0.5
    off = (columns["bias_low"] > 0) | (columns["bias_high"] < 0)
    off &= np.abs(columns["bias"]) > spread.mean() / 4
    columns["kind"] = np.select(
        [n < FEWEST_LABELS, columns["p_reversed"] > 0.95, useless, off],
        ["not enough evidence", "reversed", "uninformative", "biased"],
        "good",
    )
    kept = xr.Dataset(
        {name: (("sample", "coder"), values) for name, values in draws.items()},
        coords={"coder": [str(name) for name in data.coders]},
    )
    kinds, counts = np.unique(columns["kind"], return_counts=True)
    found = ", ".join(f"{count:,} {kind}" for kind, count in zip(kinds, counts, strict=True))
    notes = (f"Of {len(n):,} coders: {found}.",)
    table = pd.DataFrame(columns)
    return Summary("Coders", table, kept, notes, CODERS, tuple(notable(table).tolist()))


def items(tree: xr.DataTree, data: Annotations) -> Summary:
    """Tabulate the noise factor (mean square 1) and the state of every item."""
    truth, held = tree["truth"].to_dataset(), tree["items"].to_dataset()
    difficulty, error = held["difficulty"].values, held["difficulty_sd"].values
    sd = truth["truth_sd"].values
    n = np.diff(data.starts)
    y = data.values[data.label]
    mean = _mean_labels(data)
    square = np.bincount(data.item, (y - mean[data.item]) ** 2, minlength=data.n_items)
    with np.errstate(invalid="ignore", divide="ignore"):
        label_sd = np.where(n > 1, np.sqrt(square / (n - 1)), np.nan)
    half = float(_draws(tree).truth_spread.mean()) / 2
    settled, needs, contested, decided = STATES
    rules = [data.known >= 0, difficulty - error > CONTESTED, sd > half]
    state = np.select(rules, [decided, contested, needs], default=settled)
    table = pd.DataFrame(
        {
            "item": list(data.items),
            "n": n,
            "value": truth["truth_mean"].values,
            "sd": sd,
            "difficulty": difficulty,
            "difficulty_sd": error,
            "label_sd": label_sd,
            "state": state.astype(object),
        }
    )
    notes = (items_by_state(table["state"]),)
    return Summary("Items", table, notes=notes, columns=ITEMS)


def implied_alpha(tree: xr.DataTree, data: Annotations) -> Floats:
    """Compute the model-implied Krippendorff's interval alpha of these coders, [sample]."""
    weight = data.per_coder / len(data)
    drawn = _draws(tree)
    tau2, bias, scale, noise = drawn.truth_spread**2, drawn.bias, drawn.scale, drawn.noise_sd
    own = noise**2 @ weight  # noise variance of one label
    # two labels of one item come from different coders; labels of two items from any coders
    pairs = 1.0 - (weight**2).sum()
    bias_spread = bias**2 @ weight - (bias @ weight) ** 2
    scale_spread = scale**2 @ weight - (scale @ weight) ** 2
    within = own + (bias_spread + scale_spread * tau2) / pairs
    between = own + bias_spread + tau2 * (scale**2 @ weight)
    return np.asarray(1.0 - within / between)


def agreement(tree: xr.DataTree, data: Annotations, draws: int = 2000) -> Summary:
    r"""Tabulate Krippendorff's interval alpha and model-implied reliabilities."""
    panel = classical(data.replace(scale="interval"), "alpha", draws=draws)
    drawn = _draws(tree)
    tau2, bias2, noise2 = drawn.truth_spread**2, drawn.bias_spread**2, drawn.noise**2
    stretch = tau2 * drawn.scale_spread**2
    left = (tree["truth"].to_dataset()["truth_sd"].values ** 2).mean()
    known = {
        "alpha, implied": (
            implied_alpha(tree, data),
            "these coders, any number of items, before steps and ends of the scale",
        ),
        "alpha, new coders": (
            tau2 / (tau2 + stretch + bias2 + noise2),
            "two further coders from the same population",
        ),
        "consistency, new coders": (tau2 / (tau2 + stretch + noise2), "biases forgiven"),
        "gold": (tau2 / (tau2 + left), "share of the gold values' variance that is truth"),
    }
    said = "of the labels, Krippendorff's with interval distance"
    above = panel.p_above(0.667), panel.p_above(0.8)
    rows = [("alpha", panel.value, panel.low, panel.high, *above, said)]
    for name, (values, note) in known.items():
        low, high = (float(end) for end in interval(values))
        above = float((values > 0.667).mean()), float((values > 0.8).mean())
        rows.append((name, float(np.median(values)), low, high, *above, note))
    names = ["coefficient", "value", "low", "high", "p_above_667", "p_above_800", "note"]
    kept = xr.Dataset({name: (("sample",), values) for name, (values, _) in known.items()})
    return Summary("Agreement", pd.DataFrame(rows, columns=names), kept, (), AGREEMENT)


def check(tree: xr.DataTree, data: Annotations) -> Check:
    findings = [*fit_findings(tree, data), _beyond(tree, data)]
    return judged(findings, " ".join(each.sentence for each in findings[:2]))


def _beyond(tree: xr.DataTree, data: Annotations) -> Finding:
    """Check for a bounded scale: expected proportion of labels outside the observed range."""
    found = NumberValues.of(tree["posterior"].to_dataset(), mean=True)
    truth = tree["truth"].to_dataset()["truth_mean"].values
    hard = tree["items"].to_dataset()["difficulty"].values
    y = data.values[data.label]
    mu = found.truth_mean
    mean = mu + found.bias[data.coder] + found.scale[data.coder] * (truth[data.item] - mu)
    sd = hard[data.item] * found.noise_sd[data.coder]
    # labels may pile up at an end that the model includes
    open_low, open_high = np.isinf(json.loads(tree.attrs["ends"]))
    below, above = ndtr((y.min() - mean) / sd), ndtr((mean - y.max()) / sd)
    share = float((open_low * below + open_high * above).mean())
    state = "fine" if share <= BEYOND else "some"
    return finding("beyond_the_ends", state, share, BEYOND, low=y.min(), high=y.max())


def _draws(tree: xr.DataTree) -> NumberValues:
    """Return the draws with chains concatenated, shape [sample, ...]."""
    return NumberValues.of(tree["posterior"].to_dataset())


def _mean_labels(data: Annotations) -> Floats:
    total = np.bincount(data.item, data.values[data.label], minlength=data.n_items)
    return np.asarray(total / np.diff(data.starts))
