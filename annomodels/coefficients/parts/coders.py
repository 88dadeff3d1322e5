"""Agreement of each coder with the rest of the coders, and what it would be without them.

The pairs of a coder are that coder's label against every other label of the same item, weighted
as the convention weighs the item. So the observed disagreement of all coders, weighted by their
labels, is that of the data. The coefficient of these pairs is that of two coders: the coder and
"the others".
"""

from __future__ import annotations

import numpy as np

from annomodels.coefficients.evaluation import Statistics
from annomodels.coefficients.intervals import share_above
from annomodels.coefficients.parts.grouped import coder_parts
from annomodels.coefficients.parts.influence import make_without
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.parts.table import drawn, finish, measured, spans
from annomodels.coefficients.reasons import before, used_items
from annomodels.coefficients.rows import Rows
from annomodels.coefficients.tables import Evaluated
from annomodels.data.names import quoted
from annomodels.errors import NotApplicable, Option
from annomodels.types import Floats, Ints

FEW = 10  # items, below which a coder is not compared with others


def by_coder(setup: Setup, draws: int, seed: int) -> Breakdown:
    """Break agreement down by coder."""
    entry, rows = setup.request.coefficient, setup.rows
    if entry.each_pair:
        raise NotApplicable(
            f"{entry.title} is a mean over pairs of coders. Take {Option('by', 'pair')}, or "
            "multi_kappa."
        )
    sides, without = coder_parts(setup), make_without(setup)
    whole = Statistics(setup.sample.rows, [setup.request])
    fits = before(entry, rows, setup.request.convention) in ("", "no_complete_items")

    def measure(weights: Floats) -> dict[str, Floats | Evaluated]:
        found: dict[str, Floats | Evaluated] = {"value": sides.evaluate(weights)}
        if fits:
            found["whole"] = all_data = whole.evaluate(weights)[0].value
            if without is not None:
                found["difference"] = without.evaluate(weights) - all_data[..., None]
        return found

    more = (0, 0) if without is None else (without.work, without.width)
    work, width = sides.work + more[0], sides.width + whole.width + more[1]
    point, found, notes = drawn(setup, measure, draws, seed, 2 * rows.n_coders, work, width)
    used = used_items(rows, setup.request.convention)
    n = np.bincount(rows.coder[used[rows.item]], minlength=rows.n_coders)
    columns, values = measured(setup, point["value"], n, found.get("value"))
    nan = np.full(rows.n_coders, np.nan)
    left_out = nan if without is None else without.evaluate(setup.sample.point)
    all_value = float(point.get("whole", np.nan))
    difference, change = point.get("difference", nan), found.get("difference")
    if change is not None:
        change = np.where(np.isnan(left_out), np.nan, change)
    low, high = spans(change, difference)
    if without is None:
        notes.append(_why_not_without(setup))
    after = {
        "without": left_out,
        "difference": difference,
        "difference_low": low,
        "difference_high": high,
        "p_better_without": nan if change is None else share_above(change, 0.0),
        "note": _remarks(setup, columns.pop("note"), n),
    }
    return finish(
        setup,
        "each coder against the others, and the data without the coder",
        {"coder": list(setup.data.coders)},
        {"n": n, **columns, **after},
        {"value": values, "difference": change, "whole": found.get("whole")},
        [("all coders", all_value, found.get("whole"), int(used.sum()))],
        notes,
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
    """Note coders who used one label only or share few items."""
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
    """Explain why the data without a coder are not evaluated."""
    if setup.rows.n_coders < 3:
        return "There are only two coders: without one of them there is no agreement to show."
    return (
        f"{setup.title} without each coder would take too long for {setup.rows.n_coders:,} coders. "
        "alpha, k, s and ac1 are quick."
    )
