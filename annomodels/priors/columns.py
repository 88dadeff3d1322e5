"""Covariates of coders or items for the regression of a parameter, as a plain value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from annomodels.data.html import Html
from annomodels.types import Floats

type Cell = float | str | None


@dataclass(frozen=True)
class Covariates(Html):
    r"""Columns with covariates of coders or items, with the prior of their coefficients.

    .. math:: \gamma_t \sim N(0, s^2)

    with one coefficient for each term t of the columns.

    Parameters
    ----------
    columns
        Names of the columns.
    names
        Names of the coders or items, as strings.
    values
        Values of the columns, [name][column]: numbers or strings.
    spread
        Standard deviation s of the coefficients, in logits.
    terms, units, design
        Names, units and values of the terms for the data of a fit, see :meth:`terms_of`; set by
        the model.

    Examples
    --------
    >>> known = Covariates(("years",), ("ana", "ben"), ((1.0,), (5.0,)))
    >>> known.terms_of(["ben", "ana"])[2].tolist()
    [[1.0], [-1.0]]
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    values: tuple[tuple[Cell, ...], ...]
    spread: float = 1.0
    terms: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    design: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.spread < float("inf"):
            raise ValueError(f"Covariates need a spread > 0, not {self.spread!r}.")

    def column(self, name: str, wanted: list[str]) -> list[Cell]:
        """Return the values of a column for some coders or items, None if empty."""
        at, rows = self.columns.index(name), dict(zip(self.names, self.values, strict=True))
        return [rows[each][at] if each in rows else None for each in wanted]

    def terms_of(self, wanted: list[str]) -> tuple[tuple[str, ...], tuple[str, ...], Floats]:
        """Return names, units and centered values [name, term] of the terms."""
        # A numeric column is one term, scaled to a standard deviation of 1. A column of strings has
        # a centered 0/1 term for each string except the most frequent one (in a tie, the first in
        # alphabetical order).
        terms, units, parts = [], [], []
        for name in self.columns:
            values = self.column(name, wanted)
            if is_numeric(values):
                numbers = np.array(values, dtype=float)
                terms.append(name)
                units.append(f"a standard deviation ({numbers.std():.3g})")
                parts.append((numbers - numbers.mean()) / numbers.std())
                continue
            said = [str(value) for value in values]
            times = Counter(said)
            levels = sorted(times)
            usual = max(levels, key=times.__getitem__)
            for level in levels:
                if level != usual:
                    present = np.array([each == level for each in said], dtype=float)
                    terms.append(f"{name}: {level}")
                    units.append(f"against {usual}")
                    parts.append(present - present.mean())
        return tuple(terms), tuple(units), np.stack(parts, axis=1)


def is_numeric(values: Iterable[object]) -> bool:
    """Return True if a column is numeric; booleans count as strings."""
    return all(isinstance(x, int | float) and not isinstance(x, bool) for x in values)
