"""Everything the page on a streamed fit shows, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.fitting.fit import Fit
from annomodels.reporting.collect import Known
from annomodels.reporting.health import FEW, Counts, Spread
from annomodels.scale.tally import Tally, tally
from annomodels.summaries.summary import Summary

__all__ = ["StreamData", "collect", "spread_of"]


@dataclass(frozen=True, eq=False)
class StreamData(Known):
    """What is known of a streamed fit.

    Parameters
    ----------
    fit, target, check, health, coders, coverage
        As of :class:`annomodels.reporting.collect.Known`.
    prevalence
        Share of each label among the truths.
    tally
        Counts of the gold standard.
    """

    fit: Fit
    prevalence: Summary
    tally: Tally

    @property
    def settled(self) -> int:
        """Number of items with a settled label."""
        return self.tally.settled

    @property
    def unsettled(self) -> int:
        """Number of items without one."""
        return int(self.fit.data.n_items - self.tally.settled)


def collect(fit: Any, target: float | None = None) -> StreamData:
    """Compute each summary of a streamed fit once.

    Parameters
    ----------
    fit
        A fit of a scan.
    target
        Accuracy asked of the coders.
    """
    import xarray as xr

    counted = tally(fit)
    return StreamData(
        fit=fit,
        target=target,
        check=fit.check(),
        health=_counts(fit, counted),
        coders=fit.coders(target),
        coverage=Summary("What a threshold keeps", counted.thresholds, xr.Dataset()),
        prevalence=fit.prevalence(),
        tally=counted,
    )


def _counts(fit: Fit, counted: Tally) -> Counts:
    data = fit.data
    return Counts(
        per_item=spread_of(counted.per_item),
        per_coder=Spread.of(data.per_coder),
        label_counts=tuple(int(n) for n in data.per_label),
        unused=tuple(data.labels[k] for k in np.flatnonzero(data.per_label == 0)),
        repeats=data.repeats,
        skips=data.skips,
        few=tuple(data.coders[j] for j in np.flatnonzero(data.per_coder < FEW)),
        single=int(counted.per_item[1]),
    )


def spread_of(items: NDArray[np.int64]) -> Spread:
    """Summarise counts of which is known how many are 0, 1, 2, ...

    Parameters
    ----------
    items
        How many items have that many labels, shape [number of labels].

    Examples
    --------
    >>> counts = np.array([1, 2, 2, 3, 7])
    >>> spread_of(np.bincount(counts)) == Spread.of(counts)
    True
    """
    ends = np.cumsum(items)
    n, values = int(ends[-1]), np.arange(len(items))

    def at(share: float) -> float:
        place = share * (n - 1)
        low, high = (
            int(np.searchsorted(ends, end, side="right"))
            for end in (np.floor(place), np.ceil(place))
        )
        return float(low + (place - np.floor(place)) * (high - low))

    used = np.flatnonzero(items)
    mean = float(items @ values / n)
    return Spread(int(used[0]), at(0.25), at(0.5), at(0.75), int(used[-1]), mean)
