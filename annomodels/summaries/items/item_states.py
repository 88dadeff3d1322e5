"""What the states of an item say of it: ambiguity and readings, difficulty, guesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.summaries.draws import model_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["state_columns"]

Floats = NDArray[np.float64]

WORTH_NAMING = 0.15


def state_columns(tree: xr.DataTree, data: Annotations) -> dict[str, Floats | list[str]]:
    r"""Columns of the items' table that only models with states fill; empty for the others.

    ``p_ambiguous`` and ``p_easy`` are posterior probabilities; other values of the states, such as
    ``difficulty`` or ``guess_level``, come as posterior mean and ``_sd``. ``readings`` names the
    readings of an item and their shares,
    :math:`\sum_s P(s \mid y) T_{s,k}` over the states with more than one reading.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> state_columns(*small_fit())
    {}
    """
    if "items" not in tree.children:
        return {}
    found = tree["items"].to_dataset()
    columns: dict[str, Floats | list[str]] = {}
    probabilities = model_of(tree).yes_or_no(data.n_labels)
    for name in map(str, found.data_vars):
        if name != "p_state" and name.removesuffix("_sd") not in probabilities:
            columns[name] = np.asarray(found[name].values)
    for name in probabilities.intersection(map(str, found.data_vars)):
        columns[f"p_{name}"] = np.asarray(found[name].values)
    shares = readings(tree, data)
    if shares is not None:
        names = [label_text(label) for label in data.labels]
        columns["readings"] = [_in_words(row, names) for row in shares]
    return columns


def readings(tree: xr.DataTree, data: Annotations) -> Floats | None:
    """Shares of the readings of each item, given that it has several, shape [item, truth].

    None where no state has more than one reading, or P(state) was not kept.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.
    """
    truth = model_of(tree).state_truth(data.n_labels)
    found = tree["items"].to_dataset()
    if truth is None or "p_state" not in found:
        return None
    several = truth.max(axis=1) < 1.0
    if not several.any():
        return None
    joint = found["p_state"].values[:, several] @ truth[several]
    shares: Floats = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    return shares


def _in_words(row: Floats, names: list[str]) -> str:
    order = np.argsort(-row, kind="stable")
    return ", ".join(f"{names[k]} {row[k]:.0%}" for k in order if row[k] >= WORTH_NAMING)
