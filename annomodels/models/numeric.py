"""Numeric labels as the interval model sees them: standardised, with their coders and items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.errors import AnnotationError, NotApplicable, Problem
from annomodels.types import Floats

# share of the labels at an extreme from which it counts as an end of the scale
PILE = 0.02


@dataclass(frozen=True, eq=False)
class NumericLabels:
    """Labels in standard units: (value - centre) / unit.

    Parameters
    ----------
    item, coder
        Codes, shape [annotation].
    y
        Labels in standard units, shape [annotation].
    low, high
        Between what each label lies before it is rounded to a step of the scale, in standard
        units, shape [annotation]; equal where labels are taken as exact, infinite at an end of
        the scale.
    known
        Known truths in standard units, NaN where unknown, shape [item].
    n_coders
        Number of coders.
    centre, unit
        What was subtracted, and by what was divided, in units of the labels.
    ends
        Ends of the scale in units of the labels, infinite where it has none.
    """

    item: NDArray[Any]
    coder: NDArray[Any]
    y: Floats
    low: Floats
    high: Floats
    known: Floats
    n_coders: int
    centre: float
    unit: float
    ends: tuple[float, float] = (-np.inf, np.inf)

    @property
    def exact(self) -> bool:
        """Whether labels are taken as they are, neither rounded nor cut off."""
        return bool((self.low == self.high).all())

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.known)


def numeric_labels(
    data: Annotations,
    centre: float | None = None,
    unit: float | None = None,
    step: float | None = None,
    ends: tuple[float, float] | None = None,
) -> NumericLabels:
    """Bring annotations whose labels are numbers into standard units.

    Parameters
    ----------
    data
        The annotations.
    centre, unit
        Zero point and unit; None takes mean and standard deviation of all labels.
    step
        Step of the scale; None takes the smallest distance of two labels that occur, 0 takes
        labels as exact.
    ends
        Smallest and largest label of the scale; None takes an extreme that occurs for an end when
        at least 2 % of the labels stand there. Infinite: no end.

    Raises
    ------
    NotApplicable
        When labels are no numbers.
    AnnotationError
        When there is nothing to learn: one coder, no item with two labels, or labels all equal.

    Examples
    --------
    >>> rows = [("a", "x", 1), ("a", "y", 2), ("b", "x", 3), ("b", "y", 6)]
    >>> numeric_labels(Annotations.from_records(rows, scale="interval"), 3.0, 2.0).y
    array([-1. , -0.5,  0. ,  1.5])
    """
    values = data.values
    used = np.unique(data.label)
    if not np.isfinite(values[used]).all():
        odd = next(data.labels[k] for k in used if not np.isfinite(values[k]))
        raise NotApplicable(
            f"The interval model needs labels that are numbers, and {odd!r} is not one. "
            "Name cells that mean no label with missing=, or use a model of classes."
        )
    y = values[data.label]
    problems = []
    if np.ptp(y) == 0:
        what = f"Every label is {y[0]:g}, so there is nothing to learn."
        problems.append(Problem(what, data.source, "Add items with other labels."))
    if data.n_coders < 2:
        what = "There is one coder: bias and noise cannot be told from the truth."
        problems.append(Problem(what, data.source, "Add a second coder."))
    elif not data.is_shared:
        what = "No item was labelled by two coders, so noise cannot be told from the truth."
        problems.append(Problem(what, data.source, "Let coders share items."))
    if problems:
        raise AnnotationError(problems)
    step = float(np.diff(np.unique(y)).min()) if step is None else step
    lowest, highest = _ends(y) if ends is None else ends
    low, high = y - step / 2, y + step / 2
    if step > 0:
        low[y <= lowest], high[y >= highest] = -np.inf, np.inf
    centre = float(y.mean()) if centre is None else centre
    unit = float(y.std()) if unit is None else unit
    known = np.full(data.n_items, np.nan)
    if data.gold is not None:
        given = data.gold >= 0
        known[given] = values[data.gold[given]]
        if np.isnan(known[given]).any():
            raise NotApplicable("A known truth is not a number; the interval model needs numbers.")
    return NumericLabels(
        data.item,
        data.coder,
        (y - centre) / unit,
        (low - centre) / unit,
        (high - centre) / unit,
        (known - centre) / unit,
        data.n_coders,
        centre,
        unit,
        (float(lowest), float(highest)) if step > 0 else (-np.inf, np.inf),
    )


def _ends(y: Floats) -> tuple[float, float]:
    """Extremes at which labels pile up; infinite where they do not."""
    low, high = float(y.min()), float(y.max())
    return (
        low if (y == low).mean() >= PILE else -np.inf,
        high if (y == high).mean() >= PILE else np.inf,
    )
