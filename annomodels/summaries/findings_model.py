"""Findings about the model: whether it reproduces the labels, and whether there is a signal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from annomodels.annotations import Annotations
from annomodels.summaries.findings import CHECK, FINE, FORBIDS, Finding
from annomodels.summaries.next_model import fitted_model, next_model
from annomodels.summaries.predictive import aspects
from annomodels.summaries.predictive_rows import REJECTED
from annomodels.summaries.worth import coder_draws

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["model_findings"]

NO_SIGNAL = 0.1


def model_findings(tree: xr.DataTree, data: Annotations) -> list[Finding]:
    """Look whether there is a signal, and whether the model reproduces the labels."""
    return [_signal(tree, data), *_predictive(tree, data)]


def _signal(tree: xr.DataTree, data: Annotations) -> Finding:
    draws = coder_draws(tree, data)
    weight = np.bincount(data.coder, minlength=data.n_coders) / len(data)
    mean = draws.skill @ weight
    value = float(np.median(mean))
    if value >= NO_SIGNAL:
        text = f"The coders are better than chance: their mean skill is {value:.2f}."
        return Finding("skill of the coders", value, NO_SIGNAL, text, FINE)
    text = (
        f"The labels hardly depend on any truth: the mean skill of the coders is {value:.2f}, "
        "where 0 is chance and 1 perfect. Do not take these labels for gold."
    )
    return Finding("skill of the coders", value, NO_SIGNAL, text, FORBIDS)


def _predictive(tree: xr.DataTree, data: Annotations) -> list[Finding]:
    found = []
    for aspect in aspects(tree, data)[1]:
        text = f"The model reproduces: {aspect.name}."
        if not aspect.fits:
            text = aspect.sentence
        severity = FINE if aspect.fits else CHECK
        found.append(Finding(aspect.name, aspect.p_value, REJECTED, text, severity))
    rejected = [finding.name for finding in found if finding.severity]
    other = next_model(fitted_model(tree), rejected, data.n_labels, data.scale)
    if other is not None:
        found.append(Finding("next model", len(rejected), 0, other.sentence, CHECK))
    return found
