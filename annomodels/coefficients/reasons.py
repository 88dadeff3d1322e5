"""Reasons for a missing value or interval, and notes on the data behind coefficients.

A reason is data, not an exception; undefined values are never 1 by default.
"""

from __future__ import annotations

import tomllib
from collections.abc import Hashable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from annomodels.coefficients.catalogue import COEFFICIENTS, Coefficient
from annomodels.coefficients.rows import (
    CONVENTIONS,
    PAIRWISE,
    Duplicates,
    ItemRows,
    Request,
    Sample,
    constant_labels,
    intra_coder,
    meetings,
)
from annomodels.coefficients.tables import Evaluated
from annomodels.data.annotations import Annotations
from annomodels.data.messages import messages_beside, note
from annomodels.errors import NotApplicable, Note, Option, Verb
from annomodels.limits import GROUPS_RESAMPLED

FEW_SHARED = 20  # items below which intervals of mean kappa rarely cover it

REASONS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Sentence of each reason. The last three come with a value."""

say = partial(note, messages_beside(__file__))

WITH_VALUE = ("too_few_items", "few_shared_items", "constant_coder")

UNFIT = ("two_coders_only", "two_labels_only", "repeats_kept")
"""Reasons that are errors if the user named the coefficient."""


def used_items(rows: ItemRows, convention: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Select the items that count in the observed agreement."""
    r = rows.per_item
    return np.asarray(r == rows.n_coders if convention == "listwise" else r >= 2)


def before(entry: Coefficient, rows: ItemRows, convention: str) -> str:
    """Return the reason that is clear before any computation, or ""."""
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


