"""Agreement of each pair of coders on the items that both labelled."""

from __future__ import annotations

import numpy as np

from annomodels.coefficients.parts.columns import (
    collect,
    dataset,
    draws_note,
    measured,
    notes_of,
    overall_row,
    overall_table,
    planned,
)
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.parts.two_sided import Entries, TwoSided, two_sided
from annomodels.coefficients.reasons import used_items
from annomodels.coefficients.rows import Rows, within_items
from annomodels.coefficients.tables import Evaluated, over
from annomodels.errors import NotApplicable
from annomodels.types import Floats, Ints

MOST_LABEL_PAIRS = 50_000_000
MOST_PAIRS = 200_000
MOST_DRAWN = 20_000


def shared_items(rows: Rows, convention: str) -> tuple[Ints, Ints, Ints]:
    """Positions of every two labels of an item by different coders, and the code of the coders.

    Raises
    ------
    NotApplicable
        When there are too many.
    """
    per_item = rows.per_item.astype(np.int64)
    size = int((per_item * (per_item - 1) // 2).sum())
    if size > MOST_LABEL_PAIRS:
        raise NotApplicable(
            f"The items hold {size:,} pairs of labels (at most {MOST_LABEL_PAIRS:,} here). "
            'Take by="coder", or fewer items.'
        )
    a, b = within_items(rows.item, rows.n_items)
    keep = (rows.coder[a] != rows.coder[b]) & used_items(rows, convention)[rows.item[a]]
    a, b = a[keep], b[keep]
    swap = rows.coder[a] > rows.coder[b]
    a, b = np.where(swap, b, a), np.where(swap, a, b)
    return a, b, rows.coder[a] * rows.n_coders + rows.coder[b]


def by_pair(setup: Setup, draws: int, seed: int) -> Breakdown:
    """Break agreement down by pair of coders, those that share most items first."""
    import pandas as pd

    rows, entry = setup.sample.rows, setup.request.coefficient
    a, b, code = shared_items(rows, setup.request.convention)
    known, where = np.unique(code, return_inverse=True)
    times = setup.sample.point[rows.item[a]]
    n = np.bincount(where, weights=times, minlength=len(known)).round().astype(np.int64)
    known_n = int((n > 0).sum())
    if not known_n:
        raise NotApplicable("No two coders labelled the same item, so there is no pair to show.")
    order = np.lexsort((known, -n))[: min(known_n, MOST_PAIRS)]
    place = np.full(len(known), -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    part = place[where]
    every, top = (
        _sides(setup, part, a, b, size) for size in (len(order), min(len(order), MOST_DRAWN))
    )
    made = planned(draws, top.n_parts, top.work)
    drawn = collect(
        setup.sample,
        made,
        seed,
        top.width,
        lambda weights: {"value": top.evaluate(entry.expectation, weights).value},
    )
    point = every.evaluate(entry.expectation, setup.sample.point)
    columns, _ = measured(setup, point, n[order], None)
    first = slice(top.n_parts)
    shown, values = measured(
        setup, Evaluated(*(x[first] for x in point)), n[order[first]], drawn.get("value")
    )
    for name in ("low", "high", "p_above_667", "p_above_800"):
        columns[name][first] = shown[name]
    one, other = np.divmod(known[order], rows.n_coders)
    names = setup.data.coders
    pair = {"coder_a": [names[j] for j in one], "coder_b": [names[j] for j in other]}
    notes = [*notes_of(setup, bool(drawn)), *draws_note(draws, made)]
    if known_n > len(order):
        notes.append(
            f"{known_n:,} pairs of coders share items; the {len(order):,} that share most are "
            "shown."
        )
    if drawn and top.n_parts < len(order):
        notes.append(f"The {top.n_parts:,} pairs that share most have intervals.")
    alone = setup.rows.n_coders * (setup.rows.n_coders - 1) // 2 - known_n
    if alone:
        notes.append(f"{alone:,} pairs of coders have no item in common and are left out.")
    mean, mean_draws = _mean(point.value, values if top.n_parts == len(order) else None)
    return Breakdown(
        f"{setup.title}: each pair of coders",
        pd.DataFrame({**pair, "n": n[order], **columns}),
        dataset(
            {key: held[first] for key, held in pair.items()},
            {"value": values},
            (mean_draws, mean),
        ),
        overall_table([overall_row("mean over the pairs", mean, mean_draws, len(order))]),
        ("coder_a", "coder_b"),
        notes=tuple(notes),
    )


def _sides(setup: Setup, part: Ints, a: Ints, b: Ints, size: int) -> TwoSided:
    """Tables of the first pairs of coders; `part` is the place of each two labels' coders."""
    rows = setup.sample.rows
    kept = (part >= 0) & (part < size)
    a, b, part = a[kept], b[kept], part[kept]
    item, ones = rows.item[a], np.ones(len(a))
    return two_sided(
        Entries(part, item, rows.label[a], rows.label[b], ones),
        (2 * ones, part, item),
        (size, rows.n_items),
        setup.request.distance,
        setup.moving,
        rows.n_labels,
    )


def _mean(value: Floats, draws: Floats | None) -> tuple[float, Floats | None]:
    """Mean over the pairs for whom the coefficient is defined, as a value and as draws."""
    defined = ~np.isnan(value)
    mean = float(value[defined].mean()) if defined.any() else float("nan")
    if draws is None:
        return mean, None
    return mean, over(np.nansum(draws, axis=1), (~np.isnan(draws)).sum(1))
