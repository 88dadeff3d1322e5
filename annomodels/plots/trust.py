"""Diagnostic plots of a fit: chains, predictive checks, gold labels and audits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.columns import short
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable
from annomodels.plots import style
from annomodels.plots.style import summary_of
from annomodels.summaries.trust.predictive import BY_CHANCE, FITS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE)
_BINS = 15
_MOST = 24
_MARKED = (0.8, 0.95, 0.99)
_NEAR = 0.13  # share of the width below which texts of marks overlap
_MOST_JUDGED = 8  # labels
_WAYS = (
    ("value", "low", "high", style.BLUE, "o", "audit and model"),  # or the conservative model
    ("audit", "audit_low", "audit_high", style.GREEN, "D", "audit alone"),
    ("model", "model_low", "model_high", style.PURPLE, "s", "model alone"),
)


def ranks(fit: Any, *, most: int = 4) -> Figure:
    """Draw the distribution of the ranks of each chain's draws among those of all chains.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per quantity, one step line per chain. If chains agree, all lines are near 1; the
        band would contain 95 % of the steps if draws were independent.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Rank-normalization, folding, and
    localization, *Bayesian Analysis* 16(2). https://doi.org/10.1214/20-BA1221
    """
    lp = np.asarray(fit.tree["sample_stats"]["lp"].values, dtype=float)
    if lp.shape[1] < 2:
        raise NotApplicable(f"Rank plots need draws, and engine {fit.engine!r} gives none.")
    prevalence = fit.tree["posterior"]["prevalence"]
    shares, names = prevalence.values.astype(float), prevalence.coords[prevalence.dims[-1]].values
    steps = [_steps(shares[..., k]) for k in range(shares.shape[-1])]
    worst = np.argsort([-float(np.ptp(s, axis=0).max()) for s in steps])[: most - 1]
    panels = [("log density", _steps(lp))]
    panels += [(f"share of {short(str(names[k]), 14)}", steps[k]) for k in np.sort(worst)]
    rows = -(-len(panels) // 2)
    made = style.figure(0.55 + 1.35 * rows)
    expected = lp.size / lp.shape[0] / _bins(lp)
    band = 1.96 / np.sqrt(expected)
    for at, (name, step) in enumerate(panels):
        ax = made.add_subplot(rows, 2, at + 1)
        ax.axhspan(max(1 - band, 0.0), 1 + band, color=style.LINE, alpha=0.55, linewidth=0)
        for chain, heights in enumerate(step):
            edges = np.linspace(0, 1, len(heights) + 1)
            colour = _COLOURS[chain % len(_COLOURS)]
            ax.stairs(
                heights, edges, color=colour, linewidth=1.3, baseline=None,
                label=f"chain {chain + 1}" if at == 0 else None,
            )  # fmt: skip
        ax.set_title(style.mathless(name), fontsize=9, color=style.INK, loc="left")
        ax.set_xlim(0, 1)
        ax.set_ylim(0, max(2.0, float(step.max()) * 1.05))
        ax.set_xticks([0.08, 0.92], ["low", "high"])
        ax.set_yticks([1], ["1"])
        style.axes_style(ax, grid="")
    style.legend(made.axes[0], 4)
    some = style.left_out(len(panels) - 1, len(steps), "shares that differ most,", "labels").strip()
    if some:
        made.supxlabel(some, fontsize=8, color=style.MUTED)
    return made


def _bins(values: NDArray[np.float64]) -> int:
    return int(min(_BINS, max(2, values.shape[1] // 10)))


def _steps(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a chain's proportion of draws per rank bin over uniform, shape [chain, bin]."""
    _, place, often = np.unique(values, return_inverse=True, return_counts=True)
    # equal values share the mean of their ranks
    rank = np.cumsum(often) - (often - 1) / 2
    order = (rank[place].reshape(values.shape) - 0.5) / values.size
    bins = _bins(values)
    return np.stack([np.histogram(c, bins, (0, 1))[0] * bins / len(c) for c in order])


