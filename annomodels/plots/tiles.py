"""A matrix as tiles, readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["tiles"]

_MOST_NUMBERS = 12
_MOST_NAMES = 60


def tiles(
    ax: Axes, values: NDArray[np.float64], rows: Sequence[str], columns: Sequence[str]
) -> None:
    """Draw a matrix of values in -1..1 as tiles: blue above zero, orange below, NaN empty.

    Parameters
    ----------
    ax
        Where to draw.
    values
        The matrix, shape [row, column].
    rows, columns
        Names of its rows and columns.
    """
    from matplotlib.colors import to_rgb

    known = np.isfinite(values)
    strength = np.where(known, np.abs(np.clip(values, -1, 1)), 0.0)
    pixels = np.empty((*values.shape, 4))
    pixels[...] = (*to_rgb(style.BLUE), 1.0)
    pixels[np.where(known, values, 0.0) < 0, :3] = to_rgb(style.ORANGE)
    # Tiles stay half transparent at most, so that ink is readable on them in both themes.
    pixels[..., 3] = np.where(known, 0.04 + 0.5 * strength, 0.0)
    ax.imshow(pixels, interpolation="none", aspect="auto")
    small = 8.5 if len(rows) <= 8 else 7.0
    if max(values.shape) <= _MOST_NUMBERS:
        for (r, c), value in np.ndenumerate(values):
            text = f"{value:.2f}".replace("0.", ".") if np.isfinite(value) else "–"
            ax.text(c, r, text, ha="center", va="center", fontsize=small, color=style.INK)
    # About sixty small digits fit side by side below the tiles.
    wide = sum(len(style.short(name, 12)) + 1 for name in columns) > 60
    named = max(values.shape) <= _MOST_NAMES
    ax.set_xticks(
        np.arange(len(columns)) if named else [],
        [style.mathless(style.short(name, 12)) for name in columns] if named else [],
        rotation=90 if wide else 0,
    )
    ax.set_yticks(
        np.arange(len(rows)) if named else [],
        [style.mathless(style.short(name, 16)) for name in rows] if named else [],
    )
    style.axes_style(ax, grid="")
    ax.tick_params(labelsize=small, labelcolor=style.INK)
