"""Items by their true value, where labels are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.errors import NotApplicable
from annomodels.plots import style
from annomodels.plots.style import summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMED = 40  # items up to which each is named
_MOST = 300  # items drawn at most, evenly spaced by rank


def values(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the true values of the items with their 95 % intervals, the largest on top.

    Parameters
    ----------
    source
        A fit of labels that are numbers, or its ``gold()`` summary.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        Dots are true values, grey marks the mean of the labels. Up to 40 items are named; of more
        than 300, that many are drawn, evenly spaced from the largest to the smallest.

    Raises
    ------
    NotApplicable
        When the items have classes and no values.
    """
    table = summary_of(source, "gold").table
    if "value" not in table:
        raise NotApplicable("The items of this fit have classes and no true values.")
    table = table.sort_values("value", ascending=False, kind="stable")
    n = len(table)
    if n > _MOST:
        table = table.iloc[np.linspace(0, n - 1, _MOST).round().astype(int)]
    rank = np.linspace(0, n - 1, len(table))
    named = n <= _NAMED
    made, ax = style.canvas(0.85 + 0.2 * max(n, 2) if named else 3.6, ax)
    columns = ("value", "low", "high", "mean")
    middle, low, high, mean = (table[name].to_numpy(dtype=float) for name in columns)
    size = 5.0 if named else 2.6
    ax.plot(
        mean,
        rank,
        "|",
        color=style.GREY,
        markersize=1.6 * size,
        label="mean of the labels",
        zorder=1,
    )
    ax.hlines(rank, low, high, color=style.BLUE, linewidth=1.1 if named else 0.6, zorder=2)
    ax.plot(middle, rank, "o", color=style.BLUE, markersize=size, label="true value", zorder=3)
    if named:
        ax.set_yticks(rank, [style.mathless(style.short(item)) for item in table["item"]])
    else:
        ax.set_ylabel(f"{n:,} items, the largest on top")
        ax.set_yticks([])
    ax.set_ylim(n - 0.4 + 0.01 * n, -0.6 - 0.01 * n)
    ax.set_xlabel("true value, 95 % interval")
    style.axes_style(ax)
    style.legend(ax)
    return made
