"""Estimates of a fit corrected by audited items, as tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from annomodels.auditing.answers import Answers, answers_of, apart, counts_of, weights_of
from annomodels.auditing.columns import SHOWN
from annomodels.auditing.design import (
    belief_mark,
    beliefs,
    calibration_prior,
    fingerprint,
    open_items,
    stratify,
)
from annomodels.auditing.estimator import Estimator
from annomodels.auditing.sample import auditable, designed
from annomodels.auditing.spans import (
    estimate_spans,
    is_of_spans,
    judged_spans,
    refuse_of_spans,
)
from annomodels.auditing.tables import (
    Tables,
    accuracies,
    classes,
    coders,
    named_codes,
    panel,
    slices,
    systems,
)
from annomodels.auditing.teach import Lesson, after, taught
from annomodels.data.columns import columns
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, NotApplicable, Option, Problem, Verb, valid_seed

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit
    from annomodels.spans.fit import SpanFit

DRAWS = 4000
# minimum number of audited items for the number of strata
FEWEST = 30
OTHER = (
    "The items were drawn from another fit of these data; each is weighted by its probability in "
    "that draw, so intervals are wider than with an audit of this fit."
)
BY_DESIGN = (
    "The items were drawn at random: intervals of the audit alone do not depend on the model."
)


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
        Quantities of all coders together: the effective number of coders, and the comparison with
        the best coder.
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
            raise AnnotationError(Problem(what, "estimate", remedy))
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
    if is_of_spans(fit):
        refuse_of_spans(use=use, by=by, pairs=pairs, weights=weights, clusters=clusters)
        drawn = None if audit is None else designed(audit, fit).drawn
        return estimate_spans(fit, judged_spans(fit, truth), drawn=drawn, seed=seed)
    auditable(fit)
    if use not in (None, "audit", "fit"):
        raise NotApplicable(f"{Option('use', use)} is unknown. Use 'audit' or 'fit'.")
    if audit is not None and (use is not None or weights is not None):
        raise NotApplicable(
            f"The audit already contains how the items were drawn: leave out {Option('use')} and "
            f"{Option('weights')}."
        )
    if weights is not None and use is not None:
        raise NotApplicable(f"Give {Option('use')} or {Option('weights')}, not both.")
    design = None if audit is None else designed(audit, fit)
    answered = answers_of(fit, truth, design)
    by_design = design is not None or use == "audit" or weights is not None
    if not by_design:
        answered = answered.as_extra()
    notes = [BY_DESIGN if by_design else _chosen(), *answered.notes]
    own = None
    if design is not None and design.fingerprint != fingerprint(fit):
        # selection probabilities from another fit of these data are valid for this fit, too
        chance = dict(zip(design.items(fit).tolist(), design.chances, strict=True))
        own = np.array([1.0 / chance[item] for item in answered.item.tolist()])
        notes.insert(1, OTHER)
    if design is not None and own is None:  # the strata of the sample
        strata = design.strata(fit).without(answered.extra)
    else:
        part = open_items(fit, None if design is None else design.among)
        part[answered.extra] = False
        strata = stratify(beliefs(fit), part, max(len(answered.item), FEWEST))
    n_items = int(strata.size.sum()) + len(answered.extra)
    weight = own if weights is None else weights_of(fit, answered, weights, n_items)
    cluster = None if clusters is None else named_codes(fit, clusters)[0]
    seen, alone = counts_of(answered, strata, weight, cluster, alike=use == "audit")
    tables = Tables(
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
        notes.append(f"The audited items come from {counted(together, 'cluster')}.")
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
        columns=(*columns("quantity label"), *SHOWN["overall"]),
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
    return (
        "It is unknown how the judged items were chosen, so they show nothing about the other "
        "items. The intervals rest on the model and its errors on public data sets. Draw items "
        f"with {Verb('am.audit', 'annomodels audit')}, or use {Option('use', 'audit')} if all "
        f"items had the same chance, or {Option('weights')} if chances differed."
    )
