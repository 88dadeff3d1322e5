"""Findings of a check: value, limit and sentence; findings about the data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr
from scipy.special import bdtr

from annomodels.data.alike import components
from annomodels.data.annotations import Annotations
from annomodels.data.coded import different_pairs
from annomodels.data.messages import filled, messages_beside
from annomodels.data.validation import in_order, points
from annomodels.errors import Option, Verb
from annomodels.limits import CODER_MATRIX, LONG_SCALE, UNANIMOUS
from annomodels.models.base import coders_apart
from annomodels.models.catalog import is_stack
from annomodels.summaries.draws import model_of
from annomodels.summaries.skills import NO_SIGNAL, doubtful
from annomodels.types import Floats, Ints

Severity = Literal[0, 1, 2]
FINE: Severity = 0
REVIEW: Severity = 1
FORBIDS: Severity = 2
# the lamps of a check: what a finding is about; those about coders do not change the verdict on the
# result, which allows for poor coders
COMPUTED, FITS, CODERS = "computed well", "fits the labels", "coders"
TESTED = "tested on known truth"
OVERLAP = 0.1
# proportion and fewest number of known items with another majority label from which the crowd
# contradicts the gold labels
AGAINST, FEWEST_AGAINST = 0.5, 3
# probability of so few right labels by chance below which a coder contradicts the gold labels
BELOW_CHANCE = 0.1


@dataclass(frozen=True)
class Finding:
    name: str  # name of the finding
    value: float  # measured value
    limit: float  # limit from which the value is a concern
    sentence: str  # interpretation
    severity: Severity = FINE  # 0 fine, 1 needs review, 2 forbids the use of the fit
    # area: the computation, the fit to the labels, coders, or known truth
    lamp: str = FITS
    effect: str = ""  # effect on the result, the first sentence if not fine
    noted: bool = False  # certain, but too small to change a reported number
    symptom: bool = False  # describes the labels, not a cause
    code: str = ""  # stable identifier, by default `name` in snake case
    state: str = "fine"  # key of the message under its code
    # details: names of coders, items and labels, and numbers
    values: Mapping[str, Any] = field(default_factory=dict)
    # option or call that may solve it, spelled for the current front end
    remedy: Option | Verb | None = None

    def __post_init__(self) -> None:
        if not self.code:
            object.__setattr__(self, "code", re.sub(r"\W+", "_", self.name.lower()).strip("_"))

    @property
    def said(self) -> str:
        return f"{self.effect} {self.sentence}" if self.effect else self.sentence

    def row(self) -> tuple[str, float, float, bool, str]:
        return self.name, self.value, self.limit, not self.severity, self.said


MESSAGES = messages_beside(__file__)


def phrase(code: str, state: str, /, **words: object) -> str:
    return filled(MESSAGES[code][state], **words)


def finding(code: str, state: str, value: float, limit: float = 0, /, **words: Any) -> Finding:
    """Create a finding with the message of a code and a state, "fine" without a problem.

    `words` fill in the message. They may include a `remedy`, and a `severity` if it varies.
    """
    about = MESSAGES[code]
    message = about[state] if isinstance(about[state], dict) else {"text": about[state]}
    name, effect, text = (
        filled(template, value=value, limit=limit, **words)
        for template in (
            about.get("name", code.replace("_", " ")),
            message.get("effect", ""),
            message.get("text", about.get("text")),
        )
    )
    usual = message.get("severity", REVIEW if effect else FINE)
    return Finding(
        name,
        value,
        limit,
        text,
        words.pop("severity", usual),
        message.get("lamp", about.get("lamp", FITS)),
        effect,
        noted=message.get("noted", False),
        symptom=about.get("symptom", False),
        code=code,
        state=state,
        remedy=words.pop("remedy", None),
        values=words,
    )


def data_findings(tree: xr.DataTree, data: Annotations) -> list[Finding]:
    shared = float(((np.diff(data.starts) >= 2) | (data.known >= 0)).mean())
    groups = len(np.unique(components(data.item, data.coder)[data.coder]))
    labels = data.starts, data.coder, data.label, data.gold, data.n_coders, data.n_labels
    known = None if data.gold is None else against_gold(*labels)
    return design_findings(tree, data, shared, groups, known, data.unanimous, _pairs_of(data))


def design_findings(
    tree: xr.DataTree,
    data: Any,
    shared: float,
    groups: int,
    known: AgainstGold | None,
    unanimous: int,
    pairs: Callable[[], Floats],
) -> list[Finding]:
    """Judge the design of the data, from counts that data in memory and on disk have.

    `shared` is the proportion of items with known gold or two labels, `groups` the number of groups
    of coders without common items, `unanimous` the number of labels if all agree.
    """
    model = model_of(tree)
    state = "fine" if shared >= OVERLAP else "little" if shared else "none"
    found = [
        finding("overlap", state, shared, OVERLAP),
        finding("groups_of_coders", "fine" if groups == 1 else "apart", groups, 1),
    ]
    if known is not None:
        found.append(gold_finding(known, data.coders, data.n_labels))
    if unanimous:
        found.append(finding("unanimous_labels", "always", unanimous, UNANIMOUS))
    if coders_apart(model):
        median = float(np.median(data.per_coder[data.per_coder > 0]))
        state = "fine" if median >= CODER_MATRIX else "few"
        found.append(finding("labels_per_coder", state, median, CODER_MATRIX))
    if is_stack(model):
        found.append(scale_finding(data.labels, data.scale, pairs))
    return found


def _pairs_of(data: Annotations) -> Callable[[], Floats]:
    return partial(different_pairs, data.item, data.label, data.n_labels)


def scale_of(data: Annotations) -> Finding:
    return scale_finding(data.labels, data.scale, _pairs_of(data))


def scale_finding(labels: Sequence[object], scale: str, pairs: Callable[[], Floats]) -> Finding:
    """Find a long rating scale: numbers whose order is declared, or shows in `pairs` of labels."""
    count = points(labels)
    long = count >= LONG_SCALE and (scale != "nominal" or in_order(labels, pairs()))
    return finding("rating_scale", "long" if long else "fine", count, LONG_SCALE)


@dataclass(frozen=True, eq=False)
class AgainstGold:
    """Counts of labels that match known true labels; counts of parts of the items add up."""

    items: int  # number of known items with a majority label
    contradicted: int  # number of these whose majority label is wrong
    # right labels, and all labels, of each coder on known items, shape [coder]
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
    """Compare labels, grouped by item with offsets `starts`, with known truth (-1: unknown)."""
    from annomodels.summaries.why import majority

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
    code, share = "gold_against_the_crowd", seen.contradicted / max(seen.items, 1)
    words = {"against": seen.contradicted, "items": seen.items}
    if seen.contradicted < FEWEST_AGAINST or share <= AGAINST:
        return finding(code, "fine", share, AGAINST, **words)
    chance = bdtr(seen.right, np.maximum(seen.given, 1), 1.0 / n_labels)
    against = np.flatnonzero((seen.given > 0) & (chance < BELOW_CHANCE))
    names = [coders[j] for j in against[np.argsort(chance[against], kind="stable")]]
    who = phrase(code, "who", coders=names, n=len(names)) if names else ""
    return finding(code, "against", share, AGAINST, who=who, coders=names, **words)


def signal_finding(values: Floats) -> Finding:
    """Judge the dependence of labels on the truth, from the signal on every draw."""
    value, below = float(np.median(values)), float((values < NO_SIGNAL).mean())
    state = "little" if values.any() else "none"
    if value >= NO_SIGNAL:
        state = "doubtful" if doubtful(values) else "fine"
    return finding("signal", state, value, NO_SIGNAL, below=below)
