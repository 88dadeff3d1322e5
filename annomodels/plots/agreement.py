"""Forest of the agreement coefficients, as observed and as the fitted model implies them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.plots import style
from annomodels.plots.style import summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_THRESHOLDS = ((0.667, ".667"), (0.8, ".8"))


def agreement_forest(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw each coefficient with its 95 % intervals: observed and, for a fit, model-implied.

    Parameters
    ----------
    source
        A fit, its ``agreement()`` summary, or the panel of :func:`annomodels.agreement`.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        One row per coefficient; dotted lines stand at the thresholds .667 and .8.
    """
    table = summary_of(source, "agreement").table
    n = len(table)
    made, ax = style.canvas(0.75 + 0.36 * max(n, 1), ax)
    rows = np.arange(n, dtype=float)
    implied = "model" in table and bool(np.isfinite(table["model"].astype(float)).any())
    shift = 0.14 if implied else 0.0
    _row(ax, table, rows - shift, ("value", "low", "high"), style.BLUE, "o", "observed")
    if implied:
        columns = ("model", "model_low", "model_high")
        _row(ax, table, rows + shift, columns, style.PURPLE, "s", "implied by the model")
    for at, value in enumerate(table["value"].astype(float)):
        if not np.isfinite(value):
            ax.text(0.02, at - shift, "not defined", va="center", color=style.MUTED, fontsize=8)
    for threshold, name in _THRESHOLDS:
        ax.axvline(threshold, color=style.GREY, linewidth=1, linestyle=(0, (1, 2)), zorder=1)
        ax.annotate(
            name,
            (threshold, 0),
            xycoords=("data", "axes fraction"),
            xytext=(2, 3),
            textcoords="offset points",
            fontsize=7.5,
            color=style.MUTED,
        )
    lows = table[[c for c in ("value", "low", "model_low") if c in table]].to_numpy(dtype=float)
    lowest = float(np.nanmin(lows)) if np.isfinite(lows).any() else 0.0
    ax.set_xlim(min(0.0, lowest) - 0.03, 1.03)
    ax.set_ylim(n - 0.4, -0.6)
    titles = table["title" if "title" in table else "coefficient"]
    ax.set_yticks(rows, [style.mathless(style.short(title, 26)) for title in titles])
    ax.set_xlabel("agreement coefficient, 95 % interval")
    style.axes_style(ax)
    style.legend(ax)
    return made


def _row(
    ax: Axes,
    table: Any,
    rows: Any,
    columns: tuple[str, str, str],
    colour: str,
    marker: str,
    label: str,
) -> None:
    middle, low, high = (table[name].to_numpy(dtype=float) for name in columns)
    known = np.isfinite(low) & np.isfinite(high)
    ax.hlines(rows[known], low[known], high[known], color=colour, linewidth=1.6, zorder=2)
    ax.plot(middle, rows, marker, color=colour, markersize=5, label=label, zorder=3)
