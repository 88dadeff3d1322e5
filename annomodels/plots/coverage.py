"""Accuracy against coverage: what a gold standard of the surest items is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKED = (0.8, 0.95, 0.99)
_NEAR = 0.13  # share of the width below which texts of marks overlap


def coverage(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the expected accuracy of the gold labels when only the surest items are kept.

    Parameters
    ----------
    source
        A fit or its coverage summary, :func:`annomodels.summaries.trust.coverage.coverage`.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        Share of the items kept to the right, expected accuracy with a 95 % band upwards; marks
        where the probability of the label falls below .99, .95 and .8.
    """
    if not hasattr(source, "table"):
        from annomodels.summaries.trust.coverage import coverage as summary

        source = summary(source.tree, source.data)
    curve, table = source.draws, source.table
    kept = np.asarray(curve["kept"].values, dtype=float)
    share = kept / max(float(kept.max(initial=1.0)), 1.0)
    accuracy, low, high = (
        np.asarray(curve[name].values, dtype=float) for name in ("accuracy", "low", "high")
    )
    made, ax = style.canvas(2.9, ax)
    if np.isfinite(low).any():
        ax.fill_between(share, low, high, color=style.BLUE, alpha=0.18, linewidth=0)
    ax.plot(share, accuracy, color=style.BLUE, linewidth=2, zorder=3)
    marked = table[table["threshold"].isin(_MARKED) & (table["kept"] > 0)]
    before, lower = np.inf, 0
    for row in marked.drop_duplicates("kept", keep="last").sort_values("share").itertuples():
        ax.plot(row.share, row.accuracy, "o", color=style.BLUE, markersize=5.5, zorder=4)
        text = f"≥ {row.threshold:g}"
        look: dict[str, Any] = {"fontsize": 8, "color": style.MUTED, "ha": "right", "va": "top"}
        lower = lower + 1 if abs(row.share - before) < _NEAR else 0  # else the texts would overlap
        before, away = row.share, (-3, -5 - 11 * lower)
        ax.annotate(text, (row.share, row.accuracy), away, textcoords="offset points", **look)
    ends = np.concatenate([accuracy, low[np.isfinite(low)]])
    ax.set_ylim(min(0.9, float(ends.min(initial=0.9))) - 0.02, 1.01)
    ax.set_xlim(-0.02, 1.03)
    ax.set_xlabel("share of the items that is kept, the surest first")
    ax.set_ylabel("expected accuracy of their gold labels")
    style.axes_style(ax, grid="both", frame=True)
    return made
