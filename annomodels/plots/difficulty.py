"""Items by their difficulty, for models that know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.errors import NotApplicable
from annomodels.plots import style
from annomodels.plots.style import summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMED = 40
_MOST = 300  # items drawn at most, evenly spaced by rank


def difficulty(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the items ordered by difficulty, the hardest on top, with intervals.

    Parameters
    ----------
    source
        A fit of a model with difficulties, such as "scalar-difficulty", or its ``items()`` summary.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior mean and 1.96 posterior standard deviations to either side. Up to 40 items are
        named; of more than 300, that many are drawn, evenly spaced from the hardest to the
        easiest.

    Raises
    ------
    NotApplicable
        When the model knows no difficulty of items.
    """
    table = summary_of(source, "items").table
    if "difficulty" not in table:
        raise NotApplicable(
            "This model has no difficulty of items. Fit one that has, such as "
            'am.fit(data, "scalar-difficulty").'
        )
    table = table.sort_values("difficulty", ascending=False, kind="stable")
    n = len(table)
    if n > _MOST:
        table = table.iloc[np.linspace(0, n - 1, _MOST).round().astype(int)]
    mean = table["difficulty"].to_numpy(dtype=float)
    spread = 1.96 * table["difficulty_sd"].to_numpy(dtype=float)
    rank = np.linspace(0, n - 1, len(table))
    named = n <= _NAMED
    made, ax = style.canvas(0.85 + 0.2 * max(n, 2) if named else 3.6, ax)
    ax.axvline(0.0, color=style.GREY, linewidth=1.2, zorder=1)
    for name, (colour, marker) in style.QUADRANTS.items():
        at = np.flatnonzero((table["quadrant"] == name).to_numpy())
        if len(at):
            low, high = mean[at] - spread[at], mean[at] + spread[at]
            width = 1.1 if named else 0.6
            ax.hlines(rank[at], low, high, color=colour, linewidth=width, alpha=0.75, zorder=2)
            look: dict[str, Any] = {"color": colour, "markersize": 5 if named else 2.6}
            ax.plot(mean[at], rank[at], marker, label=name, zorder=3, **look)
    if named:
        ax.set_yticks(rank, [style.mathless(style.short(item)) for item in table["item"]])
    else:
        ax.set_ylabel(f"{n:,} items, the hardest on top")
        ax.set_yticks([])
    ax.set_ylim(n - 0.4 + 0.01 * n, -0.6 - 0.01 * n)
    ax.set_xlabel("difficulty of the item (0 = as hard as most)")
    style.axes_style(ax)
    style.legend(ax)
    return made
