"""Facts about the data and a fit, each computed once on first use; counts of the check."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from annomodels.data.alike import components
from annomodels.data.annotations import Annotations
from annomodels.data.columns import percent
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.data.validation import rated, some, variants
from annomodels.errors import AnnotationError
from annomodels.limits import AUDIT_GOAL, AUDIT_HOUR, AUDIT_MOST, CODER_JUDGED, CODER_THIN, STATES
from annomodels.models.catalog import is_stack
from annomodels.summaries.gold import CURVE, Wrong, as_coders_read, wrong_interval
from annomodels.summaries.next_labels import NextLabels, withheld
from annomodels.summaries.trust.known_truth import calibration, contradicted, held_back_finding
from annomodels.types import Ints

if TYPE_CHECKING:
    from annomodels.auditing.estimate import Estimate
    from annomodels.fitting.fit import Fit
    from annomodels.scale.scanned import Scanned
    from annomodels.scale.tally import Tally
    from annomodels.summaries.trust.checks import Check


@dataclass(frozen=True)
class Shown:
    """Input columns on the page: the text of each item, and others by name."""

    text: Mapping[Any, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)


LEAST_AUDITED = 20  # items below which a percentage of them means little
# advice that the first screen gives, in its order
ADVICE = ("stop", "correct", "give test items", "retrain")


class Facts:
    def __init__(
        self,
        fit: Fit,
        target: float | None = None,
        *,
        others: Sequence[Fit] = (),
        known: Mapping[Any, Any] | None = None,
        estimate: Estimate | None = None,
        shown: Shown | None = None,
    ) -> None:
        self.fit, self.data, self.tree = fit, fit.data, fit.tree
        self.truth, self.on_disk, self.unsupported = (
            fit.model.truth,
            fit.truth is not None,
            fit.unsupported,
        )
        self.target, self.others, self.known = target, others, known
        self.shown = Shown() if shown is None else shown
        self.estimate = None if estimate is None else renamed(estimate, fit)

    def has(self, verb: str) -> bool:
        return not self.unsupported(verb)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the fitted data, without truth from an audit."""
        return str(before_audit(self.fit).data.fingerprint)

    @cached_property
    def check(self) -> Check:
        """Diagnostics, with a test on held-out truth if given."""
        found = self.fit.check()
        if self.known is None or not self.has("wrong_labels"):
            return found
        from annomodels.summaries.trust.checks import tested_on

        return tested_on(found, self.tree, self.data, self.known)

    @cached_property
    def coders(self) -> Summary:
        return self.fit.coders(*(() if self.target is None else (self.target,)))

    @cached_property
    def following(self) -> NextLabels:
        plan = self.fit.next(target=self.target)
        # not self.check, which another thread may be computing
        tested = held_back_finding(self.tree, self.data, self.known) if self.known else None
        return withheld(plan) if contradicted(tested) else plan

    @cached_property
    def to_audit(self) -> tuple[int, float]:
        """Number of random items to judge, and the relative width of the interval then.

        The number halves the interval of wrong labels if that takes at most half a working day;
        otherwise it is one hour of items. The width is NaN if unknown, 0 if all items are judged.
        """
        from annomodels.auditing.design import Items, calibration_prior
        from annomodels.auditing.estimator import forecast_widths, needed

        fit, of, items = self.fit, self.wrong, Items(self.fit)
        width = (of.gold_high - of.gold_low) / max(of.n, 1)
        forecast = partial(forecast_widths, items.p, items.open(), calibration_prior(fit))
        if of.n <= AUDIT_HOUR:
            return of.n, 0.0
        if not width > 0:
            return AUDIT_HOUR, float("nan")
        plan = [row for row in forecast() if row[0] <= 2 * AUDIT_MOST]
        size = needed(plan, AUDIT_GOAL * width, of.n)
        # a size that a person remembers, and that gives every stratum its items
        size = max(10 * math.ceil(size / 10), LEAST_AUDITED)
        if size <= min(AUDIT_MOST, of.n):
            return size, AUDIT_GOAL
        found = forecast((AUDIT_HOUR,))
        return AUDIT_HOUR, min(found[0][1] / width, 1.0) if found else float("nan")

    @cached_property
    def calibration(self) -> Summary | None:
        if not self.known:
            return None
        return calibration(self.tree, self.data, self.known)

    @cached_property
    def comparison(self) -> Summary | None:
        if not self.others:
            return None
        from annomodels.fitting.compare import compare

        return compare([before_audit(self.fit), *self.others])

    @cached_property
    def wrong(self) -> Wrong:
        if not self.on_disk:
            return self.fit.wrong_labels(self.known)
        low, high = wrong_interval(self.tree) or (np.nan, np.nan)
        open_items = self.data.n_items - self.known_items
        return Wrong(open_items, float(self.tree.attrs["expected_errors"]), low, high)

    @cached_property
    def as_coders_read(self) -> tuple[int, int] | None:
        """Interval of wrong labels for an expert who reads as coders do; None after an audit."""
        if self.on_disk or self.truth != "class" or self.wrong.tested or self.wrong.by_audit:
            return None
        return as_coders_read(self.tree, self.data)

    @property
    def distance(self) -> float:
        """Proportion of the interval's width due to the distance of crowd and expert."""
        width = self.wrong.gold_high - self.wrong.gold_low
        if self.as_coders_read is None or not width > 0:
            return 0.0
        low, high = self.as_coders_read
        return max(1.0 - (high - low) / width, 0.0)

    @cached_property
    def tally(self) -> Tally:
        """Counts of a gold standard on disk."""
        from annomodels.scale.tally import tally

        return tally(self.fit)

    @cached_property
    def coverage(self) -> Summary:
        """Number of items kept at each threshold."""
        if self.has("coverage"):
            return self.fit.coverage(self.known)

        return Summary("What a threshold keeps", self.tally.thresholds, columns=CURVE)

    @cached_property
    def health(self) -> Health:
        return health(self.data, self.tally.per_item if self.on_disk else None)

    @property
    def settled(self) -> int:
        """Number of items with a settled or known label."""
        if self.contradicted:
            return self.known_items
        if self.on_disk:
            return self.tally.settled
        return int((self.state == 0).sum()) + self.known_items

    @property
    def known_items(self) -> int:
        """Number of items with known labels, from the input or an audit."""
        return self.tally.known if self.on_disk else int((self.data.known >= 0).sum())

    @property
    def told_items(self) -> int:
        """Number of items with truth given to the fit, excluding an audit."""
        audit = self.tree["audit"].sizes["audited"] if "audit" in self.tree.children else 0
        return self.known_items - int(audit)

    def advised(self, advice: str) -> pd.DataFrame:
        """Return the coders whose advice starts with a phrase, the worst first."""
        table = self.coders.table
        chosen = table["advice"].str.startswith(advice)
        if advice == "give test items":  # coders with very few labels are in the table only
            chosen &= table["n"] >= CODER_JUDGED
        return table[chosen].sort_values("skill", kind="stable")

    @property
    def flagged(self) -> pd.DataFrame:
        """Coders that the first screen names, those to stop first."""
        return pd.concat([self.advised(advice) for advice in ADVICE])

    @cached_property
    def contradicted(self) -> bool:
        """Return True if known truth shows more wrong labels than the probabilities allow."""
        return any(contradicted(each) for each in self.check.findings)

    @cached_property
    def state(self) -> Ints:
        """State of each item: 0 settled, 1 needs labels, 2 contested, 3 decided, shape [item]."""
        state = self.fit.gold().table["state"].map(STATES.index).to_numpy(int)
        if self.contradicted:  # no item is settled if known truth contradicts the probabilities
            state = np.where(state == 0, 1, state)
        return state

    @cached_property
    def states(self) -> dict[str, int]:
        if self.on_disk:
            known, rest = self.known_items, self.data.n_items - self.settled
            counts = [self.settled - known, rest, 0, known]
        else:
            counts = np.bincount(self.state, minlength=4).tolist()
        return dict(zip(STATES, counts, strict=True))

    @property
    def too_sure(self) -> bool:
        """Return True if errors concentrate on some items and P(truth) ignores that."""
        if is_stack(self.fit.model) or (self.estimate and self.estimate.by_design):
            return False
        codes = ("errors_on_the_same_items", "spread_of_the_votes")
        return any(each.severity and each.code in codes for each in self.check.findings)


