"""Return True if designs reach a target, and which is the smallest, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypedDict

ERRORS = 2.0  # Monte Carlo errors by which a mean must differ from the target


class Row(TypedDict):
    """One design and what it brings; the columns of :func:`annomodels.design`."""

    items: int
    coders: int
    labels_per_item: int
    labels: int
    accuracy: float
    accuracy_mcse: float
    accuracy_low: float
    accuracy_high: float
    vote: float
    alpha: float
    alpha_width: float
    alpha_width_mcse: float
    reaches: str


def verdict(mean: float, error: float, target: float, *, above: bool) -> str:
    """Tell whether a mean is above (or below) the target beyond the Monte Carlo error."""
    if math.isnan(mean):
        return "no"
    gap = mean - target if above else target - mean
    if gap >= ERRORS * error:
        return "yes"
    return "no" if gap < -ERRORS * error else "unclear"


def sentences(
    rows: Sequence[Row],
    smallest: Row | None,
    of: str,
    target: float,
    replications: int,
    from_pilot: bool,
) -> tuple[str, ...]:
    """Name the smallest design, those that are unclear, and what the numbers rest on."""
    goal = (
        f"{target:.1%} right gold labels"
        if of == "gold"
        else f"an interval of alpha at most {target:g} wide"
    )
    best = smallest or _best(rows, of)
    notes = [_found(best, goal, of) if smallest else _none(best, goal, of)]
    cheaper = rows if smallest is None else rows[: rows.index(smallest)]
    unclear = [_name(r) for r in cheaper if r["reaches"] == "unclear" and r is not best]
    if unclear:
        notes.append(
            f"Within the Monte Carlo error also {' or '.join(unclear)} may do: more replications "
            "would tell."
        )
    notes.append(
        f"Each design was carried out {replications} times on "
        + (
            "data drawn from the posterior of the pilot. Where the pilot's model does not hold, "
            "because items differ in difficulty, say, more labels are needed."
            if from_pilot
            else "made-up data. The numbers are as good as the assumptions: a pilot tells more."
        )
    )
    return tuple(notes)


def _name(row: Row) -> str:
    many = "1 label" if row["labels_per_item"] == 1 else f"{row['labels_per_item']} labels"
    return f"{many} per item ({row['items']:,} items) by {row['coders']} coders"


def _brings(row: Row, of: str) -> str:
    if of == "gold":
        return (
            f"expected {row['accuracy']:.1%} ± {ERRORS * row['accuracy_mcse']:.1%}, in 95 % of "
            f"studies {row['accuracy_low']:.1%} to {row['accuracy_high']:.1%}; majority vote "
            f"{row['vote']:.1%}"
        )
    error = ERRORS * row["alpha_width_mcse"]
    return f"expected {row['alpha_width']:.3f} ± {error:.3f} around {row['alpha']:.2f}"


def _found(row: Row, goal: str, of: str) -> str:
    return (
        f"The smallest design that reaches {goal}: {_name(row)}, {row['labels']:,} labels in all "
        f"({_brings(row, of)})."
    )


def _best(rows: Sequence[Row], of: str) -> Row:
    """Find the design that comes nearest."""
    if of == "gold":
        return max(rows, key=lambda row: row["accuracy"])
    return min(rows, key=lambda r: math.inf if math.isnan(r["alpha_width"]) else r["alpha_width"])


def _none(best: Row, goal: str, of: str) -> str:
    if of == "alpha" and math.isnan(best["alpha_width"]):
        return f"No design reaches {goal}: alpha needs items with two labels."
    more = "better coders or more labels per item" if of == "gold" else "more items"
    takes = "." if best["reaches"] == "unclear" else f": it takes {more}."
    return f"No design surely reaches {goal}. The best is {_name(best)}, {_brings(best, of)}{takes}"
