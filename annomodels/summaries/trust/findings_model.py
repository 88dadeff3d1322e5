"""Findings about the model: whether it reproduces the labels, and whether there is a signal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.summaries.draws import thinned
from annomodels.summaries.signal import NO_SIGNAL, doubtful, mean_skill, no_signal
from annomodels.summaries.trust.findings import CHECK, FINE, FORBIDS, Finding
from annomodels.summaries.trust.next_model import fitted_model, next_model
from annomodels.summaries.trust.predictive import aspects
from annomodels.summaries.trust.predictive_rows import REJECTED, Aspect

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["model_findings", "signal_finding"]

DRAWS = 1000  # enough for a median


def model_findings(
    tree: xr.DataTree, data: Annotations, seen: Sequence[Aspect] | None = None
) -> list[Finding]:
    """Look whether there is a signal, and whether the model reproduces the labels.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.
    seen
        Aspects that the model should reproduce, where they are known already.
    """
    seen = aspects(tree, data)[1] if seen is None else seen
    return [signal_finding(tree, data), *_predictive(tree, data, seen)]


def signal_finding(tree: xr.DataTree, data: Annotations) -> Finding:
    """Look whether the labels depend on any truth."""
    values = mean_skill(thinned(tree, data, DRAWS), data)
    value = float(np.median(values))
    if not doubtful(values) and value >= NO_SIGNAL:
        text = f"The coders are better than chance: their mean skill is {value:.2f}."
        return Finding("skill of the coders", value, NO_SIGNAL, text, FINE)
    severity = FORBIDS if value < NO_SIGNAL else CHECK
    return Finding("skill of the coders", value, NO_SIGNAL, no_signal(values), severity)


def _predictive(tree: xr.DataTree, data: Annotations, seen: Sequence[Aspect]) -> list[Finding]:
    found = []
    for aspect in seen:
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
