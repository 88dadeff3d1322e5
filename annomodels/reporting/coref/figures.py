"""The figure of the page: kappa of each text with its interval."""

from __future__ import annotations

import numpy as np

from annomodels.plots import style
from annomodels.plots.svg import inline
from annomodels.reporting.coref.collect import CorefData
from annomodels.reporting.figures import Picture
from annomodels.reporting.words import decimal

__all__ = ["forest"]

MOST = 40
WIDTH = 22


def forest(found: CorefData) -> Picture | None:
    """Draw the kappas of the texts and, below them, of texts like these and of one further text.

    Of many texts every n-th is drawn, from the lowest to the highest.
    """
    if found.posterior is None or len(found.posterior.names) < 2:
        return None
    frame = found.posterior.table(found.prob).sort_values("kappa", kind="stable")
    n = len(frame)
    shown = frame if n <= MOST else frame.iloc[np.linspace(0, n - 1, MOST).round().astype(int)]
    summary = found.posterior.summary(found.prob).iloc[1:]
    names = [style.mathless(name) for name in style.told_apart(shown["document"], WIDTH)]
    rows = np.arange(len(shown), dtype=float)
    below = len(shown) + 0.6 + np.arange(len(summary), dtype=float)
    made = style.figure(0.9 + 0.24 * (len(shown) + len(summary)))
    ax = made.add_subplot()
    for place, table, colour, marker in (
        (rows, shown, style.BLUE, "o"),
        (below, summary, style.PURPLE, "D"),
    ):
        low, high, middle = (table[name].to_numpy(float) for name in ("low", "high", "kappa"))
        ax.hlines(place, low, high, color=colour, linewidth=1.5, zorder=2)
        ax.plot(middle, place, marker, color=colour, markersize=4.5, zorder=3)
    lowest = min(float(shown["low"].min()), float(summary["low"].min()), 0.0)
    ax.set_xlim(lowest - 0.03, 1.03)
    ax.set_ylim(below[-1] + 0.6, -0.6)
    ax.set_yticks(np.concatenate([rows, below]), [*names, "texts like these", "a further text"])
    ax.set_xlabel(f"kappa on coreferent pairs, {found.prob:.0%} interval")
    style.axes_style(ax)
    ends = decimal(float(frame["kappa"].iloc[0])), decimal(float(frame["kappa"].iloc[-1]))
    svg = inline(
        made,
        "fig-texts",
        "Kappa on coreferent pairs of each text",
        f"Kappas of {n} texts go from {ends[0]} to {ends[1]}. The table of texts holds them all.",
    )
    some = f" Shown are {len(shown)} of {n:,} texts, from the lowest to the highest." * (n > MOST)
    return Picture(
        svg,
        "Dots: kappa of a text, mean over pairs of coders. Diamonds: the mean over texts like "
        f"these, and what one further text would show.{some}",
    )
