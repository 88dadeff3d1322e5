"""Can a fit of interval labels be believed? Diagnostics in sentences."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.summaries.checks import VERDICTS, Check
from annomodels.summaries.findings import CHECK, FINE, FORBIDS, Finding, Severity

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["check"]

LONGER = "Run longer chains (more draws)."
BEYOND = 0.05


def check(tree: xr.DataTree, data: Annotations) -> Check:
    """Look at the chains and at the ends of the scale.

    Limits: R-hat below 1.01 (1.05: do not use); 400 effective draws (100); no divergences; run to
    the end; at most 5 % of the labels expected beyond the largest and smallest label given.

    Parameters
    ----------
    tree
        Result of a fit of the interval model.
    data
        What was fitted.
    """
    import pandas as pd

    findings = [*_mixing(tree), _stopped(tree), _beyond(tree, data)]
    worst = max(finding.severity for finding in findings)
    bad = sorted((f for f in findings if f.severity), key=lambda finding: -finding.severity)
    columns = ["name", "value", "limit", "ok", "sentence"]
    table = pd.DataFrame([finding.row() for finding in findings], columns=columns)
    sentences = [f.sentence for f in bad] or [f.sentence for f in findings[:2]]
    return Check(VERDICTS[worst], tuple(sentences), table)


def _mixing(tree: xr.DataTree) -> list[Finding]:
    attrs = tree.attrs
    worst, least = float(attrs["rhat_max"]), float(attrs["ess_min"])
    if np.isnan(worst):
        text = f"One chain, or too few draws, to see whether chains agree. {LONGER}"
        return [Finding("R-hat", worst, 1.01, text, FORBIDS)]
    level: Severity = FORBIDS if worst >= 1.05 else CHECK if worst >= 1.01 else FINE
    text = f"The chains agree: R-hat is at most {worst:.3f}."
    if level:
        text = f"The chains do not agree: R-hat of the {attrs['rhat_at']} is {worst:.3f}. {LONGER}"
    out = [Finding("R-hat", worst, 1.01, text, level)]
    level = FORBIDS if least < 100 else CHECK if least < 400 else FINE
    text = f"There are at least {least:,.0f} effective draws."
    if level:
        text = f"The draws are worth {least:,.0f} independent ones for the {attrs['ess_at']}."
        text = f"{text} {LONGER}"
    out.append(Finding("effective draws", least, 400, text, level))
    count = int(attrs.get("divergences", 0))
    text = f"{count} draws diverged: use the engine gibbs." if count else "No draw diverged."
    return [*out, Finding("divergences", count, 0, text, CHECK if count else FINE)]


def _stopped(tree: xr.DataTree) -> Finding:
    why = str(tree.attrs.get("stopped", ""))
    if not why:
        return Finding("stopped early", 0, 0, "The run went to its end.")
    text = f"The run stopped early because of its {why}; what was sampled is used."
    return Finding("stopped early", 1, 0, text, CHECK)


def _beyond(tree: xr.DataTree, data: Annotations) -> Finding:
    """Look for a scale with ends: expected share of labels beyond those that were given."""
    from scipy.special import ndtr

    posterior = tree["posterior"].to_dataset()
    found = {name: posterior[name].values.mean(axis=(0, 1)) for name in posterior}
    truth = tree["truth"].to_dataset()["truth_mean"].values
    hard = tree["items"].to_dataset()["difficulty"].values
    y = data.values[data.label]
    mu = found["truth_mean"]
    mean = mu + found["bias"][data.coder] + found["scale"][data.coder] * (truth[data.item] - mu)
    sd = hard[data.item] * found["noise_sd"][data.coder]
    # at an end that the model knows, labels may pile up
    open_low, open_high = np.isinf(json.loads(tree.attrs["ends"]))
    below, above = ndtr((y.min() - mean) / sd), ndtr((mean - y.max()) / sd)
    share = float((open_low * below + open_high * above).mean())
    text = f"The model expects {share:.1%} of the labels beyond {y.min():g} and {y.max():g}."
    if share > BEYOND:
        text += (
            " The scale seems to have ends: name them (am.Interval(ends=...)), else the truth "
            "near them is pulled inwards."
        )
    return Finding("beyond the ends", share, BEYOND, text, CHECK if share > BEYOND else FINE)