def renamed(estimate: Estimate, fit: Fit) -> Estimate:
    """Return an estimate with the coder names of a fit, which may be anonymous."""
    audit = fit.tree["audit"] if "audit" in fit.tree.children else None
    if audit is None or audit.attrs.get("mark") != estimate.mark:
        what = "The estimate belongs to another fit, or this is the fit from before the audit."
        remedy = "Use estimate.after(fit) with the audited fit."
        raise AnnotationError(what, "estimate", remedy)
    names = dict(zip(estimate.coders["coder"], fit.data.coders, strict=True))
    if all(old == new for old, new in names.items()):
        return estimate
    tables = {}
    for name in ("coders", "classes", "panel"):
        table = getattr(estimate, name)
        tables[name] = table.assign(coder=[names.get(coder, coder) for coder in table["coder"]])
    return replace(estimate, **tables)


def before_audit(fit: Fit) -> Fit:
    """Return a fit without truth from an audit, for comparison with other models."""
    if "audit" not in fit.tree.children:
        return fit
    gold = np.array(fit.data.gold)
    gold[fit.tree["audit"].to_dataset()["audited_item"].values] = -1
    return replace(fit, data=fit.data.replace(gold=gold if (gold >= 0).any() else None))


def facts_of(fit: Fit | Facts) -> Facts:
    return fit if isinstance(fit, Facts) else Facts(fit)


