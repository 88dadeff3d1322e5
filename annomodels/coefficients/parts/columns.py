"""What every table of parts shows of a coefficient, from draws to intervals, and the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.reasons import REASONS
from annomodels.coefficients.tables import Evaluated, over
from annomodels.coefficients.weights import Sample
from annomodels.data.names import label_text
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Measure = Callable[[Floats], Mapping[str, Floats]]

FEWEST = 200
MOST_NUMBERS = 16_000_000
MOST_WORK = 2_000_000_000
TIGHT = 8  # arrays of parts are short-lived; wide blocks of draws make sparse products quick


def planned(asked: int, numbers: int, work: int) -> int:
    """Give the number of draws: as asked for, fewer where there are very many parts.

    Parameters
    ----------
    asked
        What the user wants.
    numbers
        Numbers kept of each draw.
    work
        Entries of the sparse matrices that a draw is multiplied with.

    Examples
    --------
    >>> planned(2000, 10, 1_000), planned(2000, 40_000, 1_000), planned(2000, 10**9, 1)
    (2000, 400, 200)
    """
    most = min(MOST_NUMBERS // max(numbers, 1), MOST_WORK // max(work, 1))
    return min(asked, max(FEWEST, most))


def collect(
    sample: Sample, draws: int, seed: int, width: int, measure: Measure
) -> dict[str, Floats]:
    """Measures of every draw, shape [draw, ...] each; empty without draws.

    Parameters
    ----------
    sample
        The items and how their weights are drawn.
    draws, seed
        Number and seed of the draws.
    width
        Numbers that `measure` holds for each draw.
    measure
        Takes weights [draw, item].
    """
    if not draws:
        return {}
    blocks = [measure(weights) for weights in sample.draw(draws, seed, width // TIGHT)]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def interval(draws: Floats, prob: float = 0.95) -> tuple[Floats, Floats]:
    """Equal-tailed intervals of the defined draws, [draw, ...] -> two of [...]; NaN without any.

    Examples
    --------
    >>> low, high = interval(np.column_stack([np.arange(101.0), np.full(101, np.nan)]), 0.9)
    >>> low, high
    (array([ 5., nan]), array([95., nan]))
    """
    if not 0 < prob < 1:
        raise ValueError(f"prob={prob!r} should lie between 0 and 1, for instance 0.95.")
    flat = draws.reshape(len(draws), -1)
    out = np.full((2, flat.shape[1]), np.nan)
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    lost = np.isnan(flat).sum(0)
    whole = lost == 0
    if len(flat) and whole.any():
        out[:, whole] = np.quantile(flat[:, whole], tails, axis=0)
    for column in np.flatnonzero((lost > 0) & (lost < len(flat))):
        values = flat[:, column]
        out[:, column] = np.quantile(values[~np.isnan(values)], tails)
    low, high = out.reshape(2, *draws.shape[1:])
    return low, high


def share_above(draws: Floats, threshold: float) -> Floats:
    """Share of the defined draws above a threshold, [draw, ...] -> [...]; NaN without any.

    Examples
    --------
    >>> share_above(np.array([[0.5, np.nan], [0.9, np.nan]]), 0.8)
    array([0.5, nan])
    """
    return over((draws > threshold).sum(0), (~np.isnan(draws)).sum(0))


def measured(
    setup: Setup, point: Evaluated, n: Ints, draws: Floats | None
) -> tuple[dict[str, Any], Floats | None]:
    """Columns of a coefficient of each part, and its draws.

    Parameters
    ----------
    setup
        What was asked for.
    point
        The classical values, shape [part].
    n
        Number of items behind each part.
    draws
        Draws of the value, shape [draw, part], or None. A part of one item or none gets no
        interval, and neither does one whose value is undefined.

    Returns
    -------
    The columns value, low, high, observed, expected, p_above_667, p_above_800 and note; the draws,
    NaN for parts without an interval.
    """
    value = np.asarray(point.value, dtype=float)
    if draws is not None:
        draws = np.where(np.isnan(value) | (np.asarray(n) < 2), np.nan, draws)
    sides = [np.asarray(side, dtype=float) for side in point[1:]]
    observed, expected = (1 - side if setup.nominal else side for side in sides)
    low, high = spans(draws, value)
    above = [
        np.full(value.shape, np.nan) if draws is None else share_above(draws, limit)
        for limit in (0.667, 0.8)
    ]
    columns = {
        "value": value,
        "low": low,
        "high": high,
        "observed": observed,
        "expected": expected,
        "p_above_667": above[0],
        "p_above_800": above[1],
        "note": [_note(*part) for part in zip(value, sides[0], n, strict=True)],
    }
    return columns, draws


def spans(draws: Floats | None, value: Floats) -> tuple[Floats, Floats]:
    """Intervals of the parts; NaN without draws."""
    if draws is None:
        return np.full(np.shape(value), np.nan), np.full(np.shape(value), np.nan)
    return interval(draws)


def _note(value: float, apart: float, n: int) -> str:
    """Say why a part has no value or no interval."""
    if n == 0:
        return REASONS["no_overlap"]
    if np.isnan(value):
        return REASONS["no_variation" if apart == 0 else "zero_expected_disagreement"]
    return REASONS["too_few_items"] if n == 1 else ""


def overall_row(what: str, value: float, draws: Floats | None, n: int) -> dict[str, Any]:
    """Row of the overall table; one item or none gets no interval."""
    low, high = spans(draws if n > 1 else None, np.asarray(value))
    return {"what": what, "value": value, "low": float(low), "high": float(high), "n": n}


def overall_table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Table of what holds for all parts together."""
    import pandas as pd

    return pd.DataFrame(rows, columns=["what", "value", "low", "high", "n"])


def dataset(
    parts: Mapping[str, Iterable[object]],
    variables: Mapping[str, Floats | None],
    whole: tuple[Floats | None, float] = (None, float("nan")),
) -> xr.Dataset:
    """Draws with named dimensions, empty where there are none.

    Parameters
    ----------
    parts
        Coordinates that name the parts; the first is the dimension, unless there are two.
    variables
        Draws, shape [draw, part] each; None where there are none.
    whole
        Draws and value of all data together.
    """
    import xarray as xr

    names = {
        key: np.array([label_text(name) for name in values], dtype=object)
        for key, values in parts.items()
    }
    dimension = next(iter(names)) if len(names) == 1 else "pair"
    held = {
        name: (("draw", dimension), draws) for name, draws in variables.items() if draws is not None
    }
    if not held:
        return xr.Dataset()
    found = xr.Dataset(held, coords={key: (dimension, value) for key, value in names.items()})
    if whole[0] is not None:
        found["whole"] = (("draw",), whole[0], {"value": whole[1]})
    return found


def draws_note(asked: int, made: int) -> list[str]:
    """Say where fewer draws were made than asked for."""
    if made >= asked:
        return []
    return [f"{made:,} draws instead of {asked:,}, as there are many parts."]


def repeats_note(setup: Setup) -> str:
    """Say what was done with repeats."""
    what = "counted" if setup.duplicates == "keep" else f"left out ({setup.duplicates} label kept)"
    return f"{setup.data.repeats:,} further label(s) of the same coder and item were {what}."


def notes_of(setup: Setup, drawn: bool) -> list[str]:
    """Sentences about the data that concern every part."""
    notes = [repeats_note(setup)] if setup.data.repeats else []
    notes += [setup.request.note] if setup.request.note else []
    if drawn:
        notes.append(f"Intervals: {setup.sample.recipe}; all parts share the draws.")
    return notes
