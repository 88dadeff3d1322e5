"""Items of a scheme with three labels as points of a triangle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.errors import NotApplicable
from annomodels.plots import style
from annomodels.plots.quadrant import draw_bubbles
from annomodels.plots.style import summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = math.sqrt(3) / 2
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, _HEIGHT]])


def simplex(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the probabilities of three labels as points of a triangle.

    Parameters
    ----------
    source
        A fit or its ``items()`` summary.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        Certain items lie in the corners, items between two labels on an edge, items about which
        nothing is known in the middle; larger bubbles hold more items.

    Raises
    ------
    NotApplicable
        When there are not exactly three labels.
    """
    summary = summary_of(source, "items")
    p = np.asarray(summary.draws["p_truth"].values, dtype=float)
    if p.shape[1] != 3:
        raise NotApplicable(
            f"The simplex plot is for 3 labels, and these data have {p.shape[1]}. "
            "Use the quadrant plot."
        )
    names = [str(name) for name in summary.draws["truth"].values]
    at = p @ _CORNERS
    made, ax = style.canvas(3.7, ax)
    _triangle(ax, names)
    for name, (colour, marker) in style.QUADRANTS.items():
        part = (summary.table["quadrant"] == name).to_numpy()
        if part.any():
            draw_bubbles(
                ax,
                at[part, 0],
                at[part, 1],
                step=0.02,
                colour=colour,
                marker=marker,
                label=f"{name} ({int(part.sum()):,})",
            )
    ax.set_aspect("equal")
    ax.set_xlim(-0.15, 1.15)
    ax.set_ylim(-0.14, _HEIGHT + 0.12)
    style.axes_style(ax, grid="")
    ax.set_xticks([])
    ax.set_yticks([])
    style.legend(ax)
    return made


def _triangle(ax: Axes, names: list[str]) -> None:
    closed = np.vstack([_CORNERS, _CORNERS[:1]])
    ax.plot(closed[:, 0], closed[:, 1], color=style.GREY, linewidth=1.0, zorder=1)
    middle = _CORNERS.mean(axis=0)
    for corner in range(3):
        edge = (_CORNERS[corner] + _CORNERS[corner - 1]) / 2
        ax.plot(*np.column_stack([middle, edge]), color=style.LINE, linewidth=0.8, zorder=1)
    places = (("center", "top", -0.05), ("center", "top", -0.05), ("center", "bottom", 0.05))
    for (x, y), name, (ha, va, off) in zip(_CORNERS, names, places, strict=True):
        text = style.mathless(style.short(name, 20))
        ax.text(x, y + off, text, ha=ha, va=va, fontsize=9.5, color=style.INK)