def diagnose(entry: Coefficient, rows: ItemRows, convention: str, point: Evaluated) -> str:
    """Return the reason for the computed result, or ""."""
    used = used_items(rows, convention)
    n_units = int(used.sum()) if rows.unit is None else len(np.unique(rows.unit[used]))
    if np.isnan(point.value):
        labels = rows.label[used[rows.item]]
        if n_units < 2 and entry.numeric:
            return "too_few_items"
        if entry.chance and len(np.unique(labels)):
            return "certain_by_chance"
        if len(np.unique(labels)) < 2:
            return "no_variation"
        if entry.each_pair:
            return "no_defined_pair"
        return "no_total_variance" if entry.numeric else "zero_expected_disagreement"
    if n_units < 2:
        return "too_few_items"
    pair_kappas = entry.each_pair and entry.expectation == "between"
    # a mean over a crowd whose coder pairs share few items on average
    if pair_kappas and not rows.is_panel:
        r, most = rows.per_item, rows.n_coders * (rows.n_coders - 1) // 2
        if (r * (r - 1) // 2).sum() < FEW_SHARED * most:
            met = meetings(rows)
            if len(met.item) < FEW_SHARED * len(met.pairs):
                return "few_shared_items"
    zero_for_constant = entry.expectation in ("between", "kappa_max")
    if zero_for_constant and rows.n_coders == 2:
        pairable = used[rows.item]
        if (constant_labels(rows.coder[pairable], rows.label[pairable], 2) >= 0).any():
            return "constant_coder"
    return ""


def pairs_note(unshared: int, undefined: int, n_coders: int) -> str:
    every = n_coders * (n_coders - 1) // 2
    why = (
        (unshared, "share no item"),
        (undefined, "gave one and the same label on all items they share (0/0)"),
    )
    parts = ", ".join(f"{n:,} that {what}" for n, what in why if n)
    if not parts or n_coders < 3:
        return ""
    return say("pairs_left_out", kept=every - unshared - undefined, every=every, why=parts)


def explain(reason: str, entry: Coefficient, n_coders: int, n_labels: int = 0) -> str:
    if not reason:
        return ""
    instead = entry.instead or COEFFICIENTS["k"].name
    text = REASONS[reason].format(
        coders=n_coders, labels=n_labels, instead=instead, shared=FEW_SHARED
    )
    if reason == "no_complete_items" and entry.numeric:
        text += ' alpha with distance="interval" supports missing labels.'
    return text


def refuse(reason: str, entry: Coefficient, rows: ItemRows) -> None:
    if reason in UNFIT:
        why = explain(reason, entry, rows.n_coders, rows.n_labels)
        raise NotApplicable(f"{entry.title}: {why}")


RARE = 10
FEW_ITEMS = 50
COUNTED = ("nominal", "ordinal")


def data_notes(
    data: Annotations,
    rows: ItemRows,
    sample: Sample,
    requests: Sequence[Request],
    duplicates: Duplicates,
    drawn: bool,
) -> tuple[str, ...]:
    notes = [repeats_note(data, duplicates, *intra_coder(data))] if data.repeats else []
    if not data.is_complete:
        used = {r.convention for r in requests}
        known = {name: convention.sentence for name, convention in CONVENTIONS.items()}
        known["pairwise"] = PAIRWISE
        notes += [say("missing", name=n, sentence=known[n]) for n in known if n in used]
        if single := int((rows.per_item < 2).sum()):
            notes.append(say("single", n=single))
    if not data.declared and any(r.coefficient.expectation == "uniform" for r in requests):
        notes.append(say("label_set", n=data.n_labels, labels=Option("labels", ...)))
    if drawn:
        notes += [say("recipe", recipe=sample.recipe), *unit_notes(data, rows)]
        notes += interval_warnings(rows, data.labels if data.scale in COUNTED else ())
    return tuple(notes)


def n_groups(data: Annotations) -> int:
    """Count the groups that have an item with two labels or more; 0 without groups."""
    if data.group is None:
        return 0
    several = np.flatnonzero(np.bincount(data.item) >= 2)
    return len(np.unique(data.group[several]))


def resampled(data: Annotations) -> str:
    """Return the number and unit of resampling under default options: "4 items"."""
    groups = n_groups(data)
    if groups >= GROUPS_RESAMPLED:
        return f"{groups:,} groups of items (such as documents or batches), each as a whole"
    if groups < 2:
        return "items"
    return f"items, since {groups} groups of items (such as documents or batches) are too few"


def unit_notes(data: Annotations, rows: ItemRows) -> list[Note]:
    """Note whether groups or items are resampled, if the data have groups."""
    n = n_groups(data)
    if rows.unit is not None:
        return [say("few_groups" if n < GROUPS_RESAMPLED else "groups", n=n)]
    if 1 < n < GROUPS_RESAMPLED:
        return [say("items_of_groups", n=n, least=GROUPS_RESAMPLED)]
    return []


def repeats_note(
    data: Annotations, duplicates: Duplicates, share: float | None = None, pairs: int = 0
) -> Note:
    what = "counted" if duplicates == "keep" else f"left out ({duplicates} label kept)"
    code = "repeats" if share is None else "repeats_agree"
    return say(code, n=data.repeats, what=what, share=share, pairs=pairs)


def interval_warnings(rows: ItemRows, labels: Sequence[Hashable]) -> list[Note]:
    """Note if data are too few for tested coverage (benchmarks/coverage_agreement.py)."""
    # Label counts are observed, not expected, so warnings start early; rarity needs labels.
    used = used_items(rows, "")
    n_items = int(rows.times[used].sum())
    notes = [say("few_items", n=n_items, least=FEW_ITEMS)] if n_items < FEW_ITEMS else []
    times = rows.times[rows.item] * used[rows.item]
    counts = np.bincount(rows.label, weights=times, minlength=rows.n_labels).astype(int)
    if not len(labels) or not (counts > 0).any():
        return notes
    rarest = int(np.where(counts > 0, counts, counts.max() + 1).argmin())
    if counts[rarest] < 2 * RARE:
        code, verb = "seldom_label", Verb("am.fit", "annomodels run")
        if counts[rarest] < RARE:
            code = "rare_label"
        words = {"label": labels[rarest], "n": counts[rarest], "least": RARE, "verb": verb}
        notes.append(say(code, **words))
    return notes
