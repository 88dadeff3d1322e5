"""Rank plots: whether the chains of a run tell the same story."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annomodels.errors import NotApplicable
from annomodels.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE)
_BINS = 15


def ranks(fit: Any, *, most: int = 4) -> Figure:
    """Draw how the ranks of each chain's draws spread over those of all chains.

    Parameters
    ----------
    fit
        A fit of a sampler, not of "em".
    most
        How many quantities to show: the log density, then prevalences, the worst mixed first.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per quantity, one step line per chain. When chains agree, all lines stay near
        1; the band is where 95 % of the steps lie then if draws were independent.

    Raises
    ------
    NotApplicable
        When the fit has fewer than two draws per chain.

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
    panels += [(f"share of {style.short(str(names[k]), 14)}", steps[k]) for k in np.sort(worst)]
    rows = -(-len(panels) // 2)
    made = style.figure(0.35 + 1.35 * rows)
    expected = lp.size / lp.shape[0] / _bins(lp)
    band = 1.96 / np.sqrt(expected)
    for at, (name, step) in enumerate(panels):
        ax = made.add_subplot(rows, 2, at + 1)
        ax.axhspan(max(1 - band, 0.0), 1 + band, color=style.LINE, alpha=0.55, linewidth=0)
        for chain, heights in enumerate(step):
            edges = np.linspace(0, 1, len(heights) + 1)
            colour = _COLOURS[chain % len(_COLOURS)]
            ax.stairs(heights, edges, color=colour, linewidth=1.3, baseline=None)
        ax.set_title(style.mathless(name), fontsize=9, color=style.INK, loc="left")
        ax.set_xlim(0, 1)
        ax.set_ylim(0, max(2.0, float(step.max()) * 1.05))
        ax.set_xticks([0, 0.5, 1], ["low", "", "high"])
        style.axes_style(ax, grid="")
    return made


def _bins(values: NDArray[np.float64]) -> int:
    return int(min(_BINS, max(2, values.shape[1] // 10)))


def _steps(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of a chain's draws per bin of ranks over the even share, shape [chain, bin]."""
    _, place, often = np.unique(values, return_inverse=True, return_counts=True)
    # equal values share the mean of their ranks
    rank = np.cumsum(often) - (often - 1) / 2
    order = (rank[place].reshape(values.shape) - 0.5) / values.size
    bins = _bins(values)
    return np.stack([np.histogram(c, bins, (0, 1))[0] * bins / len(c) for c in order])
