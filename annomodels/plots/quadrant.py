"""Items by what coders say about them and what the model still doubts; points as bubbles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.plots import style
from annomodels.plots.style import summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from annomodels.types import Floats, Ints

_MOST = 400  # bubbles


def quadrant(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the items by disagreement of their coders and doubt about their label.

    Parameters
    ----------
    source
        A fit or its ``items()`` summary.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        Disagreement (share of disagreeing pairs of labels) to the right, entropy of the truth in
        bits upwards; larger bubbles hold more items. Items with one label stand at zero
        disagreement.
    """
    table = summary_of(source, "items").table
    x = np.nan_to_num(table["disagreement"].to_numpy(dtype=float))
    y = np.nan_to_num(table["entropy"].to_numpy(dtype=float))
    made, ax = style.canvas(3.5, ax)
    for name, (colour, marker) in style.QUADRANTS.items():
        at = (table["quadrant"] == name).to_numpy()
        if at.any():
            label = f"{name} ({int(at.sum()):,})"
            draw_bubbles(ax, x[at], y[at], step=0.02, colour=colour, marker=marker, label=label)
    ax.set_xlim(-0.04, max(1.0, float(x.max(initial=0.0))) * 1.04)
    ax.set_ylim(-0.05, max(1.0, float(y.max(initial=0.0))) * 1.06)
    ax.set_xlabel("disagreement of the coders (share of pairs of labels)")
    ax.set_ylabel("doubt about the label (entropy, bits)")
    style.axes_style(ax, grid="both", frame=True)
    style.legend(ax)
    return made


def bubbles(x: Floats, y: Floats, step: float) -> tuple[Floats, Floats, Ints]:
    """Grid points near the given points, and how many points are near each.

    Examples
    --------
    >>> x, y, count = bubbles(np.array([0.0, 0.01, 1.0]), np.zeros(3), 0.1)
    >>> x.tolist(), count.tolist()
    ([0.0, 1.0], [2, 1])
    """
    if not len(x):
        return x, y, np.zeros(0, dtype=np.int64)
    grid = np.round(np.column_stack([x, y]) / step)
    points, count = np.unique(grid, axis=0, return_counts=True)
    return points[:, 0] * step, points[:, 1] * step, count


def draw_bubbles(
    ax: Axes, x: Floats, y: Floats, *, step: float, colour: str, marker: str, label: str
) -> None:
    """Draw points as bubbles whose area grows with the number of points.

    Parameters
    ----------
    ax
        Where to draw.
    x, y
        Positions, shape [point].
    step
        Distance of the grid that gathers points; widened until a few hundred bubbles are left.
    colour, marker, label
        As for ``Axes.scatter``.
    """
    px, py, count = bubbles(x, y, step)
    while len(px) > _MOST:
        step *= 1.5
        px, py, count = bubbles(x, y, step)
    sizes = np.round(np.minimum(14.0 * np.sqrt(count), 320.0))
    # One collection per size keeps the marker a shared symbol of the SVG.
    ax.scatter([], [], s=26, c=colour, marker=marker, label=label)
    for size in np.unique(sizes):
        at = sizes == size
        ax.scatter(
            px[at], py[at], s=size, c=colour, marker=marker, alpha=0.62, linewidths=0, zorder=3
        )
