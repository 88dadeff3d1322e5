"""What is known of a fit, each computed when a section first asks for it, and once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.errors import AnnotationError, Problem
from annomodels.limits import CODER_THIN
from annomodels.reporting.health import Counts, Health, Spread, health
from annomodels.summaries.coders.coders import flagged
from annomodels.summaries.draws import model_of
from annomodels.summaries.gold.coverage import CURVE

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from annomodels.auditing.estimate import Estimate
    from annomodels.data.summary import Summary
    from annomodels.fitting.fit import Fit
    from annomodels.scale.tally import Tally
    from annomodels.summaries.gold.coverage import Wrong
    from annomodels.summaries.next.next_labels import NextLabels
    from annomodels.summaries.trust.checks import Check
    from annomodels.types import Bools, Floats, Ints


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

    def unsupported(self, verb: str) -> str:
        """See :meth:`annomodels.Fit.unsupported`."""
        return self.fit.unsupported(verb)

    @property
    def truth(self) -> str:
        """What the truth of an item is: "class", "number" or "link"."""
        return str(self.fit.model.truth)

    @property
    def on_disk(self) -> bool:
        """Whether the labels are not in memory."""
        return self.fit.truth is not None

    def has(self, verb: str) -> bool:
        """Whether the fit gives something."""
        return not self.unsupported(verb)

    @property
    def data(self) -> Any:
        """What was labeled."""
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
    def following(self) -> NextLabels:
        """The next labels to ask for."""
        return self.fit.next(target=self.target)

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
        return self.fit.wrong_labels(self.known)

    @cached_property
    def tally(self) -> Tally:
        """Counts of a gold standard that is on disk."""
        from annomodels.scale.tally import tally

        return tally(self.fit)

    @cached_property
    def coverage(self) -> Summary:
        """How many items each threshold keeps."""
        if self.has("coverage"):
            return self.fit.coverage(self.known)
        import xarray as xr

        from annomodels.data.summary import Summary

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
        return (
            int(self.fit.gold().table["settled"].sum()) if self.has("gold") else self.tally.settled
        )

    @property
    def expected_errors(self) -> float:
        """Expected number of wrong gold labels of a scan."""
        return float(self.tree.attrs["expected_errors"])

    @property
    def known_items(self) -> int:
        """Number of items of known truth: it was given to the fit, or an audit told it."""
        if self.unsupported("gold"):
            return self.tally.known
        return 0 if self.data.gold is None else int((self.data.gold >= 0).sum())

    @property
    def told_items(self) -> int:
        """Number of items whose truth was given to the fit, those of an audit left out."""
        audit = self.tree["audit"].sizes["audited"] if "audit" in self.tree.children else 0
        return self.known_items - int(audit)

    @property
    def flagged(self) -> pd.DataFrame:
        """Coders that should get no more items, worst skill first."""
        table = self.coders.table
        return table[flagged(table)].sort_values("skill", kind="stable")

    @cached_property
    def state(self) -> Ints:
        """State of each item: 0 settled, 1 needs labels, 2 contested, 3 decided, shape [item]."""
        codes = {"needs more labels": 1, "contested": 2}
        state = (
            self.fit.items().table["quadrant"].map(lambda name: codes.get(name, 0)).to_numpy(int)
        )
        return np.where(self.known_mask, 3, state)

    @cached_property
    def states(self) -> dict[str, int]:
        """Number of items in each state."""
        names = ("settled", "need labels", "contested", "decided")
        if self.unsupported("items"):
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

    @property
    def to_train(self) -> pd.DataFrame:
        """Coders to talk to, worst skill first."""
        table = self.coders.table
        chosen = table[table["advice"].str.startswith("retrain")]
        return chosen.sort_values("skill", kind="stable")

    @property
    def too_sure(self) -> bool:
        """Whether errors gather on some items, and P(truth) takes no account of that."""
        if model_of(self.tree).stacks or (self.estimate and self.estimate.by_design):
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
        few=tuple(data.coders[j] for j in np.flatnonzero(data.per_coder < CODER_THIN)),
        single=int(counted.per_item[1]),
    )
