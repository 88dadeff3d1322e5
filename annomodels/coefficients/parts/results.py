"""Results of a breakdown and a diagnosis: tables with draws behind them, and sentences."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd

from annomodels.coefficients.intervals import Drawn, as_text
from annomodels.data.columns import COLUMNS, Column, columns
from annomodels.data.html import Html
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.types import Floats

MOST_CODERS = 500
SHARES = (
    *("share", "share_low", "share_high", "by_chance"),
    *("ratio", "ratio_low", "ratio_high", "p_more"),
)
"""Columns of observed and expected shares of disagreement."""
_VALUE = COLUMNS["value"].called(digits=3)
_COMMON = columns(_VALUE, "observed expected n")
_SPECIFIC = COLUMNS["specific"].called(interval=("specific_low", "specific_high"))
SHOWN: dict[tuple[str, ...], tuple[Column, ...]] = {
    ("group",): columns("group", *_COMMON, "coders note"),
    ("label",): columns("label", _VALUE, _SPECIFIC, "n share observed expected"),
    ("item",): columns("item n", _VALUE.called(interval=None), "share influence further"),
    ("coder",): columns(
        "coder n", _VALUE, "without difference", Column("p_better_without"), "note"
    ),
    ("coder_a", "coder_b"): columns("coder_a coder_b", *_COMMON, "note"),
}
"""Displayed columns, by the columns that name a part."""


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Drawn, Html):
    """Difference of two coefficients.

    Parameters
    ----------
    title
        Description of the difference.
    value
        Difference of the classical values; NaN if one of them is undefined.
    draws
        Draws of the difference, shape [draw], NaN where one of them is undefined.
    notes
        Remarks on the difference.

    Examples
    --------
    >>> found = Difference("alpha of ana - alpha of ben", 0.1, np.linspace(-0.1, 0.3, 101))
    >>> found
    alpha of ana - alpha of ben = 0.1000 (-0.0900 to 0.2900) · P(> 0) = 0.74
    """

    title: str
    value: float
    draws: Floats
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        line = f"{self.title} = {self.value:.4f}"
        if not math.isnan(self.low):
            line += f" ({self.low:.4f} to {self.high:.4f}) · P(> 0) = {self.p_above():.2f}"
        return "\n".join([line, *self.notes])


class _Shown(Summary):
    """Summary of several tables, which prints their first rows."""

    first: ClassVar[int]
    sentences: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = [self.title, *(f"* {sentence}" for sentence in self.sentences)]
        for name, table in self.tables():
            left = len(table) - self.first
            more = f" (first {self.first} of {len(table):,})" if left > 0 else ""
            lines += [f"\n.{name}{more}"] if self.sentences else []
            lines.append(as_text(table, self.first))
            if left > 0 and not self.sentences:
                lines.append(f"... {left:,} more rows in .{name}")
        if self.sentences:
            lines[0], lines[-1] = f"{lines[0]}\n", f"{lines[-1]}\n"
        return "\n".join([*lines, *self.notes])


@dataclass(frozen=True, eq=False, repr=False)
class Breakdown(_Shown):
    """Agreement by part: a tidy table, and joint draws of all parts.

    Parameters
    ----------
    title, table, draws, notes, columns
        As in every summary. The table has one row for each part, with value, observed and expected
        as in :class:`~annomodels.coefficients.result.Agreement`; low and high are a 95 % interval.
        The draws have the dimensions (draw, part), and ``whole`` (draw) for all data.
    overall
        The same for all parts together: a row for the whole data, and for groups also their mean
        and the spread between them.
    parts
        Columns of the table that name a part.
    measure
        Variable of the draws for differences.
    """

    overall: pd.DataFrame = field(kw_only=True)
    parts: tuple[str, ...] = field(kw_only=True)
    measure: str = field(kw_only=True, default="value")
    first = 30

    @cached_property
    def _rows(self) -> dict[Hashable, int]:
        columns = [self.table[name].tolist() for name in self.parts]
        names = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
        rows: dict[Hashable, int] = {name: row for row, name in enumerate(names)}
        if len(columns) == 2:
            rows |= {(b, a): row for row, (a, b) in enumerate(names) if (b, a) not in rows}
        return rows

    def difference(
        self, first: Hashable, second: Hashable | None = None, measure: str | None = None
    ) -> Difference:
        """Difference of two parts, with its posterior.

        Parameters
        ----------
        first, second
            Names of two parts; pairs of coders as a tuple of two names. Without `second`, the
            first is compared with all parts together (groups: with the mean over the groups).
        measure
            Another variable of the draws, such as "specific" if the parts are labels.

        Raises
        ------
        KeyError
            If the part or variable is unknown.
        ValueError
            If there are no draws.

        Examples
        --------
        >>> import annomodels as am
        >>> found = am.breakdown(am.datasets.load("trains"), "label", draws=200)
        >>> found.difference("E-2", "Tank").p_above() > 0.5
        True
        """
        measure = measure or self.measure
        known = [str(name) for name in self.draws.data_vars if name != "whole"]
        if measure not in known:
            if not known:
                raise ValueError("The parts have no draws, so no difference can be shown.")
            raise KeyError(f"No draws of {measure!r} were kept. Use {' or '.join(known)}.")
        if second is None and ("whole" not in self.draws or measure != self.measure):
            raise KeyError("No overall value exists to compare this with. Name two parts.")
        draws, value = self._part(measure, first)
        if second is None:
            whole, name = self.draws["whole"], "all"
            other, of_other = whole.to_numpy(), float(whole.attrs["value"])
        else:
            (other, of_other), name = self._part(measure, second), _name(second)
        title = f"{measure} of {_name(first)} - {measure} of {name}"
        return Difference(title, value - of_other, draws - other)

    def _part(self, measure: str, name: Hashable) -> tuple[Floats, float]:
        if name not in self._rows:
            held = ", ".join(_name(known) for known in list(self._rows)[:6])
            more = ", ..." if len(self._rows) > 6 else ""
            raise KeyError(f"Unknown part {name!r}. Use one of {held}{more}.")
        row, draws = self._rows[name], self.draws[measure].to_numpy()
        if row >= draws.shape[1]:
            raise ValueError("One of these parts has no draws, so there is no difference to show.")
        return draws[:, row], float(self.table[measure].iloc[row])

    def matrix(self, column: str = "value") -> pd.DataFrame:
        """Square table of the pairs of coders; NaN on the diagonal and without common items.

        Parameters
        ----------
        column
            Column of the table, such as "n" for the number of common items.

        Raises
        ------
        ValueError
            If the parts are not pairs, or there are more than 500 coders.

        Examples
        --------
        >>> import annomodels as am
        >>> found = am.breakdown(am.datasets.load("anesthesia"), "pair", "percent", draws=0)
        >>> found.matrix().loc["1", "3"].round(3)
        np.float64(0.822)
        """
        if len(self.parts) != 2:
            raise ValueError(f'"{self.title}" has no pairs. Use by="pair".')
        names = list(dict.fromkeys([*self.table[self.parts[0]], *self.table[self.parts[1]]]))
        if len(names) > MOST_CODERS:
            raise ValueError(
                f"{len(names):,} coders are too many for a square table (at most {MOST_CODERS}). "
                "The rows of .table hold the pairs that share items."
            )
        place = {name: n for n, name in enumerate(names)}
        one, other = ([place[name] for name in self.table[part]] for part in self.parts)
        values = np.full((len(names), len(names)), np.nan)
        values[one, other] = values[other, one] = self.table[column]
        return pd.DataFrame(values, index=names, columns=names).sort_index().sort_index(axis=1)

    def tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        for name, table in (("table", self.table), ("overall", self.overall)):
            if name == "table" or len(table):
                yield name, table


def _name(name: Hashable) -> str:
    return " and ".join(map(label_text, name)) if isinstance(name, tuple) else label_text(name)


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(_Shown):
    """Sources of disagreement.

    In each table, share is the share of the observed disagreement, by_chance the share expected by
    chance, ratio their ratio, low and high the ends of 95 % intervals, and p_more the probability
    that the ratio exceeds 1.

    Parameters
    ----------
    title, table, draws, notes, columns
        As in every summary. The table lists label pairs, coders, groups and items
        with their shares; the draws are of the shares.
    sentences
        Statements that the tables support with a probability of 0.95 or more.
    agreement
        The requested coefficient, with observed agreement, S and AC1 if labels are nominal.
    label_pairs
        Pairs of different labels, those with most disagreement first.
    labels
        Agreement on each label against the rest, as ``breakdown(data, "label")``; None if the
        distance is not nominal.
    items
        Items with two labels or more, those with most disagreement first.
    coders
        Coders, with their coefficient against the rest, the effect of leaving them out, and
        the label they give more often than others on the same items.
    groups
        Documents or batches; None if there are none, or if items are resampled.
    components
        Coders, items and labels of each component of the graph of who labeled what.
    """

    sentences: tuple[str, ...] = field(kw_only=True)
    agreement: pd.DataFrame = field(kw_only=True)
    label_pairs: pd.DataFrame = field(kw_only=True, default_factory=pd.DataFrame)
    labels: pd.DataFrame | None = field(kw_only=True, default=None)
    items: pd.DataFrame = field(kw_only=True, default_factory=pd.DataFrame)
    coders: pd.DataFrame = field(kw_only=True, default_factory=pd.DataFrame)
    groups: pd.DataFrame | None = field(kw_only=True, default=None)
    components: pd.DataFrame = field(kw_only=True)
    first = 5

    def tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        names = ("agreement", "label_pairs", "labels", "items", "coders", "groups", "components")
        for name in names:
            table = getattr(self, name)
            if table is not None and len(table):
                yield name, table
