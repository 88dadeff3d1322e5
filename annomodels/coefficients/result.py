"""Result of a coefficient: the value, its observed and expected part, and its draws."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from annomodels.coefficients.catalogue import find
from annomodels.coefficients.intervals import THRESHOLDS, Drawn, as_text
from annomodels.coefficients.rows import Basis
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import columns
from annomodels.data.html import Html
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import NotApplicable
from annomodels.types import Floats

if TYPE_CHECKING:
    import xarray as xr

    from annomodels.coefficients.errors import Analytic
    from annomodels.coefficients.tables import Evaluated


COLUMNS = (
    *("coefficient", "title", "value", "observed", "expected", "n", "low", "high"),
    *("p_above_667", "p_above_800", "convention", "note"),
)
# the --fail-if name, the value with its interval, and the reason if it is missing
SHOWN = columns(
    "coefficient title",
    ALL["value"].called(digits=3),
    "note observed expected",
    ALL["n"].called("Items"),
    "p_above_667 p_above_800",
)


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Drawn, Html):
    """One agreement coefficient.

    Parameters
    ----------
    name, title
        Short name, and name in print.
    value
        The classical value; NaN if it is undefined, with the reason in `note`.
    observed, expected
        Observed and expected agreement, or disagreement, see `kind`.
    kind
        "agreement" with the nominal distance, "disagreement" with any other.
    n_items, n_coders, n_labels
        Number of items with two labels or more, of coders, and of labels on these items.
    convention
        Convention for missing labels, "complete" if none is missing.
    note
        Reason for a missing or unusual value or interval.
    reason
        The same as a code, a key of :data:`~annomodels.coefficients.reasons.REASONS`, or "".
    distance
        Distance between labels.
    draws
        Draws of the sampling posterior, shape [draw], NaN where undefined; None without draws.
    notes
        Notes on the data that concern all coefficients.
    basis
        Input of the computation; None for a result built by hand.
    words
        Nouns for what `n_items` and `n_labels` count, in the singular.
    """

    name: str
    title: str
    value: float
    observed: float
    expected: float
    kind: Literal["agreement", "disagreement"]
    n_items: int
    n_coders: int
    n_labels: int
    convention: str
    note: str
    reason: str
    distance: str
    draws: Floats | None
    notes: tuple[str, ...] = ()
    basis: Basis | None = None
    words: tuple[str, str] = ("item", "label")

    def analytic(self, prob: float = 0.95) -> Analytic:
        """Compute Gwet's standard error and interval, to compare with other packages.

        They assume large samples. If labels are rare or items few, trust the draws.

        Parameters
        ----------
        prob
            Probability of the interval.

        Raises
        ------
        NotApplicable
            If the coefficient has no analytic error for these data.
        ValueError
            If `prob` is not between 0 and 1.

        Examples
        --------
        >>> import annomodels as am
        >>> found = am.agreement(am.datasets.load("anesthesia"), "k")
        >>> error = found.analytic()
        >>> round(error.se, 3), round(error.low, 3), round(error.high, 3)
        (0.05..., 0..., 0...)
        """
        from annomodels.coefficients.errors import analytic

        return analytic(self._basis(), self.value, prob)

    def parts(self) -> Evaluated:
        """Return draws of the value, observed and expected disagreement, shape [draw] each.

        Raises
        ------
        NotApplicable
            If the coefficient has no draws.
        """
        from annomodels.coefficients.sums import draw_parts

        basis = self._basis()
        if self.draws is None:
            raise NotApplicable(f"{self.title} has no draws. {self.note}".strip())
        return draw_parts(basis.sample, [basis.request], basis.draws, basis.seed)[0]

    def _basis(self) -> Basis:
        if self.basis is None:
            raise NotApplicable(f"{self.title} was not computed from data by annomodels.agreement.")
        return self.basis

    def row(self) -> dict[str, object]:
        names = self.name, self.title
        values = self.value, self.observed, self.expected, self.n_items, *self.interval()
        more = *map(self.p_above, THRESHOLDS), self.convention, self.note
        return dict(zip(COLUMNS, (*names, *values, *more), strict=True))

    def __repr__(self) -> str:
        low, high = self.interval()
        span = f" ({low:.4f} to {high:.4f})" if not math.isnan(low) else ""
        parts = [f"{self.title} = {self.value:.4f}{span}"]
        if not math.isnan(self.observed):
            parts.append(f"observed {self.kind} {self.observed:.4f}")
        if not math.isnan(self.expected):
            parts.append(f"expected {self.expected:.4f}")
        item, label = self.words
        counts = ((self.n_items, item), (self.n_coders, "coder"), (self.n_labels, label))
        parts.append(", ".join(counted(n, word) for n, word in counts))
        return "\n".join([" · ".join(parts), *filter(None, (self.note, *self.notes))])


class AgreementPanel(Summary, Mapping[str, Agreement]):
    """Several coefficients of the same data, with common draws: a summary with one row for each.

    Look a coefficient up by its name or an alias: ``panel["alpha"]``, ``panel["Fleiss' kappa"]``.
    The draws are common to all, so the difference of two coefficients has a posterior too.
    """

    def __init__(self, results: tuple[Agreement, ...], notes: tuple[str, ...] = ()) -> None:
        self._results: dict[str, Agreement]
        # table and draws are built on demand, because the draws import xarray
        own = {result.name: result for result in results}
        self.__dict__.update(title="Agreement", notes=notes, columns=SHOWN, _results=own)

    def __getitem__(self, name: str) -> Agreement:
        if name in self._results:  # alpha_u is not in the catalogue
            return self._results[name]
        try:
            return self._results[find(name).name]
        except (KeyError, NotApplicable):
            held = ", ".join(self._results)
            raise KeyError(f"{name!r} is not in this panel. It holds {held}.") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __contains__(self, name: object) -> bool:
        return name in self._results

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each coefficient."""
        return pd.DataFrame([result.row() for result in self.values()], columns=list(COLUMNS))

    @cached_property
    def draws(self) -> xr.Dataset:
        """Draws of the sampling posterior, variable ``sampling`` (draw, coefficient)."""
        import xarray as xr

        n = max((len(r.draws) for r in self.values() if r.draws is not None), default=0)
        columns = [np.full(n, np.nan) if r.draws is None else r.draws for r in self.values()]
        values = np.stack(columns, axis=1) if columns else np.empty((n, 0))
        return xr.Dataset(
            {"sampling": (("draw", "coefficient"), values)},
            coords={"draw": np.arange(n), "coefficient": list(self._results)},
        )

    def difference(self, first: str, second: str) -> Floats:
        """Return draws of the difference of two coefficients, shape [draw]."""
        one, other = self[first], self[second]
        if one.draws is None or other.draws is None:
            without = one.name if one.draws is None else other.name
            raise ValueError(f"{without} has no draws, so there is no difference to show.")
        return one.draws - other.draws

    def __repr__(self) -> str:
        return "\n".join([as_text(self.table.drop(columns="title")), *self.notes])