def predictive_votes(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the posterior predictive checks: each observation with its expected range.

    Each row has a separate scale, in units of half the width of its 95 % range, so counts of votes
    and proportions of agreement fit in one figure.

    Returns
    -------
    matplotlib.figure.Figure
        The band is where the model expects 95 % of replicated data. With several checks, some
        values are outside by chance (purple); the check rejects orange values, and the table has
        its p-value. Values more than four half-widths away are drawn as arrows at the edge.
    """
    table = summary_of(source, "predictive").table
    n, table = len(table), table.head(_MOST)
    low, high = (table[name].to_numpy(dtype=float) for name in ("low", "high"))
    seen = table["observed"].to_numpy(dtype=float)
    half = np.where(high > low, (high - low) / 2, np.nan)
    away = (seen - (low + high) / 2) / half
    edge = 4.0
    rows = np.arange(len(table))
    made, ax = style.canvas(0.75 + 0.3 * max(len(table), 2), ax)
    ax.axvspan(-1, 1, color=style.LINE, alpha=0.55, linewidth=0, zorder=0)
    ax.axvline(0, color=style.GREY, linewidth=1, zorder=1)
    known = np.isfinite(away)
    verdict = table["verdict"].to_numpy()
    for chosen, colour, marker, label in (
        (verdict == FITS, style.BLUE, "o", "in the band"),
        (verdict == BY_CHANCE, style.PURPLE, "s", BY_CHANCE),
        (~np.isin(verdict, (FITS, BY_CHANCE)), style.ORANGE, "D", "not as expected"),
    ):
        near = known & chosen & (np.abs(away) <= edge)
        if chosen.any():
            ax.plot(away[near], rows[near], marker, color=colour, markersize=5, label=label)
        for sign, arrow in ((-1, "<"), (1, ">")):
            far = known & chosen & (sign * away > edge)
            at = np.full(int(far.sum()), sign * edge)
            ax.plot(at, rows[far], arrow, color=colour, markersize=6.5)
    style.rows(ax, table["statistic"], 34, lines=2)
    ax.set_xlim(-edge - 0.3, edge + 0.3)
    ax.set_xticks([-4, -1, 0, 1, 4], ["far less", "", "expected", "", "far more"])
    if some := style.left_out(len(table), n, "first", "checks"):
        ax.set_xlabel(some.strip())
    return style.finished(made, ax, 3, grid="y")


def coverage(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the expected accuracy of the gold labels if only the most certain items are kept.

    Returns
    -------
    matplotlib.figure.Figure
        Share of items kept to the right, expected accuracy with a 95 % band upwards; marks show
        where the probability of the label falls below .99, .95 and .8.
    """
    if not hasattr(source, "table"):
        from annomodels.summaries.gold import coverage as summary

        source = summary(source.tree, source.data)
    curve, table = source.draws, source.table
    kept = np.asarray(curve["kept"].values, dtype=float)
    share = kept / max(float(kept.max(initial=1.0)), 1.0)
    accuracy, low, high = (
        np.asarray(curve[name].values, dtype=float) for name in ("accuracy", "low", "high")
    )
    made, ax = style.canvas(2.9, ax)
    if np.isfinite(low).any():
        ax.fill_between(share, low, high, color=style.BLUE, alpha=0.18, linewidth=0)
    ax.plot(share, accuracy, color=style.BLUE, linewidth=2, zorder=3)
    marked = table[table["threshold"].isin(_MARKED) & (table["kept"] > 0)]
    before, lower = np.inf, 0
    for row in marked.drop_duplicates("kept", keep="last").sort_values("share").itertuples():
        ax.plot(row.share, row.accuracy, "o", color=style.BLUE, markersize=5.5, zorder=4)
        text = f"≥ {row.threshold:g}"
        look: dict[str, Any] = {"fontsize": 8, "color": style.MUTED, "ha": "right", "va": "top"}
        lower = lower + 1 if abs(row.share - before) < _NEAR else 0  # else the texts would overlap
        near = row.share < _NEAR  # the axis
        before, away = row.share, (5 if near else -3, -5 - 11 * lower)
        look["ha"] = "left" if near else "right"
        ax.annotate(text, (row.share, row.accuracy), away, textcoords="offset points", **look)
    ends = np.concatenate([accuracy, low[np.isfinite(low)]])
    ax.set_ylim(min(0.9, float(ends.min(initial=0.9))) - 0.02, 1.01)
    ax.set_xlim(-0.02, 1.03)
    ax.set_xlabel("share of the items kept, highest probability first")
    ax.set_ylabel("expected accuracy")
    style.axes_style(ax, grid="both", frame=True)
    return made


def audited(found: Any, *, ax: Axes | None = None) -> Figure:
    """Draw the accuracy of the gold labels and the share of each label, as known in three ways."""
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
            name = "conservative model"
        style.intervals(ax, y, (middle, left, right), colour, marker, name, size=4.5)
    names = [
        "gold labels right" if quantity == "accuracy" else label_text(label)
        for quantity, label in zip(table["quantity"], table["label"], strict=True)
    ]
    style.rows(ax, names)
    ax.set_xlim(-0.02, 1.02)
    n = int((shares["quantity"] == "prevalence").sum())
    some = style.left_out(len(of_labels), n, "most frequent", "labels")
    ax.set_xlabel(f"share of the items, 95 % interval{some}")
    return style.finished(made, ax, 3)