_SHOWN = 8
_BY_CHANCE = "Coders agree no more than by chance: these labels may not depend on any truth."


@dataclass(frozen=True)
class CountRange:
    least: int
    median: float
    most: int

    @classmethod
    def of(cls, units: Ints) -> CountRange:
        """Summarize counts from the frequencies of 0, 1, 2, ..., shape [count].

        >>> CountRange.of(np.bincount([1, 2, 2, 3, 7]))
        CountRange(least=1, median=2.0, most=7)
        """
        used, ends = np.flatnonzero(units), np.cumsum(units)
        middle = np.array([ends[-1] - 1, ends[-1]]) // 2  # the same place if their number is odd
        median = np.searchsorted(ends, middle, side="right").mean()
        return cls(int(used[0]), float(median), int(used[-1]))

    def told(self) -> str:
        """Return range and median as text.

        >>> CountRange.of(np.bincount([1, 2])).told(), CountRange.of(np.bincount([3, 3])).told()
        ('1 to 2, median 1.5', '3')
        """
        if self.least == self.most:
            return f"{self.least:,}"
        median = f"{self.median:,.1f}".removesuffix(".0")
        return f"{self.least:,} to {self.most:,}, median {median}"


@dataclass(frozen=True, eq=False)
class Health:
    """Facts about the data that a reader should know before the results."""

    per_item: CountRange  # spread of the number of labels
    per_coder: CountRange
    label_counts: Ints  # number of uses of each label
    single: int  # items with one label only
    # parts of the data that share no coder: number, and sizes in items, largest first, if the
    # labels are in memory
    n_parts: int
    parts: tuple[int, ...]
    unused: tuple[Hashable, ...]  # declared labels that nobody gave
    few: tuple[Hashable, ...]  # coders with fewer than ten labels
    # coders with at least ten labels, all of them the same
    constant: tuple[Hashable, ...]


