"""Agreement of each coder with the rest of the coders, and what it would be without them.

The pairs of a coder are that coder's label against every other label of the same item, weighted
as the convention weighs the item. So the observed disagreement of all coders, weighted by their
labels, is that of the data. The coefficient of these pairs is that of two coders: the coder and
"the others".
"""

from __future__ import annotations

import numpy as np

from annomodels.coefficients.evaluation import Statistics
from annomodels.coefficients.parts.columns import (
    collect,
    dataset,
    draws_note,
    measured,
    notes_of,
    overall_row,
    overall_table,
    planned,
    share_above,
    spans,
)
from annomodels.coefficients.parts.influence import make_without
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.parts.two_sided import Entries, TwoSided, beside, two_sided
from annomodels.coefficients.reasons import before, used_items
from annomodels.coefficients.rows import Rows
from annomodels.data.names import quoted
from annomodels.errors import NotApplicable
from annomodels.types import Floats, Ints

FEW = 10


def against_rest(setup: Setup) -> TwoSided:
    """Tables of each coder against the others."""
    rows = setup.sample.rows
    r = rows.per_item.astype(float)
    weight = setup.convention.pair(r) * used_items(rows, setup.request.convention)
    a, second, others = beside(rows)
    entries = Entries(
        rows.coder[a], rows.item[a], rows.label[a], second, others * weight[rows.item[a]]
    )
    paired = weight[rows.item] > 0
    return two_sided(
        entries,
        (r[rows.item[paired]], rows.coder[paired], rows.item[paired]),
        (rows.n_coders, rows.n_items),
        setup.request.distance,
        setup.moving,
        rows.n_labels,
    )


def by_coder(setup: Setup, draws: int, seed: int) -> Breakdown:
    """Break agreement down by coder."""
    import pandas as pd

    entry, rows = setup.request.coefficient, setup.sample.rows
    if entry.each_pair:
        raise NotApplicable(
            f'{entry.title} is a mean over pairs of coders. Take by="pair", or multi_kappa.'
        )
    sides = against_rest(setup)
    without = make_without(setup)
    reason = before(entry, setup.rows, setup.request.convention)
    fits = reason in ("", "no_complete_items")
    whole = Statistics(rows, [setup.request])

    def measure(weights: Floats) -> dict[str, Floats]:
        found = {"value": sides.evaluate(entry.expectation, weights).value}
        if fits:
            found["whole"] = whole.evaluate(weights)[0].value
        if without is not None:
            found["difference"] = without.evaluate(weights) - found["whole"][..., None]
        return found

    point = sides.evaluate(entry.expectation, setup.sample.point)
    all_value = float(whole.evaluate(setup.sample.point)[0].value) if fits else float("nan")
    nan = np.full(rows.n_coders, np.nan)
    left_out = nan if without is None else without.evaluate(setup.sample.point)
    work = sides.work + (0 if without is None else without.work)
    made = planned(draws, 2 * rows.n_coders, work)
    width = sides.width + whole.width + (0 if without is None else without.width)
    drawn = collect(setup.sample, made, seed, width, measure)
    paired = used_items(setup.rows, setup.request.convention)[setup.rows.item]
    n = np.bincount(setup.rows.coder[paired], minlength=rows.n_coders)
    columns, values = measured(setup, point, n, drawn.get("value"))
    change = drawn.get("difference")
    if change is not None:
        change = np.where(np.isnan(left_out), np.nan, change)
    low, high = spans(change, left_out)
    why = columns.pop("note")
    table = pd.DataFrame(
        {
            "coder": list(setup.data.coders),
            "n": n,
            **columns,
            "without": left_out,
            "difference": left_out - all_value,
            "difference_low": low,
            "difference_high": high,
            "p_better_without": nan if change is None else share_above(change, 0.0),
            "note": _remarks(setup, why, n),
        }
    )
    notes = [*notes_of(setup, bool(drawn)), *draws_note(draws, made)]
    if without is None:
        notes.append(_why_not_without(setup))
    used = int(used_items(setup.rows, setup.request.convention).sum())
    return Breakdown(
        f"{setup.title}: each coder against the others, and the data without the coder",
        table,
        dataset(
            {"coder": setup.data.coders},
            {"value": values, "difference": change},
            (drawn.get("whole"), all_value),
        ),
        overall_table([overall_row("all coders", all_value, drawn.get("whole"), used)]),
        ("coder",),
        notes=tuple(notes),
    )


def constant_labels(rows: Rows) -> Ints:
    """Label of each coder who used one label only, else -1, shape [coder]."""
    cell = np.unique(rows.coder * rows.n_labels + rows.label)
    coder, label = np.divmod(cell, rows.n_labels)
    only = np.bincount(coder, minlength=rows.n_coders) == 1
    out = np.full(rows.n_coders, -1, dtype=np.int64)
    out[coder] = label
    return np.where(only, out, -1)


def _remarks(setup: Setup, notes: list[str], n: Ints) -> list[str]:
    """Say which coders used one label only, and which share few items."""
    constant = constant_labels(setup.rows).tolist()
    found = []
    for note, label, count in zip(notes, constant, n.tolist(), strict=True):
        if count == 0:
            note = "Shares no item with another coder."
        elif not note and label >= 0:
            note = f"Used {quoted(setup.data.labels[label])} only."
        found.append(note or (f"Shares {count} item(s) only." if count < FEW else ""))
    return found


def _why_not_without(setup: Setup) -> str:
    """Say why nothing is known about the data without a coder."""
    if setup.rows.n_coders < 3:
        return "There are only two coders: without one of them there is no agreement to show."
    return (
        f"{setup.title} without each coder would take too long for {setup.rows.n_coders:,} coders. "
        "alpha, k, s and ac1 are quick."
    )
