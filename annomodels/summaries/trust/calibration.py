"""Calibration of gold label probabilities on held-out truth."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import Column, columns
from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable
from annomodels.summaries.draws import SMALLEST
from annomodels.summaries.notes import say
from annomodels.types import Bools, Floats, Ints

EDGES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)

COLUMNS = columns(
    ALL["bin"].called("Probability"),
    ALL["n"].called("Items"),
    "right",
    Column("probability", "Mean probability", digits=3),
    ALL["share"].called("Share right", bar=True, interval=("share_low", "share_high")),
)


def calibration(
    tree: xr.DataTree, data: Annotations, known: Mapping[Hashable, Hashable]
) -> Summary:
    """Compare probabilities of gold labels with observed accuracy (Jeffreys' prior)."""
    truth = np.asarray(data.with_truth(known).gold)
    told = data.known >= 0
    tested = np.flatnonzero((truth >= 0) & ~told)
    if not len(tested):
        raise NotApplicable(
            "No item can test the probabilities: the fit already used its true label, or the "
            "item is not in the data. Fit without the labels that you hold back."
        )
    p: Floats = np.asarray(tree["truth"]["p_truth"].values, dtype=float)[tested]
    at = truth[tested]
    sure, right = p.max(axis=1), p.argmax(axis=1) == at
    place = np.clip(np.searchsorted(EDGES, sure, side="right") - 1, 0, len(EDGES) - 2)
    bins = [
        (f"{EDGES[b]:g} to {EDGES[b + 1]:g}", place == b)
        for b in range(len(EDGES) - 1)
        if (place == b).any()
    ]
    rows = [_row(name, sure[some], right[some]) for name, some in bins]
    rows.append(_row("all", sure, right))
    votes = log_loss(_shares(data)[tested], at)
    notes = (
        say("held_back", n=right.sum(), of=len(tested), expected=sure.sum()),
        say("log_loss", loss=log_loss(p, at), votes=votes),
    )
    kept = xr.Dataset({"p_truth": (("item", "truth"), p), "right": ("item", right)})
    return Summary("Calibration on known truth", pd.DataFrame(rows), kept, notes, COLUMNS)


def jeffreys(k: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a proportion k / n under Jeffreys' prior."""
    from scipy.special import betaincinv

    low, high = (float(betaincinv(k + 0.5, n - k + 0.5, end)) for end in (0.025, 0.975))
    return 0.0 if k == 0 else low, 1.0 if k == n else high


def _row(name: str, sure: Floats, right: Bools) -> dict[str, object]:
    n, k = len(right), int(right.sum())
    low, high = jeffreys(k, n)
    mean = float(sure.mean())
    row = {"bin": name, "n": n, "right": k, "probability": mean, "share": k / n}
    return {**row, "share_low": low, "share_high": high}


def _shares(data: Annotations) -> Floats:
    votes = data.votes.astype(np.float64) + 0.5
    shares: Floats = votes / votes.sum(axis=1, keepdims=True)
    return shares


def log_loss(p: Floats, truth: Ints) -> float:
    """Return the mean log loss of the true labels; NaN without any."""
    if not len(truth):
        return float("nan")
    chosen = p[np.arange(len(p)), truth]
    return float(-np.log(np.maximum(chosen, SMALLEST)).mean())
