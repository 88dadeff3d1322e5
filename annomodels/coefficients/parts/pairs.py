"""Agreement of each pair of coders on the items that both labelled."""

from __future__ import annotations

import numpy as np

from annomodels.coefficients.parts.grouped import Entries, Grouped
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.parts.table import drawn, finish, measured
from annomodels.coefficients.reasons import used_items
from annomodels.coefficients.rows import Rows, within_items
from annomodels.coefficients.tables import over
from annomodels.errors import NotApplicable, Option
from annomodels.types import Ints

MOST_LABEL_PAIRS = 50_000_000
MOST_PAIRS = 200_000
MOST_DRAWN = 20_000


def shared_items(rows: Rows, convention: str) -> tuple[Ints, Ints, Ints]:
    """Positions of every two labels of an item by different coders, and the code of the coders."""
    per_item = rows.per_item.astype(np.int64)
    size = int((per_item * (per_item - 1) // 2).sum())
    if size > MOST_LABEL_PAIRS:
        raise NotApplicable(
            f"The items hold {size:,} pairs of labels (at most {MOST_LABEL_PAIRS:,} here). "
            f"Take {Option('by', 'coder')}, or fewer items."
        )
    a, b = within_items(rows.item, rows.n_items)
    keep = (rows.coder[a] != rows.coder[b]) & used_items(rows, convention)[rows.item[a]]
    a, b = a[keep], b[keep]
    swap = rows.coder[a] > rows.coder[b]
    a, b = np.where(swap, b, a), np.where(swap, a, b)
    return a, b, rows.coder[a] * rows.n_coders + rows.coder[b]


def by_pair(setup: Setup, draws: int, seed: int) -> Breakdown:
    """Break agreement down by pair of coders, those that share most items first."""
    rows, names = setup.sample.rows, setup.data.coders
    a, b, code = shared_items(rows, setup.request.convention)
    known, where = np.unique(code, return_inverse=True)
    times = setup.sample.point[rows.item[a]]
    n = np.bincount(where, weights=times, minlength=len(known)).round().astype(np.int64)
    sharing = int((n > 0).sum())
    if not sharing:
        raise NotApplicable("No two coders labelled the same item, so there is no pair to show.")
    order = np.lexsort((known, -n))[: min(sharing, MOST_PAIRS)]
    place = np.full(len(known), -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    size, n = len(order), n[order]
    every, top = (_parts(setup, place[where], a, b, m) for m in (size, min(size, MOST_DRAWN)))
    _, found, notes = drawn(
        setup, lambda w: {"value": top.evaluate(w)}, draws, seed, top.n_parts, top.work, top.width
    )
    values = found.get("value")
    if values is not None:  # pairs that share few items have no draws
        values = np.pad(values, ((0, 0), (0, size - top.n_parts)), constant_values=np.nan)
    point = every.evaluate(setup.sample.point)
    columns, values = measured(setup, point, n, values)
    if sharing > size:
        notes.append(
            f"{sharing:,} pairs of coders share items; the {size:,} that share most are shown."
        )
    if found and top.n_parts < size:
        notes.append(f"The {top.n_parts:,} pairs that share most have intervals.")
    alone = setup.rows.n_coders * (setup.rows.n_coders - 1) // 2 - sharing
    if alone:
        notes.append(f"{alone:,} pairs of coders have no item in common and are left out.")
    whole = None
    if values is not None and top.n_parts == size:
        whole = over(np.nansum(values, axis=1), (~np.isnan(values)).sum(1))
    mean = over(np.nansum(point.value), (~np.isnan(point.value)).sum())
    one, other = np.divmod(known[order], rows.n_coders)
    return finish(
        setup,
        "each pair of coders",
        {"coder_a": [names[j] for j in one], "coder_b": [names[j] for j in other]},
        {"n": n, **columns},
        {"value": None if values is None else values[:, : top.n_parts], "whole": whole},
        [("mean over the pairs", float(mean), whole, size)],
        notes,
    )


def _parts(setup: Setup, part: Ints, a: Ints, b: Ints, size: int) -> Grouped:
    """Take the first pairs of coders; `part` is the place of each two labels' coders."""
    rows = setup.sample.rows
    kept = (part >= 0) & (part < size)
    a, b, part = a[kept], b[kept], part[kept]
    item, ones = rows.item[a], np.ones(len(a))
    entries = Entries(item, rows.label[a], rows.label[b], ones)
    return Grouped(setup, rows, entries, part, size, (2 * ones, part, item))
