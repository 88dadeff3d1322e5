"""Data and request of a breakdown, checked once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import sparse

from annomodels.coefficients.agreement import Convention, Resample, by_group, make_requests
from annomodels.coefficients.catalogue import find
from annomodels.coefficients.distances import DistanceLike
from annomodels.coefficients.formulas import EXPECTED
from annomodels.coefficients.intervals import THRESHOLDS, interval, share_above
from annomodels.coefficients.parts.results import SHOWN, Breakdown
from annomodels.coefficients.reasons import REASONS, before, refuse, repeats_note, say, unit_notes
from annomodels.coefficients.rows import (
    CONVENTIONS,
    Duplicates,
    ItemRows,
    Request,
    Sample,
    collapse,
    make_sample,
    prepare,
    with_labels,
)
from annomodels.coefficients.rows import Convention as Weighing
from annomodels.coefficients.sums import Sums, of_items, pairwise
from annomodels.coefficients.tables import Evaluated
from annomodels.data.alike import components
from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable, Note, Option
from annomodels.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Setup:
    data: Annotations  # annotations, with the label set in use
    rows: ItemRows  # their codes, one item for each item of the data
    sample: Sample  # equal items counted once, and how their weights are drawn
    request: Request
    duplicates: Duplicates

    @property
    def convention(self) -> Weighing:
        if self.request.convention not in CONVENTIONS:
            raise NotApplicable(
                'With missing="pairwise" every pair of coders is separate. Take '
                f"{Option('by', 'pair')}, or one of {', '.join(CONVENTIONS)}."
            )
        return CONVENTIONS[self.request.convention]

    @cached_property
    def sums(self) -> Sums:
        if self.request.convention == "pairwise":
            return pairwise(self.sample.rows, self.request)
        return of_items(self.sample.rows, self.convention)

    def shares(self, sums: Sums) -> Callable[[Floats], tuple[Floats, Floats]]:
        """Return a function from item weights to the shares of parts."""
        return lambda weights: sums.shares(weights, self.request.distance, self.pooled)

    @cached_property
    def pooled(self) -> Floats:
        return np.asarray(of_items(self.sample.rows, self.convention).of_all @ self.sample.point)


def set_up(
    data: Annotations,
    name: str,
    distance: DistanceLike | None = None,
    missing: Convention | None = None,
    duplicates: Duplicates = "first",
    resample: Resample = "auto",
    labels: Sequence[Hashable] | None = None,
    whole: bool = False,
) -> Setup:
    """Check the options; see :func:`~annomodels.agreement` for the parameters."""
    if labels is not None:
        data = with_labels(data, labels)
    # checked first, because the request would require chance levels
    taken_apart = not find(name).chance
    request = make_requests(data, name, distance, missing)[0] if taken_apart else None
    if request is not None and not whole:
        entry = request.coefficient
        taken_apart = entry.expectation in (None, *EXPECTED)
    if request is None or not taken_apart:
        raise NotApplicable(
            f"{find(name).title} cannot be split this way. Use alpha, k, multi_kappa, s, ac1 or "
            "percent."
        )
    rows = prepare(data, duplicates, by_group(data, resample))
    # never merge items of different groups, because groups may be requested
    apart = rows if data.group is not None else collapse(rows)
    return Setup(data, rows, make_sample(apart), request, duplicates)


def refuse_unfit(setup: Setup) -> None:
    entry, rows = setup.request.coefficient, setup.rows
    refuse(before(entry, rows, setup.request.convention), entry, rows)


Measure = Callable[[Floats], Mapping[str, Any]]
Row = tuple[str, float, Floats, int]
"""Row of the overall table: what it shows, its value, draws, and number of items."""

FEWEST = 200
MOST_NUMBERS = 16_000_000
MOST_WORK = 2_000_000_000
TIGHT = 8  # part arrays are short-lived; wide blocks of draws make sparse products fast


def planned(asked: int, numbers: int, work: int) -> int:
    """Choose the number of draws: as requested, or fewer if each is expensive."""
    most = min(MOST_NUMBERS // max(numbers, 1), MOST_WORK // max(work, 1))
    return min(asked, max(FEWEST, most))


def collect(
    sample: Sample, measure: Measure, draws: int, seed: int, width: int
) -> dict[str, Floats]:
    """Collect the measures of every draw, [draw, ...] each."""

    def one(weights: Floats) -> dict[str, Floats]:
        found = measure(weights)
        return {k: x.value if isinstance(x, Evaluated) else x for k, x in found.items()}

    blocks = [one(some) for some in sample.draw(draws, seed, width // TIGHT)]
    blocks = blocks or [one(np.empty((0, len(sample.point))))]
    return {k: np.concatenate([block[k] for block in blocks]) for k in blocks[0]}


def drawn(
    setup: Setup, measure: Measure, asked: int, seed: int, numbers: int, work: int, width: int
) -> tuple[dict[str, Any], dict[str, Floats], list[str]]:
    """Return measures under classical weights and of every draw, and notes on the draws."""
    made = planned(asked, numbers, work)
    found = collect(setup.sample, measure, made, seed, width)
    return dict(measure(setup.sample.point)), found, notes_of(setup, asked, made)


def measured(
    setup: Setup, point: Evaluated, n: Ints, draws: Floats
) -> tuple[dict[str, Any], Floats]:
    """Return the columns of a coefficient of each part, and its draws."""
    # A part without a value or with fewer than two items gets no interval, and NaN for draws.
    value, *sides = (np.asarray(x, dtype=float) for x in point)
    draws = np.where(np.isnan(value) | (np.asarray(n) < 2), np.nan, draws)
    observed, expected = (1 - side if setup.request.nominal else side for side in sides)
    low, high = interval(draws, value=value)
    above = {f"p_above_{1000 * limit:.0f}": share_above(draws, limit) for limit in THRESHOLDS}
    undefined = np.isnan(value)
    kinds = {
        "no_overlap": n == 0,
        "no_variation": undefined & (sides[0] == 0),
        "zero_expected_disagreement": undefined,
        "too_few_items": n == 1,
    }
    notes = np.select([*kinds.values()], [REASONS[kind] for kind in kinds], "").tolist()
    columns = {"value": value, "low": low, "high": high, "observed": observed}
    return columns | {"expected": expected, **above, "note": notes}, draws


def finish(
    setup: Setup,
    what: str,
    parts: Mapping[str, Sequence[object]],
    columns: Mapping[str, object],
    draws: Mapping[str, Floats],
    overall: Sequence[Row | Mapping[str, object]],
    notes: Sequence[str],
    measure: str = "value",
) -> Breakdown:
    """Build a breakdown; draws named "whole" are of the first overall value."""
    rows: list[Mapping[str, Any]] = []
    for row in overall:
        if isinstance(row, Mapping):
            rows.append(row)
            continue
        name, value, drawn, n = row
        # no interval with fewer than two items
        low, high = map(float, interval(drawn if n > 1 else drawn[:0], value=value))
        rows.append({"what": name, "value": value, "low": low, "high": high, "n": n})
    return Breakdown(
        title=f"{setup.request.title}: {what}",
        table=pd.DataFrame({**parts, **columns}),
        draws=dataset(parts, draws, rows[0]["value"]),
        overall=pd.DataFrame(rows, columns=["what", "value", "low", "high", "n"]),
        parts=tuple(parts),
        measure=measure,
        notes=tuple(notes),
        columns=SHOWN[tuple(parts)],
    )


def dataset(
    parts: Mapping[str, Sequence[object]],
    variables: Mapping[str, Floats],
    whole: float = float("nan"),
) -> xr.Dataset:
    """Build the draws, with a dimension named after the parts ("pair" for two columns)."""
    held = {name: draws for name, draws in variables.items() if len(draws)}
    if not set(held) - {"whole"}:
        return xr.Dataset()
    dimension = next(iter(parts)) if len(parts) == 1 else "pair"
    n = next(draws.shape[1] for name, draws in held.items() if name != "whole")
    names = {
        key: (dimension, np.array([label_text(name) for name in values[:n]], dtype=object))
        for key, values in parts.items()
    }
    found = {
        name: (("draw",), draws, {"value": whole})
        if name == "whole"
        else (("draw", dimension), draws)
        for name, draws in held.items()
    }
    return xr.Dataset(found, coords=names)


def notes_of(setup: Setup, asked: int, made: int) -> list[str]:
    notes: list[str] = [setup.request.note] if setup.request.note else []
    if setup.data.repeats:
        notes.insert(0, repeats_note(setup.data, setup.duplicates))
    if made:
        notes.append(say("recipe_of_parts", recipe=setup.sample.recipe))
        notes += unit_notes(setup.data, setup.rows)
    return notes + draws_note(asked, made)


def draws_note(asked: int, made: int) -> list[Note]:
    return [say("fewer_draws", made=made, asked=asked)] if made < asked else []


MOST_PATHS = 60_000_000


@dataclass(frozen=True, eq=False)
class Connections:
    """Connections between coders through items; components are numbered from the largest."""

    component: Ints  # of each coder, [coder]
    components: pd.DataFrame  # number of coders, items and labels of each
    shared: Ints  # items that a coder shares with another, [coder]
    partners: Ints | None  # coders that a coder shares items with, [coder]; None: too many to count
    single: int  # items with one label


def overlap(rows: ItemRows) -> Connections:
    """Find the connected components, and the items that each coder shares."""
    n_coders, n_items = rows.n_coders, rows.n_items
    ones = np.ones(len(rows.item))
    given = sparse.csr_array((ones, (rows.coder, rows.item)), (n_coders, n_items))
    given.data[:] = 1.0
    part = np.arange(n_coders)
    known = components(rows.item, rows.coder)
    part[: len(known)] = known
    of_coder = np.unique(part, return_inverse=True)[1]
    first = rows.coder[rows.starts[rows.per_item > 0]]
    members = {"coders": of_coder, "items": of_coder[first], "labels": of_coder[rows.coder]}
    k = int(of_coder.max()) + 1
    sizes = {name: np.bincount(x, minlength=k) for name, x in members.items()}
    order = np.argsort(-sizes["labels"], kind="stable")
    table = pd.DataFrame({"component": np.arange(k) + 1} | {n: x[order] for n, x in sizes.items()})
    per_item = np.asarray(given.sum(0)).reshape(-1)
    together = given @ given.T if (per_item**2).sum() <= MOST_PATHS else None
    return Connections(
        component=np.argsort(order)[of_coder] + 1,
        components=table,
        shared=np.bincount(rows.coder[(per_item >= 2)[rows.item]], minlength=n_coders),
        partners=None if together is None else np.diff(together.indptr).astype(np.int64) - 1,
        single=int((per_item < 2).sum()),
    )
