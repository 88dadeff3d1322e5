"""Sentences about the data that a reader of any coefficient should know."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from annomodels.coefficients.coder_pairs import meetings
from annomodels.coefficients.conventions import CONVENTIONS, PAIRWISE
from annomodels.coefficients.evaluation import Request
from annomodels.coefficients.reasons import used_items
from annomodels.coefficients.rows import Duplicates, Rows, intra_coder
from annomodels.coefficients.weights import Sample
from annomodels.data.annotations import Annotations
from annomodels.data.names import quoted

__all__ = ["RARE", "data_notes", "interval_warnings"]

RARE = 10
FEW_UNITS = 10
FEW_ITEMS = 50
FEW_SHARED = 20
COUNTED = ("nominal", "ordinal")


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
    if any(r.is_mean_kappa for r in requests) and not rows.repeated:
        notes += _shared_items(rows)
    if drawn:
        notes += _draw_notes(data, rows, sample)
    return tuple(notes)


def _shared_items(rows: Rows) -> list[str]:
    """How few items the pairs of coders share, where a mean of kappas suffers from it."""
    r = rows.per_item
    most = rows.n_coders * (rows.n_coders - 1) // 2
    if (r * (r - 1) // 2).sum() >= FEW_SHARED * most:
        return []
    met = meetings(rows)
    shared = len(met.item) / max(len(met.pairs), 1)
    if shared >= FEW_SHARED:
        return []
    return [
        f"Two coders share {shared:.1f} items on average. Kappas of so few items are far off, most "
        "to the same side; so is their mean, and its interval is too short. Take multi_kappa."
    ]


def _draw_notes(data: Annotations, rows: Rows, sample: Sample) -> list[str]:
    """How the draws were made and when not to trust them."""
    notes = [f"Intervals: {sample.recipe}."]
    if rows.unit is not None:
        n_units = len(np.unique(rows.unit))
        few = " With so few the intervals are rough." if n_units < FEW_UNITS else ""
        notes.append(f"Whole documents are drawn ({n_units:,} of them).{few}")
    return notes + interval_warnings(rows, data.labels if data.scale in COUNTED else ())


def interval_warnings(rows: Rows, labels: Sequence[Hashable]) -> list[str]:
    """Sentences on data that are too few for the intervals to keep what they promise.

    A 95 % interval is only known to cover as often as it says for `FEW_ITEMS` items or more and a
    rarest label that is to be expected `RARE` times or more (``benchmarks/coverage_agreement.py``).
    Labels are seen, not expected, and they come several to an item; so the warning starts earlier.

    Parameters
    ----------
    rows
        The labels.
    labels
        Names of the labels; empty where it does not matter how rare a label is.
    """
    used = used_items(rows, "")
    notes = []
    n_items = int(rows.times[used].sum())
    if n_items < FEW_ITEMS:
        notes.append(
            f"With {n_items} item(s) that have two labels or more the intervals are rough; they "
            f"are known to hold for {FEW_ITEMS} or more."
        )
    times = rows.times[rows.item] * used[rows.item]
    counts = np.bincount(rows.label, weights=times, minlength=rows.n_labels).astype(int)
    if not len(labels) or not (counts > 0).any():
        return notes
    rarest = int(np.where(counts > 0, counts, counts.max() + 1).argmin())
    if counts[rarest] < RARE:
        notes.append(
            f"The label {quoted(labels[rarest])} occurs {counts[rarest]} time(s) among the "
            f"pairable labels; below about {RARE} these intervals are rough. A model "
            "(annomodels.fit) makes more of rare labels."
        )
    elif counts[rarest] < 2 * RARE:
        notes.append(
            f"Only {counts[rarest]} pairable labels are {quoted(labels[rarest])}. A label that is "
            f"to be expected less than {RARE} times may well come up so often, and then these "
            "intervals are rough."
        )
    return notes
