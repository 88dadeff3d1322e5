"""The numbers of a fit put right by audited items, as tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

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
from annomodels.auditing.sample import designed, sized
from annomodels.auditing.spans import (
    estimate_spans,
    is_of_spans,
    judged_spans,
    refuse_of_spans,
    rounds_of,
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
# strata are made as for so many audited items at least
FEWEST = 30
OTHER = (
    "The items were drawn from another fit of these data; each counts by its probability there, "
    "so intervals are wider than with an audit of this fit."
)
BY_DESIGN = (
    "The items were drawn at random: intervals of the audit alone do not depend on the model."
)


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Summary):
    """Estimates from audited items and a fit; every table has 95 % intervals.

    Their ends are the 2nd and the 98th percentile of the draws. How often they cover the true
    number was measured on public sets and simulated crowds, see docs/guide/evidence.md.

    Parameters
    ----------
    title, draws, notes, columns
        As of every summary; the draws are wrong, still_wrong and prevalence.
    table
        One row for each of accuracy (share of the gold labels that are right), wrong (how many are
        wrong) and the prevalence of each label: quantity, label, value, low, high; audit,
        audit_low, audit_high (the audited items alone, without a model); model, model_low,
        model_high (what the fit says alone).
    thresholds
        One row for each threshold: gold labels at least as probable as it, their number, and how
        many of them are right.
    coders
        One row for each coder: number of labels, of audited ones, of right ones among these, and
        the share of their labels that is right.
    classes
        One row for each coder and label, where they are not too many: of the audited items whose
        truth is the label, the share that the coder gave it (its recall; with two labels that
        of the other one is the specificity).
    slices
        One row for each slice, quantity and label, as in `table`. Each slice is estimated by
        itself, because errors can gather in it; without audited items it has the share by the
        model and no interval. The same holds for `thresholds` and `systems`.
    differences
        One row for each two slices of one kind: the difference of a quantity, and the probability
        that the first is higher.
    systems
        One row for each system compared in pairs: the share of its comparisons that it won, a tie
        counting one half.
    panel
        Quantities on all coders together: how many independent ones they are worth, and how they
        compare with the best one alone.
    needs
        One row for each number of further items: the expected width of the interval of accuracy.
    by_design
        True if the sampling design alone guarantees the coverage of the intervals.
    n_audited, n_items
        How many items were drawn and judged, and how many there are whose truth the fit did not
        know.
    answers
        The truth of the judged items by code.
    lesson
        What they teach of P(truth) of the others.
    how
        Design of the sample: "audit" (by am.audit), "random", "weights", or "chosen".
    mark
        Of the items and P(truth) of the fit that it is of.
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
            When there is none.
        """
        at = (self.table["quantity"] == quantity) & (self.table["label"] == label)
        if not at.any():
            raise KeyError(f"The table has no {quantity} {label!s}.")
        found = self.table[at].iloc[0]
        return {str(name): found[name] for name in found.index}

    def after(self, fit: Fit) -> Fit:
        """Return the fit with its gold labels as they are after the audit, for tables and the page.

        Audited items are known, and P(truth) of the others is as they teach it. Coders and
        prevalence stay those of the fit: what the audit says of them is in the tables here.

        Parameters
        ----------
        fit
            The fit that was audited, of which further rounds are to be drawn.

        Raises
        ------
        AnnotationError
            When the estimate is of other data, or of another fit of them.
        """
        if belief_mark(fit) != self.mark:
            what = "The estimate is of other data than this fit, or of another fit of them."
            remedy = (
                f"Give the fit that was given to {Verb('am.estimate', 'annomodels estimate')}, as "
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

    In stratum s of :math:`N_s` items, :math:`y_s` of :math:`n_s` audited ones have what is counted.
    :math:`\mu_s` is what the fit says of the stratum, moved by a shift and a slope that all strata
    share (for the share of a label, those that mostly have it and the others share one each); they
    and the weight w of the model are estimated from the audited items under a nearly flat prior. T
    counts the items at hand. No interval is narrower than that of an estimate without bias from
    the same strata, so that it allows for a model that is wrong.

    Parameters
    ----------
    fit
        A fit of classes in memory, or of spans: its precision, recall and F1 are estimated.
    truth
        The true labels of audited items: a mapping, or a file with the columns item and label.
        Items without a label are passed over.
    audit
        What :func:`annomodels.audit` gave for this fit, or the file that it was saved to.
    use
        Without `audit`: "audit" if all items had the same chance to be judged; "fit", the default,
        if that is not known, so that the numbers rest on the model.
    by
        Slices: for each name the slice of each item, such as ``{"system": {"t1": "A"}}``.
    pairs
        Where an item compares two systems: these two, in the order of `wins`.
    wins
        The label that says that the first system won, and the one that the second did; the first
        two labels by default. Others are ties.
    weights
        Without `audit`: inverse of the probability with which each judged item was drawn.
    clusters
        The cluster of items that are repeats of each other; those of one cluster count as one.
    draws, seed
        Number and seed of the draws.

    Returns
    -------
    Estimate

    Raises
    ------
    AnnotationError
        When the answers cannot be used: items or labels that the fit does not have, an item with
        two truths, no item in common with the draw, the draw of another fit, weights that do not
        fit; each problem is named.
    NotApplicable
        When the fit has no classes in memory, or options contradict each other.

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
        rounds = rounds_of(audit, fit)
        drawn = None if rounds is None else [name for each in rounds for name in each]
        return estimate_spans(fit, judged_spans(fit, truth), drawn=drawn, seed=seed)
    fit = cast("Fit", fit)
    sized(fit, None, None)
    if use not in (None, "audit", "fit"):
        raise NotApplicable(f"{Option('use', use)} is unknown. Use 'audit' or 'fit'.")
    if audit is not None and (use is not None or weights is not None):
        raise NotApplicable(
            f"How the items were drawn is in the audit: leave out {Option('use')} and "
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
        # drawn with chances that another fit of these data gave: they hold for this one too
        chance = dict(zip(design.items(fit).tolist(), design.chances, strict=True))
        own = np.array([1.0 / chance[item] for item in answered.item.tolist()])
        notes.insert(1, OTHER)
    if design is not None and own is None:  # those they were drawn from
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
        notes.append(f"The audited items are of {counted(together, 'cluster')}.")
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
        "How the judged items were chosen is not known, so they show nothing about the others. "
        "The intervals rest on the model and its errors on public data sets. Draw items with "
        f"{Verb('am.audit', 'annomodels audit')}, or use {Option('use', 'audit')} if all items "
        f"had the same chance, or {Option('weights')} if chances differed."
    )
