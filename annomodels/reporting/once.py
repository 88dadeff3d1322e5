"""A fit whose summaries are computed when first asked for, and once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr

    from annomodels.data.annotations import Annotations
    from annomodels.fitting.fit import Fit
    from annomodels.reporting.wrong import Wrong
    from annomodels.summaries.checks import Check
    from annomodels.summaries.predictive_rows import Aspect
    from annomodels.summaries.summary import Summary

__all__ = ["Once"]

Floats = NDArray[np.float64]


class Once:
    """Stands for a fit while one page, or all files of one folder, are made from it.

    Everything else that a fit has is handed through. Tables and draws are handed out again and
    again, so nobody may change them.

    Parameters
    ----------
    fit
        A fit, or one of these, whose summaries are then shared.

    Examples
    --------
    >>> import annomodels as am
    >>> rows = [(i, j, int(i % 2 == 0 or j == i)) for i in range(6) for j in range(3)]
    >>> once = Once(am.fit(am.Annotations.from_records(rows), engine="em"))
    >>> once.gold() is once.gold(), once.engine
    (True, 'em')
    """

    def __init__(self, fit: Fit | Once) -> None:
        self.fit: Fit = fit.fit if isinstance(fit, Once) else fit
        self._known: dict[tuple[object, ...], Any] = fit._known if isinstance(fit, Once) else {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fit, name)

    @property
    def tree(self) -> xr.DataTree:
        """The tree of results."""
        return self.fit.tree

    @property
    def data(self) -> Annotations:
        """The annotations."""
        data: Annotations = self.fit.data
        return data

    def _once(self, make: Callable[[], Any], *key: object) -> Any:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def gold(self, threshold: float | None = None) -> Summary:
        """See :meth:`annomodels.Fit.gold`."""
        found: Summary = self._once(lambda: self.fit.gold(threshold), "gold", threshold)
        return found

    def coders(self, target: float | None = None) -> Summary:
        """See :meth:`annomodels.Fit.coders`."""
        found: Summary = self._once(lambda: self.fit.coders(target), "coders", target)
        return found

    def accuracy(self) -> Floats:
        """Accuracy of the coders on every draw, whatever is asked of them, [sample, coder]."""
        known = (found for (name, *_), found in self._known.items() if name == "coders")
        summary: Summary = next(known, None) or self.coders()
        return np.asarray(summary.draws["accuracy"].values, dtype=float)

    def items(self) -> Summary:
        """See :meth:`annomodels.Fit.items`."""
        found: Summary = self._once(self.fit.items, "items")
        return found

    def labels(self, *, pairs: bool = False) -> Summary:
        """See :meth:`annomodels.Fit.labels`."""
        from annomodels.summaries.labels import scheme

        both: tuple[Summary, Summary] = self._once(
            lambda: scheme(self.fit.tree, self.fit.data), "labels"
        )
        return both[int(pairs)]

    def agreement(self) -> Summary:
        """See :meth:`annomodels.Fit.agreement`."""
        found: Summary = self._once(self.fit.agreement, "agreement")
        return found

    def predictive(self) -> Summary:
        """See :meth:`annomodels.Fit.predictive`."""
        return self._aspects()[0]

    def prior_sensitivity(self) -> Summary:
        """See :meth:`annomodels.Fit.prior_sensitivity`."""
        found: Summary = self._once(self.fit.prior_sensitivity, "prior sensitivity")
        return found

    def check(self) -> Check:
        """See :meth:`annomodels.Fit.check`."""
        from annomodels.summaries.checks import check

        found: Check = self._once(
            lambda: check(self.fit.tree, self.fit.data, self._aspects()[1]), "check"
        )
        return found

    def wrong(self) -> Wrong:
        """See :func:`annomodels.reporting.wrong.wrong_labels`."""
        from annomodels.reporting.wrong import wrong_labels

        found: Wrong = self._once(lambda: wrong_labels(self.fit), "wrong")
        return found

    def _aspects(self) -> tuple[Summary, list[Aspect]]:
        from annomodels.summaries.predictive import aspects

        found: tuple[Summary, list[Aspect]] = self._once(
            lambda: aspects(self.fit.tree, self.fit.data), "predictive"
        )
        return found
