"""Points that lie on each other as one bubble, so that a million items make a small drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bubbles", "draw_bubbles"]

Floats = NDArray[np.float64]

_MOST = 400


def bubbles(x: Floats, y: Floats, step: float) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Grid points near the given points, and how many points are near each.

    Parameters
    ----------
    x, y
        Positions, shape [point].
    step
        Distance of the grid points.

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
