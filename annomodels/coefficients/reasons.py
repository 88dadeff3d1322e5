"""Why a coefficient has no value or no interval, as data: no exception, and never 1 by default."""

from __future__ import annotations

import numpy as np

from annomodels.coefficients.catalogue import COEFFICIENTS, Coefficient
from annomodels.coefficients.formulas import Evaluated
from annomodels.coefficients.rows import Rows

__all__ = ["REASONS", "UNFIT", "before", "diagnose", "explain", "used_items"]

REASONS: dict[str, str] = {
    "no_variation": (
        "Every pairable label is the same, so chance alone would give full agreement: 0/0."
    ),
    "zero_expected_disagreement": (
        "All pairable labels are at distance 0 from each other, so there is nothing to correct "
        "for: 0/0."
    ),
    "no_overlap": "No item has labels by two coders.",
    "no_complete_items": "No item was labelled by every coder, which listwise asks for.",
    "one_coder": "There is only one coder.",
    "two_coders_only": "It is defined for two coders, and there are {coders}. Use {instead}.",
    "two_labels_only": "It is defined for two labels, and the label set has {labels}.",
    "needs_numbers": "It needs labels that are numbers. Use {instead}.",
    "needs_chance": (
        "It needs a chance level for every item: chance={{item: probability}}, or an array in the "
        "order of the items."
    ),
    "certain_by_chance": "Every item has a chance level of 1, so nothing is left to agree on: 0/0.",
    "repeats_kept": (
        "It compares pairs of coders and cannot count further labels of the same coder and item. "
        'Use duplicates="first" or "last".'
    ),
    "too_few_items": "One item or document says nothing about others, so there is no interval.",
    "constant_coder": "A coder used one label only, so it is 0 whatever the observed agreement.",
}
"""Sentence of each reason. The last two come with a value."""

WITH_VALUE = ("too_few_items", "constant_coder")

UNFIT = ("two_coders_only", "two_labels_only", "repeats_kept")
"""Reasons that are errors where the coefficient was asked for by name."""


def used_items(rows: Rows, convention: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which items count in the observed agreement."""
    r = rows.per_item
    return np.asarray(r == rows.n_coders if convention == "listwise" else r >= 2)


def before(entry: Coefficient, rows: Rows, convention: str) -> str:
    """Reason that is known before anything is computed, or ""."""
    if rows.n_coders < 2:
        return "one_coder"
    if entry.two_coders_only and rows.n_coders > 2:
        return "two_coders_only"
    if entry.two_labels_only and rows.n_labels != 2:
        return "two_labels_only"
    if (entry.by_coder or convention == "pairwise") and rows.repeated:
        return "repeats_kept"
    if not used_items(rows, "").any():
        return "no_overlap"
    if not used_items(rows, convention).any():
        return "no_complete_items"
    return ""


def diagnose(entry: Coefficient, rows: Rows, convention: str, point: Evaluated) -> str:
    """Reason for what was computed, or ""."""
    used = used_items(rows, convention)
    n_units = int(used.sum()) if rows.unit is None else len(np.unique(rows.unit[used]))
    if np.isnan(point.value):
        labels = rows.label[used[rows.item]]
        if n_units < 2 and entry.numeric:
            return "too_few_items"
        if entry.chance and len(np.unique(labels)):
            return "certain_by_chance"
        return "no_variation" if len(np.unique(labels)) < 2 else "zero_expected_disagreement"
    if n_units < 2:
        return "too_few_items"
    zero_for_constant = entry.expectation in ("between", "kappa_max")
    if zero_for_constant and rows.n_coders == 2 and any(_constant(rows, used[rows.item])):
        return "constant_coder"
    return ""


def _constant(rows: Rows, pairable: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[bool]:
    """For each coder, whether only one label was used on the pairable items."""
    labels, coders = rows.label[pairable], rows.coder[pairable]
    return [len(np.unique(labels[coders == c])) < 2 for c in range(rows.n_coders)]


def explain(reason: str, entry: Coefficient, n_coders: int, n_labels: int = 0) -> str:
    """Sentence of a reason."""
    if not reason:
        return ""
    instead = entry.instead or COEFFICIENTS["k"].name
    text = REASONS[reason].format(coders=n_coders, labels=n_labels, instead=instead)
    if reason == "no_complete_items" and entry.numeric:
        text += ' hughes_alpha with distance="interval" is the ICC(1) of items with missing labels.'
    return text
