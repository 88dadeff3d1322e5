"""Findings of a check: a number, its limit, and a sentence; and those about the data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import xarray as xr

from annomodels.data.alike import components
from annomodels.data.annotations import Annotations
from annomodels.data.columns import percent
from annomodels.data.validation import some
from annomodels.errors import Option, Verb
from annomodels.limits import CODER_MATRIX, UNANIMOUS
from annomodels.summaries.draws import model_of
from annomodels.types import Ints

Severity = Literal[0, 1, 2]
FINE: Severity = 0
REVIEW: Severity = 1
FORBIDS: Severity = 2
# the lamps of a check: what a finding is about; those about coders do not change the verdict on the
# result, which allows for poor coders
COMPUTED, FITS, CODERS = "computed well", "fits the labels", "coders"
TESTED = "tested on known truth"
OVERLAP = 0.1
# share of the known items whose majority is another label, and the fewest of them, from which gold
# and crowd are against each other
AGAINST, FEWEST_AGAINST = 0.5, 3
# probability of so few right labels by chance from which a coder answers against the gold
BELOW_CHANCE, NAMED = 0.1, 5


@dataclass(frozen=True)
class Finding:
    """One line of a check."""

    name: str  # what was looked at
    value: float  # number that was found
    limit: float  # number from which it is a concern
    sentence: str  # what it means
    severity: Severity = FINE  # 0 fine, 1 needs review, 2 forbids the use of the fit
    # what it is about: the computation, whether the labels are as the model says, coders, or known
    # truth
    lamp: str = FITS
    effect: str = ""  # what it does to the result, the first sentence of a finding that is not fine
    noted: bool = False  # whether it is sure, but too small to change a number that people use
    symptom: bool = False  # whether it says how the labels look, and nothing of why
    code: str = ""  # stable name to look it up by; without one, `name` in snake case
    # what was found, as plain data: names of coders, items and labels, and numbers
    values: Mapping[str, Any] = field(default_factory=dict)
    # option or call that may solve it; its text is spelled for the front end that runs
    remedy: Option | Verb | None = None

    def __post_init__(self) -> None:
        if not self.code:
            object.__setattr__(self, "code", re.sub(r"\W+", "_", self.name.lower()).strip("_"))

    @property
    def said(self) -> str:
        """The sentence, after what it does to the result."""
        return f"{self.effect} {self.sentence}" if self.effect else self.sentence

    def row(self) -> tuple[str, float, float, bool, str]:
        """Return the columns name, value, limit, ok and sentence."""
        return self.name, self.value, self.limit, not self.severity, self.said


def data_findings(tree: xr.DataTree, data: Annotations) -> list[Finding]:
    """Look at what the design of the data says about the results."""
    groups = len(np.unique(components(data.item, data.coder)[data.coder]))
    found = [_overlap(data), group_finding(groups)]
    if data.gold is not None:
        seen = against_gold(
            data.starts, data.coder, data.label, data.gold, data.n_coders, data.n_labels
        )
        found.append(gold_finding(seen, data.coders, data.n_labels))
    if data.unanimous:
        found.append(unanimous_finding(data.unanimous))
    if model_of(tree).alone:
        found.append(volume_finding(data.per_coder))
    return found


def unanimous_finding(number: int) -> Finding:
    """Ask whether labels that never differ are those of coders who decided independently."""
    text = (
        f"No two coders differ on any item ({number:,} labels). Did they decide "
        "independently? Agreed labels, known truth and copies look like this: read the labels "
        "that each coder gave first."
    )
    effect = "Labels that never differ cannot show how accurate they are."
    return Finding("unanimous labels", number, UNANIMOUS, text, REVIEW, effect=effect)


@dataclass(frozen=True, eq=False)
class AgainstGold:
    """Labels of items whose true label is known, compared with it; sums over parts of the items."""

    items: int  # number of items whose truth is known and whose labels have a majority
    contradicted: int  # number of them whose majority is another label
    # right labels of each coder on items with known labels, and all of them there, shape [coder]
    right: Ints
    given: Ints

    def __add__(self, other: AgainstGold) -> AgainstGold:
        return AgainstGold(
            self.items + other.items,
            self.contradicted + other.contradicted,
            self.right + other.right,
            self.given + other.given,
        )


def against_gold(
    starts: Ints, coder: Any, label: Any, gold: Any, n_coders: int, n_labels: int
) -> AgainstGold:
    """Compare labels, item after item as `starts` says, with the known truth (-1: unknown)."""
    from annomodels.summaries.gold.evidence import majority

    item = np.repeat(np.arange(len(gold)), np.diff(starts))
    mine = gold[item] >= 0
    item, coder, label = item[mine], coder[mine], label[mine]
    flat = np.bincount(item.astype(np.int64) * n_labels + label, minlength=len(gold) * n_labels)
    vote = majority(flat.reshape(-1, n_labels))
    told = (gold >= 0) & (vote >= 0)
    right = np.bincount(coder[label == gold[item]], minlength=n_coders)
    given = np.bincount(coder, minlength=n_coders)
    return AgainstGold(int(told.sum()), int((told & (vote != gold)).sum()), right, given)


def gold_finding(seen: AgainstGold, coders: Any, n_labels: int) -> Finding:
    """Judge whether the known truth and what most coders say are of one mind."""
    share = seen.contradicted / max(seen.items, 1)
    where = f"{seen.contradicted:,} of {seen.items:,} known items"
    if seen.contradicted < FEWEST_AGAINST or share <= AGAINST:
        text = f"The majority contradicts the known gold of {where}."
        return Finding("gold against the crowd", share, AGAINST, text)
    from scipy.special import bdtr

    chance = bdtr(seen.right, np.maximum(seen.given, 1), 1.0 / n_labels)
    against = np.flatnonzero((seen.given > 0) & (chance < BELOW_CHANCE))
    against = against[np.argsort(chance[against], kind="stable")]
    names = some((coders[j] for j in against), str, NAMED)
    verb = "answers" if len(against) == 1 else "answer"
    who = f"; {names} {verb} against the gold" if len(against) else ""
    text = (
        f"Gold against the crowd: {where} contradict the majority of their labels{who}. Either "
        "the known labels are coded in reverse, or those of these coders are. The model trusts "
        "the known labels: check a few of these items first."
    )
    effect = "Gold labels may be reversed."
    return Finding("gold against the crowd", share, AGAINST, text, REVIEW, effect=effect)


def _overlap(data: Annotations) -> Finding:
    n = np.diff(data.starts)
    known = data.known >= 0
    return overlap_finding(float(((n >= 2) | known).mean()))


def overlap_finding(share: float) -> Finding:
    """Judge the share of the items that have two labels or more, or known gold."""
    if share >= OVERLAP:
        return Finding(
            "overlap", share, OVERLAP, f"{percent(share, 0)} of the items have two labels or more."
        )
    if share == 0:
        text = (
            "No item has two labels and no gold is known: these data cannot separate good coders "
            "from bad ones. Let several coders label the same items."
        )
        effect = "Gold labels rest on assumptions alone."
        return Finding("overlap", share, OVERLAP, text, FORBIDS, effect=effect)
    text = (
        f"Only {percent(share, 1)} of the items have two labels or more, so coders can hardly be "
        "compared."
    )
    effect = "Gold labels rest mostly on assumptions about coders."
    return Finding("overlap", share, OVERLAP, text, REVIEW, effect=effect)


def group_finding(count: int) -> Finding:
    """Judge the number of groups of coders that share no item."""
    if count == 1:
        return Finding("groups of coders", 1, 1, "All coders are linked by common items.")
    text = (
        f"The coders fall into {count:,} groups without common items. Let some coders of each "
        "group label items of another."
    )
    effect = "Coders of different groups cannot be compared by their labels."
    return Finding("groups of coders", count, 1, text, REVIEW, CODERS, effect)


def volume_finding(n: Ints) -> Finding:
    """Judge how many labels each coder gave."""
    median = float(np.median(n[n > 0]))
    if median >= CODER_MATRIX:
        text = f"Half of the coders gave {median:,.0f} labels or more."
        return Finding("labels per coder", median, CODER_MATRIX, text)
    text = (
        f"Half of the coders gave {median:,.0f} labels or fewer, too few to estimate each "
        "confusion matrix separately: use the model hierarchical, which pools coders."
    )
    effect = "Gold labels are overconfident."
    return Finding("labels per coder", median, CODER_MATRIX, text, REVIEW, effect=effect)
