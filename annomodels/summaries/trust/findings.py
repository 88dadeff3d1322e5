"""Findings of a check: a number, its limit, and a sentence; and those about the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.components import components
from annomodels.summaries.draws import model_of
from annomodels.types import Ints

if TYPE_CHECKING:
    import xarray as xr

Severity = Literal[0, 1, 2]
FINE: Severity = 0
CHECK: Severity = 1
FORBIDS: Severity = 2
LABELS_PER_CODER = 20
OVERLAP = 0.1


@dataclass(frozen=True)
class Finding:
    """One line of a check.

    Parameters
    ----------
    name
        What was looked at.
    value
        Number that was found.
    limit
        Number from which it is a concern.
    sentence
        What it means.
    severity
        0 fine, 1 needs a look, 2 forbids the use of the fit.

    Examples
    --------
    >>> Finding("divergences", 3, 0, "3 draws diverged.", 1).row()
    ('divergences', 3, 0, False, '3 draws diverged.')
    """

    name: str
    value: float
    limit: float
    sentence: str
    severity: Severity = FINE

    def row(self) -> tuple[str, float, float, bool, str]:
        """Give the columns name, value, limit, ok and sentence."""
        return self.name, self.value, self.limit, not self.severity, self.sentence


def data_findings(tree: xr.DataTree, data: Annotations) -> list[Finding]:
    """Look at what the design of the data says about the results."""
    found = [_overlap(data), _groups(data)]
    if model_of(tree).alone:
        found.append(volume_finding(data.per_coder))
    return found


def _overlap(data: Annotations) -> Finding:
    n = np.diff(data.starts)
    known = np.zeros(data.n_items, bool) if data.gold is None else data.gold >= 0
    return overlap_finding(float(((n >= 2) | known).mean()))


def overlap_finding(share: float) -> Finding:
    """Judge the share of the items that have two labels or more, or known gold."""
    if share >= OVERLAP:
        return Finding(
            "overlap", share, OVERLAP, f"{share:.0%} of the items have two labels or more."
        )
    if share == 0:
        text = (
            "No item has two labels and no gold is known: nothing in these data tells good coders "
            "from bad ones. Let several coders label the same items."
        )
        return Finding("overlap", share, OVERLAP, text, FORBIDS)
    text = f"Only {share:.1%} of the items have two labels or more: coders are hardly compared."
    return Finding("overlap", share, OVERLAP, text, CHECK)


def _groups(data: Annotations) -> Finding:
    return group_finding(len(np.unique(components(data.item, data.coder)[data.coder])))


def group_finding(count: int) -> Finding:
    """Judge the number of groups of coders that share no item."""
    if count == 1:
        return Finding("groups of coders", 1, 1, "All coders are linked by common items.")
    text = (
        f"The coders fall into {count:,} groups without common items: across groups they are "
        "compared only through what the model assumes of all."
    )
    return Finding("groups of coders", count, 1, text, CHECK)


def volume_finding(n: Ints) -> Finding:
    """Judge how many labels each coder gave."""
    median = float(np.median(n[n > 0]))
    if median >= LABELS_PER_CODER:
        text = f"Half of the coders gave {median:,.0f} labels or more."
        return Finding("labels per coder", median, LABELS_PER_CODER, text)
    text = (
        f"Half of the coders gave {median:,.0f} labels or fewer, too few to learn a confusion "
        "matrix for each alone: use the model hierarchical, in which coders inform each other."
    )
    return Finding("labels per coder", median, LABELS_PER_CODER, text, CHECK)
