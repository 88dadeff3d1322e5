"""Everything the page shows, computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annomodels.reporting.health import Counts, Health, health
from annomodels.reporting.judgements import suspicious
from annomodels.reporting.once import Once
from annomodels.reporting.wrong import Wrong

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.data.annotations import Annotations
    from annomodels.summaries.next_labels import NextLabels
    from annomodels.summaries.summary import Summary

__all__ = ["BUDGET", "CERTAIN", "Known", "ReportData", "collect"]

CERTAIN = 0.95  # probability from which the page says "very probably"
BUDGET = 100  # labels to ask for next


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of any fit, also of one whose labels are on disk.

    Parameters
    ----------
    fit
        What was fitted, without names when the page is anonymous.
    target
        Accuracy asked of the coders, or None.
    check
        Verdict of the diagnostics.
    health
        Facts about the data.
    coders, coverage
        Summaries of the fit.
    """

    fit: Any
    target: float | None
    check: Any
    health: Counts
    coders: Summary
    coverage: Summary

    @property
    def data(self) -> Any:
        """What was labelled."""
        return self.fit.data

    @property
    def surely_bad(self) -> pd.DataFrame:
        """Coders that are very probably spammers, adversaries, at chance, or below the target."""
        table = self.coders.table
        names = ["p_spammer", "p_adversary", "p_no_better_than_chance", "p_below_target"]
        return table[(table[names].astype(float) > CERTAIN).any(axis=1)]

    @property
    def flagged(self) -> pd.DataFrame:
        """The same, and those that look like it, worst skill first."""
        table = self.coders.table
        bad = table["kind"].isin(["spammer", "adversary"])
        bad |= table.index.isin(self.surely_bad.index)
        return table[bad].sort_values("skill", kind="stable")


@dataclass(frozen=True, eq=False)
class ReportData(Known):
    """Summaries and facts that the sections of the page are made from.

    Parameters
    ----------
    fit
        What was fitted, without names when the page is anonymous, with its summaries.
    target, check, coders, coverage
        As of :class:`Known`.
    health
        Facts about the data.
    gold, items, labels, pairs, agreement, predictive
        Summaries of the fit.
    following
        The next labels to ask for.
    calibration
        Gold labels against truth that was held back, or None.
    comparison
        The fit among others of the same data, or None.
    wrong
        Numbers of wrong labels to be expected.
    judgements
        The most suspicious single labels.
    """

    fit: Once
    health: Health
    gold: Summary
    items: Summary
    labels: Summary
    pairs: Summary
    agreement: Summary
    predictive: Summary
    following: NextLabels
    calibration: Summary | None
    comparison: Summary | None
    wrong: Wrong
    judgements: pd.DataFrame

    @property
    def data(self) -> Annotations:
        """The annotations."""
        return self.fit.data

    @property
    def settled(self) -> int:
        """Number of items with a settled label."""
        return int(self.gold.table["settled"].sum())

    @property
    def too_sure(self) -> bool:
        """Whether errors gather on some items, and P(truth) takes no account of that."""
        if "pool" in self.fit.tree.children:
            return False
        table = self.check.table
        about = table["name"].isin(("errors on the same items", "spread of the votes"))
        return bool((about & ~table["ok"].astype(bool)).any())

    def in_quadrant(self, name: str) -> int:
        """Count the items of a quadrant."""
        return int((self.items.table["quadrant"] == name).sum())


def collect(
    fit: Any,
    target: float | None = None,
    *,
    others: Sequence[Any] = (),
    known: Mapping[Any, Any] | None = None,
) -> ReportData:
    """Compute each summary of a fit once.

    Parameters
    ----------
    fit
        A fit, or one that remembers its summaries (:class:`annomodels.reporting.once.Once`).
    target
        Accuracy asked of the coders.
    others
        Fits of other models to the same data, to compare with.
    known
        Truth by name of item that the fit was not told.
    """
    from annomodels.fitting.compare import compare
    from annomodels.summaries.calibration import calibration
    from annomodels.summaries.coverage import coverage

    once = Once(fit)
    return ReportData(
        fit=once,
        target=target,
        check=once.check(),
        health=health(fit.data),
        gold=once.gold(),
        coders=once.coders(target),
        items=once.items(),
        labels=once.labels(),
        pairs=once.labels(pairs=True),
        agreement=once.agreement(),
        predictive=once.predictive(),
        coverage=coverage(fit.tree, fit.data),
        following=once.next(BUDGET),
        calibration=calibration(fit.tree, fit.data, known) if known else None,
        comparison=compare([once.fit, *others]) if others else None,
        wrong=once.wrong(),
        judgements=suspicious(fit),
    )
