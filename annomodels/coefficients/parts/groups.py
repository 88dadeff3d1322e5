r"""Agreement of each group of items - documents, genres, batches - their mean, and their spread.

The spread is what groups differ beyond what their small samples explain. The value of group g is
taken as normal around its true value with the standard deviation :math:`s_g` of its draws, and the
true values as normal around a common mean with the standard deviation :math:`\tau`: the
random-effects model (Higgins, Thompson & Spiegelhalter 2009, doi:10.1111/j.1467-985X.2008.00552.x).
The mean is integrated out, :math:`\tau` is evenly distributed between 0 and 1 beforehand, and its
posterior is computed on a grid.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.coefficients.evaluation import draw_values, point_values
from annomodels.coefficients.parts.columns import (
    dataset,
    overall_row,
    overall_table,
    planned,
    repeats_note,
    share_above,
    spans,
)
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.reasons import WITH_VALUE, before, diagnose, explain, used_items
from annomodels.coefficients.rows import Rows, collapse, prepare
from annomodels.coefficients.tables import over
from annomodels.coefficients.weights import make_sample
from annomodels.data.names import plain_names, quoted
from annomodels.errors import NotApplicable
from annomodels.types import Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

GRID = 2001
FEWEST_GROUPS = 3
SMALLEST_ERROR = 1e-3


def between_groups(values: Floats, errors: Floats) -> tuple[float, float, float]:
    """Posterior median and 95 % interval of the standard deviation between groups.

    Parameters
    ----------
    values, errors
        Value of each group and the standard deviation of its draws, shape [group].

    Returns
    -------
    median, low, high
        NaN with fewer than three groups.

    Examples
    --------
    >>> median, low, high = between_groups(np.array([0.2, 0.5, 0.8]), np.full(3, 0.05))
    >>> low < 0.3 < high
    True
    """
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


Undefined = float | str

FEW_GROUPS = 10
COLUMNS = (
    *("group", "n", "coders", "value", "low", "high", "observed", "expected"),
    *("p_above_667", "p_above_800", "note"),
)
NOBODY = "Nobody gave the label {label!r}: 1 by rule."
ONE = "One coder alone gave the label {label!r}: 0 by rule."


def by_group_of_items(
    setup: Setup, draws: int, seed: int, undefined: Undefined, positive: Hashable | None
) -> Breakdown:
    """Break agreement down by group."""
    import pandas as pd

    data = setup.data
    if data.group is None:
        raise NotApplicable(
            "The data have no groups. Name the column of the documents or batches when they are "
            'read: group="document".'
        )
    marked = _positive(setup, undefined, positive)
    made = planned(draws, len(data.groups), 4 * len(data))
    rows = [
        {"group": name} | _one(setup, code, made, seed, undefined, marked)
        for code, name in enumerate(data.groups)
    ]
    drawn = np.stack([row.pop("draws") for row in rows], axis=1) if draws else None
    found = pd.DataFrame(rows)
    value = found["value"].to_numpy(dtype=float)
    low, high = spans(drawn, value)
    nan = np.full(len(found), np.nan)
    above = [nan if drawn is None else share_above(drawn, limit) for limit in (0.667, 0.8)]
    found = found.assign(low=low, high=high, p_above_667=above[0], p_above_800=above[1])
    table = found[list(COLUMNS)]
    ruled = table["note"].str.endswith("by rule.").to_numpy()
    mean, mean_draws = _mean(value, made if draws else 0, seed)
    overall = [
        overall_row("mean over groups", mean, mean_draws, int(np.isfinite(value).sum())),
        *_pooled(setup, made if draws else 0, seed),
    ]
    if drawn is not None:
        free = np.where(ruled, np.nan, value)
        spread = between_groups(free, _errors(drawn))
        overall.append(
            {"what": "SD between groups", "value": spread[0], "low": spread[1], "high": spread[2]}
            | {"n": int(np.isfinite(free).sum())}
        )
    return Breakdown(
        f"{setup.title}: each group",
        table,
        dataset({"group": data.groups}, {"value": drawn}, _whole(drawn, value, ruled)),
        overall_table(overall),
        ("group",),
        notes=tuple(_notes(setup, table, ruled, undefined, drawn is not None)),
    )


def _positive(setup: Setup, undefined: Undefined, positive: Hashable | None) -> int | None:
    """Code of the label that the rules are about, or None without rules."""
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
            'undefined="label-given" asks whether a label was given at all, so name it: positive= '
            f"one of {names}."
        )
    (positive,) = plain_names([positive], "label")
    if positive not in setup.data.labels:
        raise NotApplicable(f"positive={positive!r} is not a label. Use one of {names}.")
    return setup.data.labels.index(positive)


def _rows_of(setup: Setup, code: int) -> Rows:
    """Rows of one group, with its own coders."""
    rows, group = setup.rows, setup.data.group
    assert group is not None
    kept = group[rows.item] == code
    items, item = np.unique(rows.item[kept], return_inverse=True)
    coders, coder = np.unique(rows.coder[kept], return_inverse=True)
    return dataclasses.replace(
        rows,
        item=item.astype(np.int64),
        coder=coder.astype(np.int64),
        label=rows.label[kept],
        n_items=len(items),
        n_coders=len(coders),
        times=np.ones(len(items)),
        unit=None,
    )


def _one(
    setup: Setup, code: int, draws: int, seed: int, undefined: Undefined, marked: int | None
) -> dict[str, Any]:
    """Row of one group, with its draws."""
    rows, request = _rows_of(setup, code), setup.request
    entry = request.coefficient
    nan = float("nan")
    value = observed = expected = nan
    drawn = np.full(draws, np.nan)
    used = used_items(rows, request.convention)
    reason = before(entry, rows, request.convention)
    if not reason:
        sample = make_sample(collapse(rows))
        point = point_values(sample, [request])[0]
        reason = diagnose(entry, rows, request.convention, point)
        value, apart, by_chance = (float(part) for part in point)
        sides = (apart, by_chance)
        observed, expected = (1 - side if setup.nominal else side for side in sides)
        if draws and reason in ("", "constant_coder"):
            own = int(np.random.SeedSequence([seed, code]).generate_state(1)[0])
            drawn = draw_values(sample, [request], draws, own)[0]
    note = explain(reason, entry, rows.n_coders, rows.n_labels)
    rule = None if marked is None or not used.any() else _rule(rows, used, marked)
    if rule is not None and marked is not None:
        value, drawn = rule, np.full(draws, np.nan)
        note = (NOBODY if rule else ONE).format(label=setup.data.labels[marked])
    elif reason and reason not in WITH_VALUE and not isinstance(undefined, str):
        value = undefined
    return {
        "n": int(used.sum()),
        "coders": rows.n_coders,
        "value": value,
        "observed": observed,
        "expected": expected,
        "note": note,
        "draws": drawn,
    }


def _rule(rows: Rows, used: Bools, marked: int) -> float | None:
    """Value that seed 002's rules give, or None where two coders or more gave the label."""
    gave = np.unique(rows.coder[used[rows.item] & (rows.label == marked)])
    return {0: 1.0, 1: 0.0}.get(len(gave))