def health(data: Annotations | Scanned, units: Ints | None = None) -> Health:
    """Summarize the data; for streamed data, `units` counts items with 0, 1, 2, ... labels.

    >>> rows = [("t1", "ana", "pos"), ("t1", "ben", "neg"), ("t2", "cem", "pos")]
    >>> found = health(Annotations.from_records(rows))
    >>> found.parts, found.single, len(found.few)
    ((1, 1), 1, 3)
    """
    per_coder, constant = data.per_coder, np.zeros(data.n_coders, dtype=bool)
    parts: tuple[int, ...] = ()
    if isinstance(data, Annotations):
        units = np.bincount(np.diff(data.starts), minlength=2)
        counts = np.bincount(data.label, minlength=data.n_labels)
        pairs = np.unique(data.coder.astype(np.int64) * data.n_labels + data.label)
        kinds = np.bincount(pairs // data.n_labels, minlength=data.n_coders)
        constant, parts = (kinds == 1) & (per_coder >= CODER_THIN), _parts(data)
        n_parts = len(parts)
    else:
        assert units is not None
        counts, n_parts = data.per_label, data.components
    return Health(
        per_item=CountRange.of(units),
        per_coder=CountRange.of(np.bincount(per_coder)),
        label_counts=counts,
        single=int(units[1]),
        n_parts=n_parts,
        parts=parts,
        unused=tuple(data.labels[k] for k in np.flatnonzero(counts == 0)),
        few=tuple(data.coders[j] for j in np.flatnonzero(per_coder < CODER_THIN)),
        constant=tuple(data.coders[j] for j in np.flatnonzero(constant)),
    )


def _parts(data: Annotations) -> tuple[int, ...]:
    labeled = np.diff(data.starts) > 0
    first = data.coder[data.starts[:-1][labeled]]
    sizes = np.bincount(components(data.item, data.coder)[first])
    alone = np.ones(int((~labeled).sum()), dtype=np.int64)  # items without a label
    return tuple(int(n) for n in -np.sort(-np.concatenate([sizes[sizes > 0], alone])))


class CheckLine(NamedTuple):
    """One line of ``annomodels check``."""

    check: str
    value: Any  # number or text
    remark: str = ""  # meaning or remedy; empty without a problem
    names: tuple[str, ...] = ()  # labels or coders concerned


def findings(data: Annotations) -> list[CheckLine]:
    """Return the counts of ``annomodels check`` in order; ``data.notes`` has details."""
    facts = health(data)
    counts = facts.label_counts
    order = np.argsort(-counts, kind="stable")
    shares = [
        f"{_some([data.labels[k]])} {percent(counts[k] / counts.sum(), 1)}" for k in order[:_SHOWN]
    ]
    more = f" and {data.n_labels - _SHOWN} more" * (data.n_labels > _SHOWN)
    sizes = ", ".join(map(str, facts.parts[:_SHOWN])) + ", ..." * (facts.n_parts > _SHOWN)
    alone = "They carry no information about agreement."
    apart = f"They have {sizes} items and no coder in common."
    return [
        CheckLine("items", data.n_items),
        CheckLine("coders", data.n_coders),
        CheckLine("labels given", data.n_annotations),
        CheckLine("different labels", data.n_labels),
        CheckLine("label shares", ", ".join(shares) + more),
        _named("unused labels", facts.unused, "In the label set, but given by no coder: {}."),
        CheckLine(
            "spelling variants",
            len(variants(data.labels, "label")) + len(variants(data.coders, "coder")),
        ),
        CheckLine("labels per item", facts.per_item.told()),
        CheckLine("items with one label", facts.single, alone * bool(facts.single)),
        CheckLine("labels per coder", facts.per_coder.told()),
        _named(f"coders below {CODER_THIN} labels", facts.few, "Too few labels by {}."),
        _named("constant coders", facts.constant, "They always gave the same label: {}."),
        CheckLine("overlap groups", facts.n_parts, apart * (facts.n_parts != 1)),
        CheckLine("beyond chance", *(("no", _BY_CHANCE) if data.by_chance else ("yes",))),
        CheckLine("repeated labels", data.repeats),
        CheckLine("skipped cells", data.skips),
        CheckLine("items with known truth", int((data.known >= 0).sum())),
        CheckLine("documents", len(data.groups)),
        CheckLine("scale", data.scale, rated(data.labels, data.scale)),
        CheckLine("fingerprint", data.fingerprint),
    ]


def _named(check: str, names: Sequence[Hashable], remark: str) -> CheckLine:
    """Count labels or coders, and name them in a remark if there are any."""
    said = remark.format(_some(names)) if names else ""
    return CheckLine(check, len(names), said, tuple(map(label_text, names)))


def _some(names: Sequence[Hashable]) -> str:
    return some(names, label_text, _SHOWN)
