"""How right the gold standard is expected to be when only its surest labels are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.summaries.draws import choices, interval, thinned, truth_probabilities
from annomodels.summaries.summary import Summary
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    import xarray as xr

THRESHOLDS = (0.5, 0.8, 0.9, 0.95, 0.99)
_DRAWS = 400
_CELLS = 20_000_000  # items x classes x draws to look at: about a second
_GRID = 200  # points of the curve


def coverage(tree: xr.DataTree, data: Annotations) -> Summary:
    r"""Trade the share of items that are kept for the expected accuracy of their gold labels.

    Items are sorted by :math:`p_i = \max_k P(t_i = k \mid y)`, the surest first. Of the
    n first ones,

    .. math:: E[\text{accuracy}] = \frac{1}{n} \sum_{i \le n} p_i .

    The intervals are of the number of right labels among replicated truths, one set of truths for
    each posterior draw. Items of known gold are left out.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.

    Returns
    -------
    Summary
        One row for each of the thresholds .5, .8, .9, .95, .99, and 0 for all items: threshold,
        kept (number of items with that probability or more), share (of the items), accuracy with
        interval (NaN where nothing is kept), wrong (expected number of wrong labels among them).
        Draws: the curve at no more than 200 points: kept, accuracy, low, high, probability (of the
        least sure item that is kept).

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> coverage(*small_fit()).table[["threshold", "kept", "accuracy"]].round(3).head(3)
       threshold  kept  accuracy
    0        0.0     2     0.984
    1        0.5     2     0.984
    2        0.8     2     0.984
    """
    import pandas as pd
    import xarray as xr

    p = np.asarray(tree["truth"]["p_truth"].values, dtype=float)
    unknown = np.ones(data.n_items, bool) if data.gold is None else data.gold < 0
    sure = p.max(axis=1)
    order = np.flatnonzero(unknown)
    order = order[np.argsort(-sure[order], kind="stable")]
    surest = sure[order]
    limits = (0.0, *THRESHOLDS)
    kept = np.array([int((surest >= limit).sum()) for limit in limits])
    points = np.unique(np.linspace(1, max(len(order), 1), _GRID).round().astype(np.int64))
    points = points[points <= len(order)]
    low, high = _intervals(tree, data, p, order, np.concatenate([kept, points]))
    expected = np.concatenate([[0.0], surest.cumsum()])
    some = kept > 0
    accuracy = np.divide(expected[kept], kept, out=np.full(len(kept), np.nan), where=some)
    table = pd.DataFrame(
        {
            "threshold": limits,
            "kept": kept,
            "share": kept / max(len(order), 1),
            "accuracy": accuracy,
            "accuracy_low": low[: len(kept)],
            "accuracy_high": high[: len(kept)],
            "wrong": kept - expected[kept],
        }
    )
    curve = xr.Dataset(
        {
            "kept": ("point", points),
            "accuracy": ("point", expected[points] / points),
            "low": ("point", low[len(kept) :]),
            "high": ("point", high[len(kept) :]),
            "probability": ("point", surest[points - 1]),
        }
    )
    return Summary("Accuracy and coverage of the gold standard", table, curve, _notes(data, order))


def _intervals(
    tree: xr.DataTree, data: Annotations, p: Floats, order: Ints, kept: Ints
) -> tuple[Floats, Floats]:
    """95 % intervals of the accuracy of the `kept` surest items; NaN with one draw only."""
    most = max(40, min(_DRAWS, _CELLS // max(p.size, 1)))
    draws = thinned(tree, data, most)
    missing = np.full(len(kept), np.nan)
    if len(draws) < 2:
        return missing, missing.copy()
    best = p.argmax(axis=1)
    rng = np.random.default_rng(0)
    right = np.zeros((len(draws), len(order) + 1))
    for s, shares in truth_probabilities(draws, data):
        truth = choices(shares, rng.random(len(shares)))
        right[s, 1:] = (truth == best)[order].cumsum()
    found = np.full((len(draws), len(kept)), np.nan)
    np.divide(right[:, kept], kept, out=found, where=kept > 0)
    low, high = missing.copy(), missing.copy()
    low[kept > 0], high[kept > 0] = interval(found[:, kept > 0])
    return low, high


def _notes(data: Annotations, order: Ints) -> tuple[str, ...]:
    if len(order) == data.n_items:
        return ()
    known = data.n_items - len(order)
    return (f"{known:,} items whose truth is known are left out.",)
