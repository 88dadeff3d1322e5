"""What was observed against what the fitted model would produce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.plots import style
from annomodels.plots.style import summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 24


def predictive_votes(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the posterior predictive checks: each observation beside its expected range.

    Every row is put on its own scale, in units of half the width of its 95 % range, so that
    counts of votes and shares of agreement can stand in one figure.

    Parameters
    ----------
    source
        A fit or its ``predictive()`` summary.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        The band is where the model expects 95 % of replicated data; orange marks are rejected by
        the check, whose p-value the table holds.
        Marks farther than four half-widths away are drawn at the edge as arrows.
    """
    table = summary_of(source, "predictive").table.head(_MOST)
    low, high = (table[name].to_numpy(dtype=float) for name in ("low", "high"))
    seen = table["observed"].to_numpy(dtype=float)
    half = np.where(high > low, (high - low) / 2, np.nan)
    away = (seen - (low + high) / 2) / half
    edge = 4.0
    rows = np.arange(len(table))
    made, ax = style.canvas(0.75 + 0.24 * max(len(table), 2), ax)
    ax.axvspan(-1, 1, color=style.LINE, alpha=0.55, linewidth=0, zorder=0)
    ax.axvline(0, color=style.GREY, linewidth=1, zorder=1)
    known = np.isfinite(away)
    fits = (table["verdict"] == "fits").to_numpy()
    for chosen, colour, marker, label in (
        (fits, style.BLUE, "o", "as expected"),
        (~fits, style.ORANGE, "D", "not as expected"),
    ):
        near = known & chosen & (np.abs(away) <= edge)
        if chosen.any():
            ax.plot(away[near], rows[near], marker, color=colour, markersize=5, label=label)
        for sign, arrow in ((-1, "<"), (1, ">")):
            far = known & chosen & (sign * away > edge)
            at = np.full(int(far.sum()), sign * edge)
            ax.plot(at, rows[far], arrow, color=colour, markersize=6.5)
    ax.set_yticks(rows, [style.mathless(style.short(t, 40)) for t in table["statistic"]])
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.set_xlim(-edge - 0.3, edge + 0.3)
    ax.set_xticks([-4, -1, 0, 1, 4], ["far less", "", "expected", "", "far more"])
    style.axes_style(ax, grid="y")
    style.legend(ax)
    return made
