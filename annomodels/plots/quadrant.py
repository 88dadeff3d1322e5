"""Items by what coders say about them and what the model still doubts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.plots import style
from annomodels.plots.bubbles import draw_bubbles
from annomodels.plots.sources import summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["quadrant"]


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
