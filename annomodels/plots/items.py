"""Plots of items: prevalence, disagreement and uncertainty, difficulty, true values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from annomodels.data.columns import short
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable
from annomodels.plots import style
from annomodels.plots.style import summary_of
from annomodels.summaries.draws import flat
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MOST_LABELS = 30
_NAMED = 40  # items up to which each is named
_MOST = 300  # items drawn at most, evenly spaced by rank
_MOST_BUBBLES = 400


def prevalence(fit: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the share of each label among all labels given, and the prevalence of the truth.

    Returns
    -------
    matplotlib.figure.Figure
        One row per label, with 50 % and 95 % intervals of the prevalence; with more than 30 labels,
        only the most frequent.
    """
    draws, data = flat(fit.tree, "prevalence"), fit.data
    counts = data.per_label if hasattr(data, "per_label") else data.votes.sum(axis=0)
    raw = counts / max(len(data), 1)
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
        ax.hlines(rows, q1, q3, color=style.BLUE, linewidth=3.0, zorder=2)
    ends = (middle, low, high)
    style.intervals(ax, rows, ends, style.BLUE, "o", "corrected", width=1.1)
    look: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": style.MUTED}
    ax.plot(
        raw[shown], rows, "D", markersize=5.5, label="as labeled", zorder=3, clip_on=False, **look
    )
    style.rows(ax, (labels[k] for k in shown))
    ax.set_xlim(0, 1.08 * max(float(high.max()), float(raw.max()), 0.05))
    some = style.left_out(len(shown), len(labels), "most frequent", "labels")
    ax.set_xlabel(f"share of the items{some}")
    return style.finished(made, ax)


