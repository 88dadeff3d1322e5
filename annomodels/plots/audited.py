"""What audited items and the model say together, beside each of them alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.names import label_text
from annomodels.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_JUDGED = 8  # labels
_WAYS = (
    ("value", "low", "high", style.BLUE, "o", "audit and model"),  # or the model, made cautious
    ("audit", "audit_low", "audit_high", style.GREEN, "D", "audit alone"),
    ("model", "model_low", "model_high", style.PURPLE, "s", "model alone"),
)


def audited(found: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the accuracy of the gold labels and the share of each label, as known in three ways.

    Parameters
    ----------
    found
        What :func:`annomodels.estimate` gave.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        Three 95 % intervals in each row: of audit and model, of the audit alone, of the model
        alone; of more than 8 labels the most frequent ones.
    """
    shares = found.table[found.table["quantity"].isin(["accuracy", "prevalence"])]
    of_labels = shares[shares["quantity"] == "prevalence"].nlargest(_MOST_JUDGED, "value").index
    table = shares[(shares["quantity"] == "accuracy") | shares.index.isin(of_labels)]
    rows = np.arange(len(table), dtype=float)
    made, ax = style.canvas(0.85 + 0.42 * len(table), ax)
    for at, (value, low, high, colour, marker, name) in enumerate(_WAYS):
        y = rows + 0.2 * (at - 1)
        middle, left, right = (table[n].to_numpy(dtype=float) for n in (value, low, high))
        if not np.isfinite(middle).any():
            continue
        if value == "value" and not found.by_design:
            name = "model, made cautious"
        known = np.isfinite(left) & np.isfinite(right)
        ax.hlines(y[known], left[known], right[known], color=colour, linewidth=1.6, zorder=2)
        ax.plot(middle, y, marker, color=colour, markersize=4.5, label=name, zorder=3)
    names = [
        "gold labels right" if quantity == "accuracy" else style.short(label_text(label))
        for quantity, label in zip(table["quantity"], table["label"], strict=True)
    ]
    ax.set_yticks(rows, [style.mathless(name) for name in names])
    ax.set_ylim(len(table) - 0.5, -0.6)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("share of the items, 95 % interval")
    style.axes_style(ax)
    style.legend(ax, 3)
    return made
