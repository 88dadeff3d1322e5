"""Gold labels after an audit: known truths, and P(truth) of other items given these."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import xarray as xr

from annomodels.auditing.answers import Answers
from annomodels.auditing.design import beliefs
from annomodels.data.schema import observed_data
from annomodels.summaries.draws import model_of
from annomodels.summaries.stacked import Stacked, stacked
from annomodels.summaries.trust.calibration import log_loss
from annomodels.summaries.trust.known_truth import to_be_expected
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit
    from annomodels.models.mixtures.stack import Stack

FOLDS = 5
SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class Lesson:
    """P(truth) after an audit."""

    p_truth: Floats  # audited items are known [item, truth]
    # mean log loss of the audited items by P(truth) of the fit, and by P(truth) updated on the
    # other folds; `after` is NaN if the model cannot be updated
    before: float
    after: float
    used: bool  # whether P(truth) of the other items is updated, because that predicts better


def taught(fit: Fit, answers: Answers) -> Lesson:
    """Update P(truth) of a fit on audited items, if that predicts held-out items better."""
    # For a stack they update its calibration, the proportion of items that the crowd cannot decide,
    # and its label biases. Each item is scored by P(truth) updated on the other folds.
    p = beliefs(fit)
    item = np.concatenate([answers.item, answers.extra])
    truth = np.concatenate([answers.truth, answers.extra_truth])
    before = log_loss(p[item], truth)
    after, used, new = np.nan, False, p.copy()
    stack = stacked(fit.tree)
    if stack is not None and len(item) > FOLDS:
        fold = np.random.default_rng(fit.seed).permutation(len(item)) % FOLDS
        held = np.empty((len(item), p.shape[1]))
        for number in range(FOLDS):
            mine = fold == number
            held[mine] = _layered(fit, stack, item[~mine], truth[~mine], item[mine])
        after = log_loss(held, truth)
        used = bool(after < before)
        if used:
            new = _layered(fit, stack, item, truth, np.arange(len(p)))
    told = np.flatnonzero(fit.data.known >= 0)
    new[told] = p[told]
    new[item] = np.eye(p.shape[1])[truth]
    return Lesson(new, before, float(after), used)


def _layered(fit: Fit, stack: Stacked, item: Ints, truth: Ints, of: Ints) -> Floats:
    """Return P(truth) of the items `of` from a stack calibrated on the items `item`."""
    from annomodels.engines.layer import draw_layer
    from annomodels.engines.source.stacked import averaged
    from annomodels.models.mixtures.stack import Dependence

    model, log_q = cast("Stack", model_of(fit.tree)), stack.log_q
    gold = np.array(fit.data.known)
    gold[item] = truth
    dependence = Dependence(**json.loads(fit.tree.attrs["dependence"]))
    layer = draw_layer(model, log_q, gold, dependence, fit.seed)
    return averaged(log_q[of], layer)[0]


def after(fit: Fit, answers: Answers, lesson: Lesson, still_wrong: Floats) -> Fit:
    """Return a fit with the gold labels after an audit, for tables and the page."""
    # Audited items are known, P(truth) of the others is updated, and the number of remaining wrong
    # labels is that of the estimate. Coders and prevalence are those of the fit.
    gold = np.array(fit.data.known)
    gold[answers.item], gold[answers.extra] = answers.truth, answers.extra_truth
    tree = fit.tree.copy(deep=False)
    truth = tree["truth"].to_dataset().copy()
    known = np.flatnonzero(gold >= 0)
    error = truth["p_truth_mcse"].values.copy()
    error[known] = 0.0
    truth["p_truth"] = truth["p_truth"].copy(data=lesson.p_truth)
    truth["p_truth_mcse"] = truth["p_truth_mcse"].copy(data=error)
    tree["truth"] = xr.DataTree(truth)
    stats = tree["sample_stats"].to_dataset().copy()
    sizes = tree["posterior"].sizes
    shape = int(sizes["chain"]), int(sizes["draw"])
    # quantiles at even spacing, so that mean and interval are those of the estimate
    number = int(np.prod(shape))
    at = np.minimum((np.arange(number) + 0.5) * len(still_wrong) / number, len(still_wrong) - 1)
    spread = np.sort(still_wrong)[at.astype(np.int64)]
    spread = np.random.default_rng(fit.seed).permutation(spread)
    stats["wrong"] = (("chain", "draw"), spread.reshape(shape))
    tree["sample_stats"] = xr.DataTree(stats)
    data = fit.data.replace(gold=gold)
    tree["observed_data"] = xr.DataTree(observed_data(data))
    tree["audit"] = xr.DataTree(_judged(fit, answers))
    return replace(fit, data=data, tree=tree)


def _judged(fit: Fit, answers: Answers) -> xr.Dataset:
    """Return the fit's P(truth) of the judged items before the audit, as a group of the tree."""
    item = np.concatenate([answers.item, answers.extra])
    p = beliefs(fit)[item]
    drawn = np.arange(len(item)) < len(answers.item)
    best, mine = p.argmax(axis=1), answers.item
    held = {"item": item, "drawn": drawn, "best": best, "wrong": 1.0 - p.max(axis=1)}
    told = xr.Dataset({f"audited_{name}": ("audited", each) for name, each in held.items()})
    # the expected number of wrong labels; later the data contain their truth
    expected = to_be_expected(fit.tree, fit.data, mine, best[: len(mine)])
    return told.assign(expected_wrong=("expected_draw", expected))