def doubt(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the items by disagreement of their coders and doubt about their label.

    Returns
    -------
    matplotlib.figure.Figure
        Disagreement (share of disagreeing pairs of labels) to the right, entropy of the truth in
        bits upwards; larger bubbles are more items. Items with one label are at zero disagreement.
    """
    table = summary_of(source, "items").table
    x = np.nan_to_num(table["disagreement"].to_numpy(dtype=float))
    y = np.nan_to_num(table["doubt"].to_numpy(dtype=float))
    made, ax = style.canvas(3.5, ax)
    _by_state(ax, table, x, y)
    ax.set_xlim(-0.04, max(1.0, float(x.max(initial=0.0))) * 1.04)
    ax.set_ylim(-0.05, max(1.0, float(y.max(initial=0.0))) * 1.06)
    ax.set_xlabel("disagreement of the coders (share of pairs of labels)")
    ax.set_ylabel("doubt about the label (entropy, bits)")
    return style.finished(made, ax, grid="both", frame=True)


def bubbles(x: Floats, y: Floats, step: float) -> tuple[Floats, Floats, Ints]:
    """Return the grid points nearest to the points, and the count of each."""
    grid = np.round(np.column_stack([x, y]) / step)
    points, count = np.unique(grid, axis=0, return_counts=True)
    return points[:, 0] * step, points[:, 1] * step, count


def _by_state(ax: Axes, table: pd.DataFrame, x: Floats, y: Floats) -> None:
    for name, (colour, marker) in style.STATES.items():
        at = (table["state"] == name).to_numpy()
        if at.any():
            draw_bubbles(ax, x[at], y[at], colour, marker, f"{name} ({int(at.sum()):,})")


def draw_bubbles(ax: Axes, x: Floats, y: Floats, colour: str, marker: str, label: str) -> None:
    """Draw points as bubbles whose area grows with the number of points."""
    step = 0.02
    px, py, count = bubbles(x, y, step)
    while len(px) > _MOST_BUBBLES:
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


_HEIGHT = math.sqrt(3) / 2
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, _HEIGHT]])


def simplex(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the probabilities of three labels as points of a triangle.

    Returns
    -------
    matplotlib.figure.Figure
        Certain items are in the corners, items between two labels on an edge, items without
        information in the middle; larger bubbles are more items.
    """
    summary = summary_of(source, "items")
    p = np.asarray(summary.draws["p_truth"].values, dtype=float)
    if p.shape[1] != 3:
        raise NotApplicable(
            f"The simplex plot is for 3 labels, and these data have {p.shape[1]}. "
            "Use the doubt plot."
        )
    names = [str(name) for name in summary.draws["truth"].values]
    at = p @ _CORNERS
    made, ax = style.canvas(3.7, ax)
    _triangle(ax, names)
    _by_state(ax, summary.table, *at.T)
    ax.set_aspect("equal")
    ax.set_xlim(-0.15, 1.15)
    ax.set_ylim(-0.14, _HEIGHT + 0.12)
    ax.set_xticks([])
    ax.set_yticks([])
    return style.finished(made, ax, grid="")


def _triangle(ax: Axes, names: list[str]) -> None:
    closed = np.vstack([_CORNERS, _CORNERS[:1]])
    ax.plot(closed[:, 0], closed[:, 1], color=style.GREY, linewidth=1.0, zorder=1)
    middle = _CORNERS.mean(axis=0)
    for corner in range(3):
        edge = (_CORNERS[corner] + _CORNERS[corner - 1]) / 2
        ax.plot(*np.column_stack([middle, edge]), color=style.LINE, linewidth=0.8, zorder=1)
    places = (("center", "top", -0.05), ("center", "top", -0.05), ("center", "bottom", 0.05))
    for (x, y), name, (ha, va, off) in zip(_CORNERS, names, places, strict=True):
        text = style.mathless(short(name, 20))
        ax.text(x, y + off, text, ha=ha, va=va, fontsize=9.5, color=style.INK)


def difficulty(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the items ordered by difficulty, the hardest on top, with intervals.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior mean and 1.96 posterior standard deviations to either side. Up to 40 items are
        named. Of more than 300 items, 300 are drawn, evenly spaced from the hardest to the easiest.
    """
    table = summary_of(source, "items").table
    if "difficulty" not in table:
        raise NotApplicable(
            "This model has no difficulty of items. Fit one that has, such as "
            'am.fit(data, "scalar-difficulty").'
        )
    made, ax, table, rank, named = _ranked(table, "difficulty", "the hardest", ax)
    mean = table["difficulty"].to_numpy(dtype=float)
    spread = 1.96 * table["difficulty_sd"].to_numpy(dtype=float)
    ax.axvline(0.0, color=style.GREY, linewidth=1.2, zorder=1)
    for name, (colour, marker) in style.STATES.items():
        at = np.flatnonzero((table["state"] == name).to_numpy())
        if len(at):
            ends = (mean[at], mean[at] - spread[at], mean[at] + spread[at])
            style.intervals(ax, rank[at], ends, colour, marker, name, alpha=0.75, **_size(named))
    ax.set_xlabel("difficulty of the item (0 = typical)")
    return style.finished(made, ax)


def values(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the true values of the items with their 95 % intervals, the largest on top.

    Returns
    -------
    matplotlib.figure.Figure
        Dots are true values, gray marks are means of the labels. Up to 40 items are named. Of more
        than 300 items, 300 are drawn, evenly spaced from the largest to the smallest.
    """
    table = summary_of(source, "gold").table
    if "value" not in table:
        raise NotApplicable("The items of this fit have classes and no true values.")
    made, ax, table, rank, named = _ranked(table, "value", "the largest", ax)
    columns = ("value", "low", "high", "mean")
    middle, low, high, mean = (table[name].to_numpy(dtype=float) for name in columns)
    look: dict[str, Any] = {"color": style.GREY, "label": "mean of the labels", "zorder": 1}
    ax.plot(mean, rank, "|", markersize=1.6 * _size(named)["size"], **look)
    ends = (middle, low, high)
    style.intervals(ax, rank, ends, style.BLUE, "o", "true value", **_size(named))
    ax.set_xlabel("true value, 95 % interval")
    return style.finished(made, ax)


def _size(named: bool) -> dict[str, float]:
    return {"width": 1.1, "size": 5.0} if named else {"width": 0.6, "size": 2.6}


def _ranked(
    table: pd.DataFrame, by: str, first: str, ax: Axes | None
) -> tuple[Figure, Axes, pd.DataFrame, Floats, bool]:
    """Build axes with a row per item, largest on top; return also rows and if named."""
    table = table.sort_values(by, ascending=False, kind="stable")
    n = len(table)
    if n > _MOST:
        table = table.iloc[np.linspace(0, n - 1, _MOST).round().astype(int)]
    rank, named = np.linspace(0, n - 1, len(table)), n <= _NAMED
    made, ax = style.canvas(0.85 + 0.2 * max(n, 2) if named else 3.6, ax)
    if named:
        ax.set_yticks(rank, [style.mathless(short(item)) for item in table["item"]])
    else:
        some = f"{len(table):,} of {n:,} items" if len(table) < n else f"{n:,} items"
        ax.set_ylabel(f"{some}, {first} on top")
        ax.set_yticks([])
    ax.set_ylim(n - 0.4 + 0.01 * n, -0.6 - 0.01 * n)
    return made, ax, table, rank, named
