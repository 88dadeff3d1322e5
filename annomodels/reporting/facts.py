"""What is known of a fit, each computed when a section first asks for it, and once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.errors import AnnotationError, Problem
from annomodels.reporting.health import FEW, Counts, Health, Spread, health
from annomodels.summaries.draws import choices, interval, thinned, truth_probabilities
from annomodels.summaries.gold.gold import CURVE, audited_wrong, stacked_truths, wrong_interval

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from annomodels.auditing.estimate import Estimate
    from annomodels.fitting.fit import Fit
    from annomodels.scale.tally import Tally
    from annomodels.summaries.next.next_labels import NextLabels
    from annomodels.summaries.summary import Summary
    from annomodels.summaries.trust.checks import Check
    from annomodels.types import Bools, Floats, Ints

CERTAIN = 0.95  # probability from which the page says "very probably"
BUDGET = 100  # labels to ask for next
# of the count of wrong labels
_DRAWS = 400
_CELLS = 40_000_000  # items x classes x draws to look at: a second or two


@dataclass(frozen=True)
class Shown:
    """Columns of the input that the page shows: the text of each item, and others by name."""

    text: Mapping[Any, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)


class Facts:
    """What the sections of a page are made from."""

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
        self.fit = fit
        self.target = target
        self.others = others
        self.known = known
        self.shown = Shown() if shown is None else shown
        self.estimate = None if estimate is None else renamed(estimate, fit)

    def lacks(self, verb: str) -> str:
        """See :meth:`annomodels.Fit.lacks`."""
        return self.fit.lacks(verb)

    @property
    def truth(self) -> str:
        """What the truth of an item is: "class", "number" or "link"."""
        return str(self.fit.model.truth)

    @property
    def on_disk(self) -> bool:
        """Whether the labels are not in memory."""
        return bool(self.fit.kind[1] == "disk")

    def has(self, verb: str) -> bool:
        """Whether the fit gives something."""
        return not self.lacks(verb)

    @property
    def data(self) -> Any:
        """What was labelled."""
        return self.fit.data

    @property
    def fingerprint(self) -> str:
        """Of the data that were fitted, without what an audit told of them."""
        return str(before_audit(self.fit).data.fingerprint)

    @property
    def tree(self) -> xr.DataTree:
        """Its results."""
        return self.fit.tree

    @cached_property
    def check(self) -> Check:
        """Verdict of the diagnostics, tested on the truth that the fit was not told."""
        found = self.fit.check()
        if self.known is None or not self.has("gold") or self.truth != "class":
            return found
        from annomodels.summaries.trust.checks import tested_on

        return tested_on(found, self.tree, self.data, self.known)

    @cached_property
    def coders(self) -> Summary:
        """Summary of the coders."""
        return self.fit.coders(*(() if self.target is None else (self.target,)))

    @cached_property
    def gold(self) -> Summary:
        """Summary of the gold standard."""
        return self.fit.gold()

    @cached_property
    def items(self) -> Summary:
        """Summary of the items."""
        return self.fit.items()

    @cached_property
    def labels(self) -> Summary:
        """Summary of the labels."""
        return self.fit.labels()

    @cached_property
    def pairs(self) -> Summary:
        """Summary of the pairs of labels."""
        return self.fit.labels(pairs=True)

    @cached_property
    def agreement(self) -> Summary:
        """Summary of the agreement."""
        return self.fit.agreement()

    @cached_property
    def predictive(self) -> Summary:
        """Posterior predictive checks."""
        return self.fit.predictive()

    @cached_property
    def priors(self) -> Summary:
        """What would change with other priors."""
        return self.fit.prior_sensitivity()

    @cached_property
    def following(self) -> NextLabels:
        """The next labels to ask for."""
        return self.fit.next(BUDGET)

    @cached_property
    def calibration(self) -> Summary | None:
        """Gold labels against truth that was held back, if there is any."""
        if not self.known:
            return None
        from annomodels.summaries.trust.calibration import calibration

        return calibration(self.tree, self.data, self.known)

    @cached_property
    def comparison(self) -> Summary | None:
        """The fit among others of the same data, if there are any."""
        if not self.others:
            return None
        from annomodels.fitting.compare import compare

        return compare([before_audit(self.fit), *self.others])

    @cached_property
    def wrong(self) -> Wrong:
        """Numbers of wrong labels to be expected."""
        wrong = wrong_labels(self.fit)
        if self.estimate is None:
            return wrong
        row = self.estimate.row("still_wrong")
        return replace(wrong, gold=row["value"], gold_low=row["low"], gold_high=row["high"])

    @cached_property
    def tally(self) -> Tally:
        """Counts of a gold standard that is on disk."""
        from annomodels.scale.tally import tally

        return tally(self.fit)

    @cached_property
    def coverage(self) -> Summary:
        """How many items each threshold keeps."""
        if self.has("gold"):
            from annomodels.summaries.gold.gold import coverage

            return coverage(self.tree, self.data)
        import xarray as xr

        from annomodels.summaries.summary import Summary

        return Summary("What a threshold keeps", self.tally.thresholds, xr.Dataset(), (), CURVE)

    @cached_property
    def counts(self) -> Counts:
        """Facts about the data before any model."""
        return self.health if self.has("gold") else _counts(self.data, self.tally)

    @cached_property
    def health(self) -> Health:
        """More of them, which need the labels in memory."""
        return health(self.data)

    @cached_property
    def parts_apart(self) -> tuple[int, tuple[int, ...]]:
        """In how many parts that share no coder the data fall, and their sizes if known."""
        if self.on_disk:
            return int(self.data.components), ()
        return len(self.health.components), self.health.components

    @cached_property
    def accuracy(self) -> Floats:
        """Accuracy of the coders on every draw, shape [sample, coder]."""
        return np.asarray(self.coders.draws["accuracy"].values, dtype=float)

    @property
    def settled(self) -> int:
        """Number of items with a settled label."""
        return int(self.gold.table["settled"].sum()) if self.has("gold") else self.tally.settled

    @property
    def expected_errors(self) -> float:
        """Expected number of wrong gold labels of a scan."""
        return float(self.tree.attrs["expected_errors"])

    @property
    def known_items(self) -> int:
        """Number of items of known truth: it was given to the fit, or an audit told it."""
        if self.lacks("gold"):
            return self.tally.known
        return 0 if self.data.gold is None else int((self.data.gold >= 0).sum())

    @property
    def told_items(self) -> int:
        """Number of items whose truth was given to the fit, those of an audit left out."""
        audit = self.tree["audit"].sizes["audited"] if "audit" in self.tree.children else 0
        return self.known_items - int(audit)

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

    @cached_property
    def state(self) -> Ints:
        """State of each item: 0 settled, 1 needs labels, 2 contested, 3 decided, shape [item]."""
        contested = (self.items.table["quadrant"] == "contested").to_numpy()
        settled = self.gold.table["settled"].to_numpy(dtype=bool)
        state = np.where(contested, 2, np.where(settled, 0, 1))
        return np.where(np.asarray(self.known_mask), 3, state)

    @cached_property
    def states(self) -> dict[str, int]:
        """Number of items in each state."""
        names = ("settled", "need labels", "contested", "decided")
        if self.lacks("items"):
            known = self.known_items
            rest = self.data.n_items - self.settled
            return dict(zip(names, (self.settled - known, rest, 0, known), strict=True))
        counted = np.bincount(self.state, minlength=4).tolist()
        return dict(zip(names, counted, strict=True))

    @property
    def known_mask(self) -> Bools:
        """Whether the true label of an item is known, shape [item]."""
        gold = self.data.gold
        return np.zeros(self.data.n_items, bool) if gold is None else np.asarray(gold >= 0)

    @cached_property
    def tested(self) -> tuple[int, int] | None:
        """Wrong gold labels among items whose true label was held back, and number of these."""
        if not self.known or self.lacks("gold") or self.truth != "class":
            return None
        gold = self.data.with_gold(self.known).gold
        tests = (gold >= 0) & ~self.known_mask
        best = np.asarray(self.tree["truth"]["p_truth"].values).argmax(axis=1)
        return int((best != gold)[tests].sum()), int(tests.sum())

    @property
    def to_train(self) -> pd.DataFrame:
        """Coders to talk to: flagged without certainty, or biased."""
        table = self.coders.table
        bad = table["kind"].isin(["spammer", "adversary", "biased"])
        return table[bad & ~table.index.isin(self.surely_bad.index)].sort_values(
            "skill", kind="stable"
        )

    @property
    def too_sure(self) -> bool:
        """Whether errors gather on some items, and P(truth) takes no account of that."""
        if "stack" in self.tree.children or (self.estimate and self.estimate.by_design):
            return False
        table = self.check.table
        about = table["name"].isin(("errors on the same items", "spread of the votes"))
        return bool((about & ~table["ok"].astype(bool)).any())


def renamed(estimate: Estimate, fit: Fit) -> Estimate:
    """Give an estimate in which coders are called as in a fit, whose coders may be anonymous."""
    audit = fit.tree["audit"] if "audit" in fit.tree.children else None
    if audit is None or audit.attrs.get("mark") != estimate.mark:
        what = "The estimate belongs to another fit, or this one is not as it is after the audit."
        remedy = "Give estimate.after(fit), of the fit that was audited."
        raise AnnotationError(Problem(what, "estimate", remedy))
    names = dict(zip(estimate.coders["coder"], fit.data.coders, strict=True))
    if all(old == new for old, new in names.items()):
        return estimate
    tables = {}
    for name in ("coders", "classes", "panel"):
        table = getattr(estimate, name)
        tables[name] = table.assign(coder=[names.get(coder, coder) for coder in table["coder"]])
    return replace(estimate, **tables)


def before_audit(fit: Fit) -> Fit:
    """Give a fit without what an audit told of its items, as models are compared."""
    if "audit" not in fit.tree.children:
        return fit
    gold = np.array(fit.data.gold)
    gold[fit.tree["audit"].to_dataset()["audited_item"].values] = -1
    return replace(fit, data=fit.data.replace(gold=gold if (gold >= 0).any() else None))


def facts_of(fit: Fit | Facts) -> Facts:
    """Give what is known of a fit, if that is not what is given."""
    return fit if isinstance(fit, Facts) else Facts(fit)


def _counts(data: Any, counted: Tally) -> Counts:
    return Counts(
        per_item=Spread.counted(counted.per_item),
        per_coder=Spread.of(data.per_coder),
        label_counts=tuple(int(n) for n in data.per_label),
        unused=tuple(data.labels[k] for k in np.flatnonzero(data.per_label == 0)),
        repeats=data.repeats,
        skips=data.skips,
        few=tuple(data.coders[j] for j in np.flatnonzero(data.per_coder < FEW)),
        single=int(counted.per_item[1]),
    )


@dataclass(frozen=True)
class Wrong:
    """Posterior of the number of wrong labels."""

    n: int
    gold: float
    gold_low: float
    gold_high: float
    vote: float
    vote_low: float
    vote_high: float


def wrong_labels(fit: Fit) -> Wrong:
    """Count wrong labels on replicated truths, one per posterior draw.

    With the engine "em" the intervals are NaN.
    """
    data = fit.data
    mean = np.asarray(fit.tree["truth"]["p_truth"].values, dtype=float)
    unknown = np.ones(data.n_items, bool) if data.gold is None else data.gold < 0
    best = mean.argmax(axis=1)
    winners = data.votes == data.votes.max(axis=1, keepdims=True)
    chance = winners / winners.sum(axis=1, keepdims=True)
    gold = audited_wrong(fit.tree)
    gold = float((1 - mean.max(axis=1))[unknown].sum()) if gold is None else gold
    vote = float((1 - (mean * chance).sum(axis=1))[unknown].sum())
    counts = _replicated(fit, unknown, best, chance)
    low, high = interval(counts)
    # of a stack the number was counted with every draw: no second answer to the same question
    low[0], high[0] = wrong_interval(fit.tree) or (low[0], high[0])
    return Wrong(
        n=int(unknown.sum()),
        gold=gold,
        gold_low=float(low[0]),
        gold_high=float(high[0]),
        vote=vote,
        vote_low=float(low[1]),
        vote_high=float(high[1]),
    )


def _replicated(fit: Fit, unknown: Bools, best: Ints, chance: Floats) -> Floats:
    """Numbers of wrong labels by gold and by vote, shape [draw, 2]."""
    most = max(40, min(_DRAWS, _CELLS // max(chance.size, 1)))
    if "stack" in fit.tree.children:
        beliefs = stacked_truths(fit.tree, most)
    else:
        beliefs = truth_probabilities(thinned(fit.tree, fit.data, most), fit.data)
    rng = np.random.default_rng(0)
    counts = []
    for _, p in beliefs:
        truth = choices(p, rng.random(len(p)))
        vote = choices(chance, rng.random(len(p)))
        counts.append([((truth != by) & unknown).sum() for by in (best, vote)])
    return np.array(counts, dtype=float)
