"""How frequent each label is: as coders said, and as the model corrects it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.names import label_text
from annomodels.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from annomodels.types import Ints

_MOST_LABELS = 30


def prevalence(fit: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the share of each label among all labels given, and the prevalence of the truth.

    Parameters
    ----------
    fit
        A fit.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        One row per label, with 50 % and 95 % intervals of the prevalence; of more than 30 labels
        the most frequent ones.
    """
    draws = np.asarray(fit.tree["posterior"]["prevalence"].values, dtype=float)
    draws = draws.reshape(-1, draws.shape[-1])
    raw = _label_counts(fit.data) / max(len(fit.data), 1)
    labels = [label_text(name) for name in fit.data.labels]
    shown = np.arange(len(labels))
    if len(labels) > _MOST_LABELS:
        shown = np.sort(np.argsort(-np.maximum(raw, draws.mean(axis=0)))[:_MOST_LABELS])
    rows = np.arange(len(shown))
    low, q1, middle, q3, high = np.quantile(
        draws[:, shown], [0.025, 0.25, 0.5, 0.75, 0.975], axis=0
    )
    made, ax = style.canvas(0.85 + 0.26 * len(shown), ax)
    if len(draws) > 1:
        ax.hlines(rows, low, high, color=style.BLUE, linewidth=1.1, zorder=2)
        ax.hlines(rows, q1, q3, color=style.BLUE, linewidth=3.0, zorder=2)
    ax.plot(middle, rows, "o", color=style.BLUE, markersize=5, label="corrected", zorder=3)
    ax.plot(
        raw[shown],
        rows,
        "D",
        markerfacecolor="none",
        markeredgecolor=style.MUTED,
        markersize=5.5,
        label="as labelled",
        zorder=3,
    )
    ax.set_yticks(rows, [style.mathless(style.short(labels[k])) for k in shown])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlim(-0.01, 1.08 * max(float(high.max()), float(raw.max()), 0.05))
    ax.set_xlabel("share of the items")
    style.axes_style(ax)
    style.legend(ax)
    return made


def _label_counts(data: Any) -> Ints:
    """How often each label was given, in memory or in a scan, shape [label]."""
    counted: Ints | None = getattr(data, "per_label", None)
    return np.bincount(data.label, minlength=data.n_labels) if counted is None else counted
