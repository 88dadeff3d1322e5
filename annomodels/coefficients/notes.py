"""Sentences about the data that a reader of any coefficient should know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annomodels.annotations import Annotations
from annomodels.coefficients.conventions import CONVENTIONS, PAIRWISE
from annomodels.coefficients.evaluation import Request
from annomodels.coefficients.reasons import used_items
from annomodels.coefficients.rows import Duplicates, Rows, intra_coder
from annomodels.coefficients.weights import Sample

__all__ = ["RARE", "data_notes"]

RARE = 10
FEW_UNITS = 10


def data_notes(
    data: Annotations,
    rows: Rows,
    sample: Sample,
    requests: Sequence[Request],
    duplicates: Duplicates,
    drawn: bool,
) -> tuple[str, ...]:
    """Say what is to be known of repeats, missing labels, the label set and the draws."""
    notes = []
    if data.repeats:
        share, pairs = intra_coder(data)
        what = "counted" if duplicates == "keep" else f"left out ({duplicates} label kept)"
        notes.append(
            f"{data.repeats:,} further label(s) of the same coder and item were {what}. "
            f"Coders agreed with themselves in {share:.1%} of {pairs:,} such pairs."
        )
    if not data.is_complete:
        used = {r.convention for r in requests}
        known = {name: convention.sentence for name, convention in CONVENTIONS.items()}
        known["pairwise"] = PAIRWISE
        notes += [f"Missing labels, {name}: {known[name]}." for name in known if name in used]
        single = int((rows.per_item < 2).sum())
        if single:
            notes.append(f"{single:,} item(s) have one label and show no agreement.")
    if not data.declared and any(r.coefficient.expectation == "uniform" for r in requests):
        notes.append(
            f"S, AC1 and AC2 take the {data.n_labels} label(s) found as the label set; declare "
            "the set (labels=...) if it is larger."
        )
    if drawn:
        notes += _draw_notes(data, rows, sample)
    return tuple(notes)


def _draw_notes(data: Annotations, rows: Rows, sample: Sample) -> list[str]:
    """How the draws were made and when not to trust them."""
    notes = [f"Intervals: {sample.recipe}."]
    pairable = used_items(rows, "")[rows.item]
    counts = np.bincount(rows.label[pairable], minlength=rows.n_labels)
    if data.scale in ("nominal", "ordinal") and (counts > 0).any():
        rarest = int(np.where(counts > 0, counts, counts.max() + 1).argmin())
        if counts[rarest] < RARE:
            notes.append(
                f"The label {data.labels[rarest]!r} occurs {counts[rarest]} time(s) among the "
                f"pairable labels; below about {RARE} these intervals are too short. A model "
                "(annomodels.fit) makes more of rare labels."
            )
    if rows.unit is not None:
        n_units = len(np.unique(rows.unit))
        few = " With so few the intervals are rough." if n_units < FEW_UNITS else ""
        notes.append(f"Whole documents are drawn ({n_units:,} of them).{few}")
    return notes
