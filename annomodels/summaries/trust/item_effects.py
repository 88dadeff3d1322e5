"""Item effects: whether labels identify the coefficients, and quadrature is accurate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.special import softmax

from annomodels.data.annotations import Annotations
from annomodels.data.validation import counted
from annomodels.models.continuous.item_difficulty import item_effects
from annomodels.models.continuous.laplace import log_marginal
from annomodels.summaries.draws import evenly, flat, model_of, n_samples, thinned
from annomodels.summaries.trust.findings import Finding, finding
from annomodels.types import Floats

# items per value below which a coefficient is mostly prior; proportion of a term's variance
# explained by the class from which the two are confounded; range of a column, in standard
# deviations, from which a few items dominate
FEW, EXPLAINED, FAR = 10, 0.8, 15.0


def item_terms_finding(tree: xr.DataTree, data: Annotations) -> Finding | None:
    """Find item terms whose coefficient depends on the prior, on few items, or on the class."""
    declared = model_of(tree).parameters(data.n_labels)
    terms = [term for each in declared if each.dims == ("item_term",) for term in each.terms]
    if not terms:
        return None
    draws = thinned(tree, data, 1)
    kinds = draws.kinds_of(data)
    if draws.kinds is None or kinds is None:
        return None
    truth: Floats = tree["truth"].to_dataset()["p_truth"].values
    votes = np.eye(data.n_labels)[data.votes.argmax(axis=1)]
    split = (data.votes > 0).sum(axis=1) > 1
    several = data.votes.sum(axis=1) > 1
    said = []
    for (term, unit), x in zip(terms, draws.kinds.design[kinds].T, strict=True):
        reasons = []
        if unit.startswith("against"):
            has = x > 0
            if min(has.sum(), (~has).sum()) < FEW:
                few = int(min(has.sum(), (~has).sum()))
                side = "with" if has.sum() == few else "without"
                reasons.append(f"{counted(few, 'item')} {side} it")
            for part, where in ((has, "with it"), (~has, "without it")):
                if (part & several).any() and not (part & split).any() and split.any():
                    reasons.append(f"coders never disagree on items {where}")
        elif np.ptp(x) > FAR:
            far = f"{np.ptp(x):.0f} of its standard deviations"
            reasons.append(f"it has a range of {far}, so take its logarithm")
        if max(_explained(x, truth), _explained(x, votes)) > EXPLAINED:
            reasons.append("it nearly equals the class, so it may describe the votes, not the item")
        if reasons:
            said.append(f"{term} ({'; '.join(reasons)})")
    state = "prior" if said else "fine"
    return finding("covariates_of_items", state, len(said), terms=said, n=len(terms))


def _explained(x: Floats, truth: Floats) -> float:
    """Return the proportion of a term's variance explained by P(class), by least squares."""
    left = x - truth @ np.linalg.lstsq(truth, x, rcond=None)[0]
    return float(1.0 - left.var() / max(x.var(), 1e-300))


DRAWS, ITEMS = 3, 24
# errors of the log probability of an item's labels, and of P(truth), that are reported
LOG_ERROR, P_ERROR = 0.25, 0.02


@dataclass(frozen=True)
class SummedOut:
    """Error of the fit's quadrature points relative to a rule adapted to each item."""

    points: int  # number of points
    log_error: float  # root mean square error of the log probability of the labels of an item
    p_error: float  # mean absolute error of P(truth), of the class where it is largest
    said: float  # root mean square standard error of the log probability by the adapted rule


def summed_out(tree: xr.DataTree, data: Annotations) -> SummedOut | None:
    """Compare the quadrature points with an adapted rule on some draws and items, if any."""
    model = model_of(tree)
    total, n = n_samples(tree), np.diff(data.starts)
    order = np.argsort(-n, kind="stable")[: int((n > 0).sum())]
    chosen = order[evenly(len(order), min(ITEMS, len(order)))]
    errors, gaps, said = [], [], []
    points = 0
    for draw in evenly(total, min(DRAWS, total)):
        names = map(str, tree["posterior"].data_vars)
        values = {name: flat(tree, name, slice(draw, draw + 1))[0] for name in names}
        effects = item_effects(model, values)
        if effects is None:
            return None
        found = model.states({name: value[None] for name, value in values.items()})
        assert found is not None
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
