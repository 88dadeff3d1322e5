"""Check that the points over which effects of items are summed out suffice for these labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.special import softmax

from annomodels.data.annotations import Annotations
from annomodels.models.continuous.laplace import log_marginal
from annomodels.summaries.draws import evenly, flat, model_of, n_samples
from annomodels.summaries.trust.findings import Finding, finding

DRAWS, ITEMS = 3, 24
# error of the log probability of an item's labels, and of P(truth), from which the check says so
LOG_ERROR, P_ERROR = 0.25, 0.02


@dataclass(frozen=True)
class SummedOut:
    """Distance of the points of a fit from a rule that is adapted to each item."""

    points: int  # number of points
    log_error: float  # root mean square error of the log probability of the labels of an item
    p_error: float  # mean absolute error of P(truth), of the class where it is largest
    said: float  # standard error of the log probability by the adapted rule, root mean square


def summed_out(tree: xr.DataTree, data: Annotations) -> SummedOut | None:
    """Compare the points of a fit with an adapted rule, on some draws and items, if it has any."""
    model = model_of(tree)
    if not model.item_effects_summed:
        return None
    total, n = n_samples(tree), np.diff(data.starts)
    order = np.argsort(-n, kind="stable")[: int((n > 0).sum())]
    chosen = order[evenly(len(order), min(ITEMS, len(order)))]
    errors, gaps, said = [], [], []
    points = 0
    for draw in evenly(total, min(DRAWS, total)):
        names = map(str, tree["posterior"].data_vars)
        values = {name: flat(tree, name, slice(draw, draw + 1))[0] for name in names}
        effects = model.item_effects(values)
        found = model.states({name: value[None] for name, value in values.items()})
        if effects is None or found is None:
            return None
        logit, scale = effects
        points = found.share.shape[1] // data.n_labels
        log_prevalence = np.log(np.maximum(values["prevalence"], 1e-300))
        log_emission, log_share = np.log(found.emission[0]), np.log(found.share[0])
        for i in chosen:
            mine = slice(data.starts[i], data.starts[i + 1])
            label = data.label[mine].astype(np.int64)
            row = np.zeros(len(label), np.int64) if len(logit) == 1 else data.coder[mine]
            usual = (log_share + log_emission[row, :, label].sum(axis=0)).reshape(-1, points)
            by_points = np.logaddexp.reduce(usual, axis=1)
            adapted = log_marginal(logit[row], scale, label)
            by_rule = adapted.log + log_prevalence
            errors.append(np.logaddexp.reduce(by_points) - np.logaddexp.reduce(by_rule))
            gaps.append(np.abs(softmax(by_points) - softmax(by_rule)).max())
            said.append(float(softmax(by_rule) @ adapted.error))
    rms = [float(np.sqrt(np.mean(np.square(each)))) for each in (errors, said)]
    return SummedOut(points, rms[0], float(np.mean(gaps)), rms[1])


def effects_finding(tree: xr.DataTree, data: Annotations) -> Finding | None:
    found = summed_out(tree, data)
    if found is None:
        return None
    fine = found.log_error < LOG_ERROR and found.p_error < P_ERROR
    code, state = "points_of_item_effects", "fine" if fine else "few"
    words = {"points": found.points, "rule": found.said, "p": found.p_error}
    return finding(code, state, found.log_error, LOG_ERROR, **words)
