"""Agreement per group of items (documents, genres, batches), its mean and spread."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from annomodels.coefficients.evaluation import draw_values, point_values
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import Row, Setup, finish, measured, planned
from annomodels.coefficients.reasons import (
    WITH_VALUE,
    before,
    diagnose,
    explain,
    repeats_note,
    say,
    used_items,
)
from annomodels.coefficients.rows import collapse, prepare, restrict
from annomodels.coefficients.tables import Evaluated, over
from annomodels.coefficients.weights import make_sample
from annomodels.data.names import plain_names, quoted
from annomodels.errors import NotApplicable, Option
from annomodels.limits import GROUPS_RESAMPLED
from annomodels.types import Floats

Undefined = float | str

GRID = 2001
FEWEST_GROUPS = 3
SMALLEST_ERROR = 1e-3
RULED = ("nobody_gave", "one_coder_gave")


def between_groups(values: Floats, errors: Floats) -> tuple[float, float, float]:
    """Return the posterior median and 95 % interval of the SD between groups."""
    # Random effects (Higgins, Thompson & Spiegelhalter 2009, doi:10.1111/j.1467-985X.2008.00552.x):
    # values are normal around true values with the errors of their draws, these normal around a
    # mean, which is integrated out; the SD is uniform between 0 and 1. NaN below three groups.
    known = np.isfinite(values) & np.isfinite(errors)
    y, s = values[known], np.maximum(errors[known], SMALLEST_ERROR)
    if len(y) < FEWEST_GROUPS:
        return float("nan"), float("nan"), float("nan")
    tau = np.linspace(0, 1, GRID)
    precision = 1 / (s**2 + tau[:, None] ** 2)
    total = precision.sum(1)
    mean = (precision * y).sum(1) / total
    fit = (precision * (y - mean[:, None]) ** 2).sum(1)
    log_p = 0.5 * (np.log(precision).sum(1) - np.log(total) - fit)
    p = np.exp(log_p - log_p.max())
    below = np.cumsum((p[1:] + p[:-1]) / 2)
    below = np.concatenate([[0.0], below / below[-1]])
    low, median, high = np.interp([0.025, 0.5, 0.975], below, tau)
    return float(median), float(low), float(high)


def by_group_of_items(
    setup: Setup, draws: int, seed: int, undefined: Undefined, positive: Hashable | None
) -> Breakdown:
    data = setup.data
    if data.group is None:
        raise NotApplicable(
            "The data have no groups. Name the column of the documents or batches when they are "
            f"read: {Option('group', 'document')}."
        )
    marked = _positive(setup, undefined, positive)
    made = planned(draws, len(data.groups), 4 * len(data))
    rows = [_one(setup, g, made, seed, undefined, marked) for g in range(len(data.groups))]
    n, coders, why, points, each_drawn = (list(column) for column in zip(*rows, strict=True))
    point = Evaluated(*(np.array(x) for x in zip(*points, strict=True)))
    columns, drawn = measured(setup, point, np.array(n), np.stack(each_drawn, axis=1))
    columns["note"] = why
    value = point.value
    ruled = np.array([getattr(note, "code", "") in RULED for note in why])
    known = value[np.isfinite(value)]
    mean, mean_draws = float(known.mean()) if len(known) else math.nan, np.empty(0)
    many = len(known) >= GROUPS_RESAMPLED
    if made and many:  # draws of the mean are a Bayesian bootstrap over the groups
        rng = np.random.default_rng([seed, len(value)])
        weights = rng.standard_exponential((made, len(known)))
        mean_draws = weights @ known / weights.sum(1)
    overall: list[Row | dict[str, Any]] = [("mean over groups", mean, mean_draws, len(known))]
    request = setup.request
    if not before(request.coefficient, setup.rows, request.convention):
        # all items together; groups are resampled if there are enough
        sample = make_sample(prepare(data, setup.duplicates, groups=many))
        pooled = float(point_values(sample, [request])[0].value)
        pooled_draws = draw_values(sample, [request], made if sample.n_units > 1 else 0, seed)[0]
        used = int(used_items(setup.rows, request.convention).sum())
        overall.append(("pooled", pooled, pooled_draws, used))
    whole = np.empty(0)
    if len(drawn):
        free = np.where(ruled, np.nan, value)
        n_drawn = np.isfinite(drawn).sum(0)
        apart = np.nansum((drawn - over(np.nansum(drawn, axis=0), n_drawn, 0.0)) ** 2, axis=0)
        errors = np.sqrt(over(apart, np.where(n_drawn > 1, n_drawn, 0)))
        value_of, low, high = between_groups(free, errors)
        spread = {"value": value_of, "low": low, "high": high}
        overall.append({"what": "SD between groups", **spread, "n": int(np.isfinite(free).sum())})
        if len(known):
            # mean over these groups with draws of their items, as the reference for each group
            filled = np.where(ruled, value, drawn)
            whole = over(np.nansum(filled, axis=1), np.isfinite(filled).sum(1))
            if not many:
                overall[0] = ("mean over groups", mean, whole, len(known))
    notes = [repeats_note(data, setup.duplicates)] if data.repeats else []
    if undefined == "label-given":
        decided, ones = int(ruled.sum()), int((value[ruled] == 1).sum())
        notes.append(say("rules", n=decided, of=len(value), ones=ones, zeros=decided - ones))
    if lost := int(np.isnan(value).sum()):
        notes.append(say("groups_without_value", n=lost, of=len(value)))
    if len(drawn):
        notes.append(say("whole_groups_drawn" if many else "items_drawn", known=len(known)))
        notes += [] if many else [say("rough_groups", n=len(value))]
    return finish(
        setup,
        "each group",
        {"group": list(data.groups)},
        {"n": n, "coders": coders, **columns},
        {"value": drawn, "whole": whole},
        overall,
        notes,
    )


def _positive(setup: Setup, undefined: Undefined, positive: Hashable | None) -> int | None:
    """Return the code of the label that the rules use, or None without rules."""
    if undefined != "label-given":
        if not isinstance(undefined, (int, float)):
            raise NotApplicable(
                f'undefined={undefined!r} is unknown. Give a number, or "label-given".'
            )
        if positive is not None:
            raise NotApplicable('positive= belongs to undefined="label-given". Give both.')
        return None
    names = ", ".join(map(quoted, setup.data.labels[:6]))
    if positive is None:
        raise NotApplicable(
            'undefined="label-given" asks whether a label was given at all, so name the label: '
            f"positive= one of {names}."
        )
    (positive,) = plain_names([positive], "label")
    if positive not in setup.data.labels:
        raise NotApplicable(f"positive={positive!r} is not a label. Use one of {names}.")
    return setup.data.labels.index(positive)


def _one(
    setup: Setup, code: int, draws: int, seed: int, undefined: Undefined, marked: int | None
) -> tuple[int, int, str, tuple[float, ...], Floats]:
    """Return item and coder counts, note, value with both sides, and draws of one group."""
    assert setup.data.group is not None
    rows = restrict(setup.rows, setup.data.group[setup.rows.item] == code, items=True)
    request = setup.request
    entry = request.coefficient
    point = Evaluated(*np.full(3, np.nan))
    drawn = np.full(draws, np.nan)
    used = used_items(rows, request.convention)
    reason = before(entry, rows, request.convention)
    if not reason:
        sample = make_sample(collapse(rows))
        point = point_values(sample, [request])[0]
        reason = diagnose(entry, rows, request.convention, point)
        if draws and reason in ("", "constant_coder"):
            own = int(np.random.SeedSequence([seed, code]).generate_state(1)[0])
            drawn = draw_values(sample, [request], draws, own)[0]
    note = explain(reason, entry, rows.n_coders, rows.n_labels)
    value = float(point.value)
    who = np.unique(rows.coder[used[rows.item] & (rows.label == marked)])
    if marked is not None and used.any() and len(who) < 2:
        value, drawn = float(not len(who)), np.full(draws, np.nan)
        note = say("one_coder_gave" if len(who) else "nobody_gave", label=setup.data.labels[marked])
    elif reason and reason not in WITH_VALUE and not isinstance(undefined, str):
        value = undefined
    sides = float(point.observed), float(point.expected)
    return int(used.sum()), rows.n_coders, note, (value, *sides), drawn