def _mean(value: Floats, draws: int, seed: int) -> tuple[float, Floats | None]:
    """Plain mean over the groups with a value; its draws are a Bayesian bootstrap over them."""
    known = value[np.isfinite(value)]
    if not len(known):
        return float("nan"), None
    if not draws or len(known) < 2:
        return float(known.mean()), None
    weights = np.random.default_rng([seed, len(value)]).standard_exponential((draws, len(known)))
    return float(known.mean()), weights @ known / weights.sum(1)


def _pooled(setup: Setup, draws: int, seed: int) -> list[dict[str, Any]]:
    """Row of all items together, groups drawn as a whole; none where it is not defined."""
    request = setup.request
    if before(request.coefficient, setup.rows, request.convention):
        return []
    rows = prepare(setup.data, setup.duplicates, groups=True)
    sample = make_sample(rows)
    value = float(point_values(sample, [request])[0].value)
    drawn = draw_values(sample, [request], draws, seed)[0] if draws and sample.n_units > 1 else None
    used = int(used_items(setup.rows, request.convention).sum())
    return [overall_row("pooled", value, drawn, used)]


def _errors(drawn: Floats) -> Floats:
    """Give the standard deviation of each group's draws; NaN for groups without any."""
    n = np.isfinite(drawn).sum(0)
    square = np.nansum((drawn - over(np.nansum(drawn, axis=0), n, 0.0)) ** 2, axis=0)
    return np.asarray(np.sqrt(over(square, np.where(n > 1, n, 0))))


def _whole(drawn: Floats | None, value: Floats, ruled: Bools) -> tuple[Floats | None, float]:
    """Mean over these groups, with draws of their items, to compare a group with."""
    if drawn is None or not np.isfinite(value).any():
        return None, float("nan")
    filled = np.where(ruled, value, drawn)
    means = over(np.nansum(filled, axis=1), np.isfinite(filled).sum(1))
    return means, float(np.nanmean(value))


def _notes(
    setup: Setup, table: pd.DataFrame, ruled: Bools, undefined: Undefined, drawn: bool
) -> list[str]:
    """Say what a reader of the table should know."""
    notes = []
    if setup.data.repeats:
        notes.append(repeats_note(setup))
    if undefined == "label-given":
        ones = int((table["value"].to_numpy()[ruled] == 1).sum())
        notes.append(
            f"The rules for labels that nobody or one coder alone gave decide {int(ruled.sum())} "
            f"of {len(table)} groups: {ones} count as 1, {int(ruled.sum()) - ones} as 0."
        )
    lost = int(table["value"].isna().sum())
    if lost:
        notes.append(f"{lost} of {len(table)} groups have no value and are left out of the mean.")
    if drawn:
        notes.append(
            "Intervals of a group draw its items; those of the mean and the pooled value draw "
            "whole groups. The SD between groups is what the items' chance does not explain."
        )
        if len(table) < FEW_GROUPS:
            notes.append(f"With {len(table)} groups, what is said of all groups is rough.")
    return notes
