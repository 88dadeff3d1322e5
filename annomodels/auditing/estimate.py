"""Estimates of a fit corrected by audited items, as tables, and its gold labels after an audit."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.auditing.answers import Answers, answers_of, apart, counts_of, weights_of
from annomodels.auditing.columns import SHOWN
from annomodels.auditing.design import belief_mark, beliefs, calibration_prior, say, stratify
from annomodels.auditing.estimator import Estimator
from annomodels.auditing.sample import audited, designed
from annomodels.auditing.spans import estimate_spans, is_of_spans, judged_spans, refuse_of_spans
from annomodels.auditing.tables import (
    AuditTables,
    accuracies,
    classes,
    coders,
    named_codes,
    panel,
    slices,
    systems,
)
from annomodels.data.schema import observed_data
from annomodels.data.summary import Summary
from annomodels.errors import AnnotationError, NotApplicable, Option, Verb, valid_seed
from annomodels.models.mixtures.stack import Dependence, Stack
from annomodels.summaries.draws import Stacked, model_of, stacked
from annomodels.summaries.trust.known_truth import log_loss, to_be_expected
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit
    from annomodels.spans.fit import SpanFit


FOLDS = 5


@dataclass(frozen=True, eq=False)
class Lesson:
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


DRAWS = 4000
# minimum number of audited items for the number of strata
FEWEST = 30


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Summary):
    """Estimates from audited items and a fit; every table has 95 % intervals.

    Their ends are the 2nd and the 98th percentile of the draws. Their coverage was measured on
    public data sets and simulated crowds, see docs/guide/evidence.md.

    Parameters
    ----------
    title, draws, notes, columns
        As in every summary; the draws are wrong, still_wrong and prevalence.
    table
        One row for each of accuracy (proportion of right gold labels), wrong (number of wrong gold
        labels) and the prevalence of each label: quantity, label, value, low, high; audit,
        audit_low, audit_high (by the audited items alone, without a model); model, model_low,
        model_high (by the fit alone).
    thresholds
        One row per threshold: number and accuracy of the gold labels whose probability is at least
        the threshold.
    coders
        One row per coder: number of labels, of audited labels, of right audited labels, and the
        accuracy of all labels.
    classes
        One row per coder and label, unless there are too many: the recall of the coder for the
        label, on audited items (with two labels, the recall of the other label is the specificity).
    slices
        One row per slice, quantity and label, as in `table`. Each slice is estimated separately,
        because errors can cluster in it; without audited items it has the value by the model and
        no interval. The same applies to `thresholds` and `systems`.
    differences
        One row per pair of slices of one kind: the difference of a quantity, and the probability
        that the first is higher.
    systems
        One row per system that is compared in pairs: its win rate, in which a tie counts one half.
    panel
        Quantities of all coders together: the effective number of coders, without an interval,
        and the comparison with the best coder.
    needs
        One row per number of further items: the expected width of the interval of the accuracy.
    by_design
        True if the sampling design alone guarantees the coverage of the intervals.
    n_audited, n_items
        Number of items that were drawn and judged, and of items of unknown truth in the fit.
    answers
        The truth of the judged items by code.
    lesson
        P(truth) of all items, updated on the judged ones.
    how
        Design of the sample: "audit" (by am.audit), "random", "weights", or "chosen".
    mark
        Hash of the items and P(truth) of the fit.
    """

    thresholds: pd.DataFrame = field(kw_only=True)
    coders: pd.DataFrame = field(kw_only=True)
    classes: pd.DataFrame = field(kw_only=True)
    slices: pd.DataFrame = field(kw_only=True)
    differences: pd.DataFrame = field(kw_only=True)
    systems: pd.DataFrame = field(kw_only=True)
    panel: pd.DataFrame = field(kw_only=True)
    needs: pd.DataFrame = field(kw_only=True)
    by_design: bool = field(kw_only=True)
    n_audited: int = field(kw_only=True)
    n_items: int = field(kw_only=True)
    answers: Answers = field(kw_only=True)
    lesson: Lesson = field(kw_only=True)
    how: str = field(kw_only=True)
    mark: str = field(kw_only=True)

    def row(self, quantity: str, label: Hashable = "") -> dict[str, Any]:
        """Return one row of the table.

        Raises
        ------
        KeyError
            If there is no such row.
        """
        at = (self.table["quantity"] == quantity) & (self.table["label"] == label)
        if not at.any():
            raise KeyError(f"The table has no {quantity} {label!s}.")
        found = self.table[at].iloc[0]
        return {str(name): found[name] for name in found.index}

    def after(self, fit: Fit) -> Fit:
        """Return the fit with its gold labels after the audit, for tables and the page.

        Audited items are known, and P(truth) of the others is updated on them. Coders and
        prevalence are those of the fit; the tables here show their estimates by the audit.

        Parameters
        ----------
        fit
            The audited fit, from which further rounds are drawn.

        Raises
        ------
        AnnotationError
            If the estimate is of other data, or of another fit.
        """
        if belief_mark(fit) != self.mark:
            what = "The estimate belongs to other data, or to another fit of these data."
            remedy = (
                f"Give the fit that was passed to {Verb('am.estimate', 'annomodels estimate')}, as "
                "it was before the audit."
            )
            raise AnnotationError(what, "estimate", remedy)
        found = after(fit, self.answers, self.lesson, self.draws["still_wrong"].values)
        row = self.row("still_wrong")
        ends = {"wrong": row["value"], "wrong_low": row["low"], "wrong_high": row["high"]}
        found.tree["audit"].attrs |= {"mark": self.mark, **ends}
        return found


def estimate(
    fit: Fit | SpanFit,
    truth: Any,
    audit: Any = None,
    *,
    use: str | None = None,
    by: Mapping[str, Mapping[Any, Any]] | None = None,
    pairs: Mapping[Any, tuple[Hashable, Hashable]] | None = None,
    wins: tuple[Hashable, Hashable] | None = None,
    weights: Mapping[Any, float] | None = None,
    clusters: Mapping[Any, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Any:
    r"""Estimate the accuracy of gold labels and coders from items that an expert judged.

    .. math::

        \theta_s \sim \text{Beta}(w \mu_s, w (1 - \mu_s)), \quad
        y_s \sim \text{Binomial}(n_s, \theta_s), \quad
        T = \sum_s y_s + \sum_s \text{Binomial}(N_s - n_s, \theta_s)

    In stratum s of :math:`N_s` items, :math:`y_s` of :math:`n_s` audited items have the counted
    property. :math:`\mu_s` is the prediction of the fit, corrected by a shift and a slope that all
    strata share (for the share of a label, strata that mostly have it and the others are separate).
    These and the weight w of the model are estimated from the audited items under a nearly flat
    prior. T is the total in the data. No interval is narrower than that of an unbiased estimate
    from the same strata, so that it allows for a wrong model.

    Parameters
    ----------
    fit
        A fit of classes in memory, or of spans: its precision, recall and F1 are estimated.
    truth
        The true labels of audited items: a mapping, or a file with the columns item and label.
        Items without a label are ignored.
    audit
        The result of :func:`annomodels.audit` for this fit, or its file.
    use
        Without `audit`: "audit" if all items had the same probability of selection; "fit", the
        default, if that is unknown, so that the estimates depend on the model.
    by
        Slices: for each name, the slice of each item, such as ``{"system": {"t1": "A"}}``.
    pairs
        If items compare two systems: the two systems of each item, in the order of `wins`.
    wins
        The labels for a win of the first and of the second system, by default the first two labels.
        Other labels are ties.
    weights
        Without `audit`: the inverse selection probability of each judged item.
    clusters
        Cluster of each item, for items that repeat each other; a cluster counts as one item.
    draws, seed
        Number and seed of the draws.

    Returns
    -------
    Estimate

    Raises
    ------
    AnnotationError
        If the answers are invalid: unknown items or labels, an item with two truths, no item of the
        sample, a sample of other data, or inconsistent weights; lists each problem.
    NotApplicable
        If the fit has no classes in memory, or options contradict each other.

    References
    ----------
    A. N. Angelopoulos, J. C. Duchi and T. Zrnic (2023). PPI++: efficient prediction-powered
    inference. arXiv:2311.01453. R. J. A. Little (1993). Post-stratification: a modeler's
    perspective. Journal of the American Statistical Association 88(423), 1001-1012,
    doi:10.1080/01621459.1993.10476368.

    Examples
    --------
    >>> import annomodels as am
    >>> made = am.simulate(items=300, coders=12, seed=1)
    >>> fit = am.fit(made.annotations, draws=200, warmup=200, chains=2, seed=1)
    >>> audit = am.audit(fit, 40, seed=1)
    >>> truth = {item: made.answers[item] for item in audit.table["item"]}
    >>> found = am.estimate(fit, truth, audit)
    >>> found.by_design, found.n_audited
    (True, 40)
    """
    of = audited(fit)
    if is_of_spans(fit):
        refuse_of_spans(use=use, by=by, pairs=pairs, weights=weights, clusters=clusters)
        drawn = None if audit is None else designed(audit, of).drawn
        return estimate_spans(fit, judged_spans(fit, truth), drawn=drawn, seed=seed)
    if use not in (None, "audit", "fit"):
        raise NotApplicable(f"{Option('use', use)} is unknown. Use 'audit' or 'fit'.")
    if audit is not None and (use is not None or weights is not None):
        raise NotApplicable(
            f"The audit already contains how the items were drawn: leave out {Option('use')} and "
            f"{Option('weights')}."
        )
    if weights is not None and use is not None:
        raise NotApplicable(f"Give {Option('use')} or {Option('weights')}, not both.")
    design = None if audit is None else designed(audit, of)
    answered = answers_of(fit, truth, design)
    by_design = design is not None or use == "audit" or weights is not None
    if not by_design:
        answered = answered.as_extra()
    notes = [say("by_design") if by_design else _chosen(), *answered.notes]
    own = None
    if design is not None and design.fingerprint != of.mark:
        # selection probabilities from another fit of these data are valid for this fit, too
        chance = dict(zip(design.items(of.names).tolist(), design.chances, strict=True))
        own = np.array([1.0 / chance[item] for item in answered.item.tolist()])
        notes.insert(1, say("other_fit"))
    if design is not None and own is None:  # the strata of the sample
        strata = of.strata(design).without(answered.extra)
    else:
        part = of.open(None if design is None else design.among)
        part[answered.extra] = False
        strata = stratify(beliefs(fit), part, max(len(answered.item), FEWEST))
    n_items = int(strata.size.sum()) + len(answered.extra)
    weight = own if weights is None else weights_of(fit, answered, weights, n_items)
    cluster = None if clusters is None else named_codes(fit, clusters)[0]
    seen, alone = counts_of(answered, strata, weight, cluster, alike=use == "audit")
    tables = AuditTables(
        fit=fit,
        estimator=Estimator(beliefs(fit), strata, *calibration_prior(fit)),
        seen=seen,
        answers=answered,
        weights=alone,
        cluster=None if cluster is None else apart(cluster[seen.item]),
        alike=use == "audit" and cluster is None,
        cautious=design is not None,
        n_draws=draws,
        seed=valid_seed(seed),
    )
    if cluster is not None:
        together = len(np.unique(cluster[seen.item]))
        notes.append(say("clusters", n=together))
    cuts = {name: named_codes(fit, each) for name, each in (by or {}).items()}
    of_slices, differences = slices(tables, cuts)
    share, n = accuracies(tables)
    how = "weights" if weights is not None else "random" if use == "audit" else "chosen"
    how = how if design is None else "audit"
    return Estimate(
        "Estimate",
        tables.overall(),
        tables.draws(),
        (*notes, *tables.sentences()),
        columns=SHOWN["overall"],
        thresholds=tables.thresholds(),
        coders=coders(tables, share, n),
        classes=classes(tables),
        slices=of_slices,
        differences=differences,
        systems=systems(tables, pairs, wins),
        panel=panel(tables, share, n),
        needs=tables.needs(design),
        by_design=by_design,
        n_audited=len(seen.item),
        n_items=n_items,
        answers=answered,
        lesson=taught(fit, answered),
        how=how,
        mark=belief_mark(fit),
    )


def _chosen() -> str:
    draw = Verb("am.audit", "annomodels audit")
    weights = Verb("weights=", "annomodels estimate --weights")
    return say("chosen", draw=draw, use=Option("use", "audit"), weights=weights)
