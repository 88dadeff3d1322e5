"""Rows of the tables of an estimate, and names that become codes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.auditing.rectify import ENDS
from annomodels.data.names import label_text
from annomodels.data.validation import some
from annomodels.errors import AnnotationError, Problem
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

WRONG = -1
Slice = tuple[Ints, tuple[Hashable, ...]]


@lru_cache(maxsize=4)
def places(names: tuple[Hashable, ...]) -> Mapping[Hashable, int]:
    """Return codes by name and by its text; a name goes before the text of another."""
    place: dict[Hashable, int] = {name: n for n, name in enumerate(names)}
    for n, name in enumerate(names):
        if not isinstance(name, str):
            place.setdefault(label_text(name), n)
    return place


def named_codes(fit: Fit, given: Mapping[Any, Any]) -> Slice:
    """Return codes of the names given to items, -1 without one, and the names."""
    place = places(fit.data.items)
    codes = np.full(fit.data.n_items, -1)
    names: dict[Hashable, int] = {}
    for item, name in given.items():
        if item in place:
            codes[place[item]] = names.setdefault(name, len(names))
    if not names:
        what = f"None of these items is in the fit: {some(list(given))}."
        remedy = f"Use the names that items have there, such as {some(list(fit.data.items)[:3])}."
        raise AnnotationError(Problem(what, remedy=remedy))
    order = sorted(names, key=label_text)
    new = np.empty(len(names) + 1, dtype=np.int64)
    new[[names[name] for name in order]] = np.arange(len(order))
    new[-1] = -1
    return new[codes], tuple(order)


def units_of(member: Ints, inside: Any) -> tuple[Ints, Ints]:
    """Return the items that are in a group, and their groups."""
    item = np.flatnonzero((member >= 0) & inside)
    return item, member[item]


def flipped(found: Any) -> Floats:
    """Turn a share of wrong ones with its ends into that of right ones."""
    share, low, high = found
    return np.array([1 - share, 1 - high, 1 - low])


def three(name: str, draws: Floats, bare: bool = False) -> dict[str, float]:
    """Return mean and 95 % interval of draws, with bare or full names of the ends."""
    low, high = np.quantile(draws, ENDS)
    ends = ("low", "high") if bare else (f"{name}_low", f"{name}_high")
    return {name: float(draws.mean()), ends[0]: float(low), ends[1]: float(high)}


def row_of(quantity: str, label: Hashable, draws: Floats, audit: Any, model: Any) -> dict[str, Any]:
    """Return a row of the table of all items."""
    row: dict[str, Any] = {"quantity": quantity, "label": label}
    row |= three("value", draws, bare=True)
    row |= dict(zip(("audit", "audit_low", "audit_high"), map(float, audit), strict=True))
    return row | dict(zip(("model", "model_low", "model_high"), map(float, model), strict=True))
