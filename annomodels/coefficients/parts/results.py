"""Results of a breakdown and a diagnosis: tables with draws behind them, and sentences."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from annomodels.coefficients.intervals import Shown
from annomodels.coefficients.parts.comparison import Difference
from annomodels.data.names import label_text

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

MOST_CODERS = 500
SHARES = (
    *("share", "share_low", "share_high", "by_chance"),
    *("ratio", "ratio_low", "ratio_high", "p_more"),
)
"""Columns of a part of the disagreement, next to the part that chance would give."""


@dataclass(frozen=True, eq=False, repr=False)
class Breakdown(Shown):
    """Agreement in parts: a tidy table, and draws that all parts share.

    Parameters
    ----------
    title
        What the table shows.
    table
        One row for each part. value, observed and expected as in
        :class:`~annomodels.coefficients.result.Agreement`;
        low and high are a 95 % interval.
    draws
        Draws of the sampling posterior: variables with the dimensions (draw, part), and ``whole``
        (draw) for all data together.
    overall
        The same for all parts together: a row for the whole data, and for groups also their mean
        and the spread between them.
    parts
        Columns of the table that name a part.
    measure
        Variable of the draws that differences are taken of.
    notes
        Sentences a reader of the table should know.
    """

    title: str
    table: pd.DataFrame
    draws: xr.Dataset
    overall: pd.DataFrame
    parts: tuple[str, ...]
    measure: str = "value"
    notes: tuple[str, ...] = ()
    first = 30
    sentences = ()

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
            Another variable of the draws, for instance "specific" where the parts are labels.

        Raises
        ------
        KeyError
            When there is no such part or variable.
        ValueError
            When there are no draws.

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
                raise ValueError("There are no draws, so there is no difference to show.")
            raise KeyError(f"There are no draws of {measure!r}. Use {' or '.join(known)}.")
        if second is None and ("whole" not in self.draws or measure != self.measure):
            raise KeyError("There is no overall value to compare this with. Name two parts.")
        values = self.table[measure].to_numpy(dtype=float)
        draws = self.draws[measure].to_numpy()
        row = self._row(first)
        if max(row, 0 if second is None else self._row(second)) >= draws.shape[1]:
            raise ValueError("One of these parts has no draws, so there is no difference to show.")
        if second is None:
            other, whole, name = self.draws["whole"].to_numpy(), self._whole_value(), "all"
        else:
            at = self._row(second)
            other, whole, name = draws[:, at], float(values[at]), _name(second)
        return Difference(
            f"{measure} of {_name(first)} - {measure} of {name}",
            float(values[row]) - whole,
            draws[:, row] - other,
        )

    def matrix(self, column: str = "value") -> pd.DataFrame:
        """Square table of the pairs of coders; NaN on the diagonal and where no item is shared.

        Parameters
        ----------
        column
            Column of the table, for instance "n" for the number of shared items.

        Raises
        ------
        ValueError
            When the parts are no pairs, or there are more than 500 coders.

        Examples
        --------
        >>> import annomodels as am
        >>> found = am.breakdown(am.datasets.load("anesthesia"), "pair", "percent", draws=0)
        >>> found.matrix().loc["1", "3"].round(3)
        np.float64(0.822)
        """
        import pandas as pd

        if len(self.parts) != 2:
            raise ValueError(f'There are no pairs in "{self.title}". Take by="pair".')
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

    def _whole_value(self) -> float:
        return float(self.draws["whole"].attrs["value"])

    def _row(self, name: Hashable) -> int:
        try:
            return self._rows[name]
        except KeyError:
            held = ", ".join(_name(known) for known in list(self._rows)[:6])
            more = ", ..." if len(self._rows) > 6 else ""
            raise KeyError(f"There is no part {name!r}. There are {held}{more}.") from None

    def tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Names and tables: the parts, and all parts together."""
        for name, table in (("table", self.table), ("overall", self.overall)):
            if name == "table" or len(table):
                yield name, table


def _name(name: Hashable) -> str:
    return " and ".join(map(label_text, name)) if isinstance(name, tuple) else label_text(name)


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Shown):
    """Sources of disagreement.

    In every table share is the part of the observed disagreement, by_chance the part that chance
    would give, ratio the one over the other, low and high ends of 95 % intervals, and p_more the
    probability that the ratio exceeds 1.

    Parameters
    ----------
    title
        What was diagnosed.
    sentences
        What the tables say, where they say it with a probability of .95 or more.
    agreement
        The coefficient asked for, with observed agreement, S and AC1 where labels are nominal.
    label_pairs
        Pairs of different labels, those with most disagreement first.
    labels
        Agreement on each label against the rest, as ``breakdown(data, "label")``; None where the
        distance is not nominal.
    items
        Items with two labels or more, those with most disagreement first.
    coders
        Coders, with their coefficient against the rest, what leaving them out would do, and what
        label they give more often than others do on the same items.
    groups
        Documents or batches; None where there are none or items are drawn one by one.
    components
        Coders, items and labels of each component of the graph of who labelled what.
    draws
        Draws of the shares.
    notes
        What else a reader should know.
    """

    title: str
    sentences: tuple[str, ...]
    agreement: pd.DataFrame
    label_pairs: pd.DataFrame
    labels: pd.DataFrame | None
    items: pd.DataFrame
    coders: pd.DataFrame
    groups: pd.DataFrame | None
    components: pd.DataFrame
    draws: xr.Dataset
    notes: tuple[str, ...] = ()
    first = 5

    def tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Names of the parts with their tables, as far as there are any."""
        names = ("agreement", "label_pairs", "labels", "items", "coders", "groups", "components")
        for name in names:
            table = getattr(self, name)
            if table is not None and len(table):
                yield name, table

    @cached_property
    def table(self) -> pd.DataFrame:
        """Label pairs, coders, groups and items one below the other, with their shares."""
        import pandas as pd

        columns = ["part", "name", "n", *SHARES]
        pieces = []
        if len(self.label_pairs):
            pairs = zip(self.label_pairs["first"], self.label_pairs["second"], strict=True)
            names = [f"{label_text(a)} / {label_text(b)}" for a, b in pairs]
            pieces.append(self.label_pairs.assign(part="label pair", name=names))
        for part, table in (("coder", self.coders), ("group", self.groups), ("item", self.items)):
            if table is not None and len(table):
                pieces.append(table.assign(part=part, name=table[part].map(label_text)))
        if not pieces:
            return pd.DataFrame(columns=columns)
        return pd.concat([piece.reindex(columns=columns) for piece in pieces], ignore_index=True)
