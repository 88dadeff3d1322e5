"""Plots of coders: quality, confusion matrices and agreement."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.tables import from_joint
from annomodels.data.annotations import Annotations
from annomodels.data.columns import short
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable
from annomodels.plots import style
from annomodels.plots.style import draws_of, summary_of, tiles
from annomodels.summaries.coders import notable
from annomodels.summaries.draws import counts_matrix
from annomodels.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Measure = Literal[
    "share_right", "accuracy", "skill", "bits", "reliability", "bias", "scale", "noise"
]
_FIRST: tuple[Measure, ...] = ("share_right", "accuracy", "reliability")
_AXIS = {
    "share_right": "share of the labels given so far that are right",
    "accuracy": "probability of the right label",
    "skill": "skill: kappa against the truth (0 = chance)",
    "bits": "information per label, bits",
    "reliability": "squared correlation of label and true value",
    "bias": "bias, in units of the labels (0 = none)",
    "scale": "scale (1 = like the others, below 0 = reversed)",
    "noise": "standard deviation of the noise, in units of the labels",
}
_NEUTRAL = {"skill": 0.0, "bias": 0.0, "scale": 1.0}
_FROM_0_TO_1 = {"share_right": 0.4, "accuracy": 0.4, "skill": 0.0, "reliability": 0.0}
_MOST_PAIRED = 60
_MATRICES = 4  # confusion matrices that are drawn if no coder is named
_BESIDE = 8  # labels up to which two matrices stand side by side
_BELOW = 46  # characters of a line below the axes
_LINE = 30  # characters of a line that names a coefficient
_MEASURES = {"kappa": "Cohen's kappa", "agreement": "Share of equal labels"}
_THRESHOLDS = ((0.667, "0.667"), (0.8, "0.8"))
_SEEN = (
    (-1, ("value", "low", "high"), (style.BLUE, "o", "observed")),
    (1, ("model", "model_low", "model_high"), (style.PURPLE, "s", "implied by the model")),
)


def coder_forest(
    source: Any,
    measure: Measure | None = None,
    *,
    most: int = 40,
    target: float | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the coders with 50 % (thick) and 95 % (thin) intervals, the worst on top.

    Returns
    -------
    matplotlib.figure.Figure
        Colors and markers show the kinds of coders; gray means too little evidence.
    """
    summary = summary_of(source, "coders")
    if measure is None:
        measure = [name for name in _FIRST if name in summary.table][0]  # noqa: RUF015
    if measure not in summary.table:
        raise NotApplicable(f"The coders of this fit have no {measure}.")
    chosen = notable(summary.table)[:most]
    chosen = chosen[np.argsort(summary.table[measure].to_numpy(dtype=float)[chosen], kind="stable")]
    table = summary.table.iloc[chosen]
    made, ax = style.canvas(0.85 + 0.2 * max(len(table), 2), ax)
    if measure in _NEUTRAL:
        ax.axvline(_NEUTRAL[measure], color=style.GREY, linewidth=1.2, zorder=1)
    if target is not None and measure in ("share_right", "accuracy"):
        ax.axvline(target, color=style.INK, linewidth=1, linestyle=(0, (3, 2)), zorder=1)
        ax.text(target, -0.75, " target", fontsize=7.5, color=style.MUTED, va="center")
    draws = draws_of(summary, measure)
    half = None if draws is None else np.quantile(draws[:, chosen], [0.25, 0.75], axis=0)
    for kind, (colour, marker) in style.KINDS.items():
        at = np.flatnonzero((table["kind"] == kind).to_numpy())
        if not len(at):
            continue
        if half is not None:
            ax.hlines(at, half[0, at], half[1, at], color=colour, linewidth=3.0, zorder=2)
        ends = [table.iloc[at][f"{measure}{end}"].to_numpy(float) for end in ("", "_low", "_high")]
        style.intervals(ax, at, ends, colour, marker, kind, width=1.1, size=5.2)
    style.rows(ax, table["coder"], top=-1.0 if target is not None else -0.6)
    _limits(ax, table, measure)
    n = len(summary.table)
    ax.set_xlabel(_AXIS[measure] + style.left_out(len(table), n, "most notable", "coders"))
    return style.finished(made, ax, 3)


def _limits(ax: Axes, table: pd.DataFrame, measure: str) -> None:
    values = table[[measure, f"{measure}_low", f"{measure}_high"]].to_numpy(dtype=float)
    values = values[np.isfinite(values)]
    low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
    if measure in ("bits", "noise"):
        least = 0.1 if measure == "bits" else 1e-9
        ax.set_xlim(-0.02 * max(high, least), 1.04 * max(high, least))
    elif measure in _FROM_0_TO_1:
        ax.set_xlim(min(low, _FROM_0_TO_1[measure]) - 0.03, 1.02)


def confusion_matrix(fit: Any, coder: Hashable | None = None, *, ax: Axes | None = None) -> Figure:
    """Draw the posterior mean of a coder's confusion matrix, by default of the worst coders.

    Returns
    -------
    matplotlib.figure.Figure
        Rows are the truth, columns the given label; each row sums to one. Without a coder, up to
        four matrices, or on `ax` the matrix of the worst coder.
    """
    names = [str(name) for name in fit.data.coders]
    if coder is not None and str(coder) not in names:
        raise NotApplicable(
            f"Coder {short(coder)!r} is not in this fit. "
            f"The first coders are {', '.join(short(n) for n in names[:5])}."
        )
    draws = fit.tree["posterior"]["confusion"]
    shared = "coder" not in draws.dims
    labels = [label_text(name) for name in fit.data.labels]
    if coder is not None:
        chosen = [names.index(str(coder))]
    else:
        one = shared or ax is not None or len(labels) > _BESIDE
        chosen = [int(j) for j in notable(fit.coders().table)[: 1 if one else _MATRICES]]
    columns = min(len(chosen), 2)
    lines = -(-len(chosen) // columns)
    if ax is None:
        made = style.figure(lines * min(1.1 + 0.42 * len(labels), style.WIDTH))
        places = [made.add_subplot(lines, columns, n + 1) for n in range(len(chosen))]
    else:
        made, ax = style.canvas(0.0, ax)
        places = [ax]
    for each, j in zip(places, chosen, strict=True):
        mean = np.asarray(
            (draws if shared else draws.isel(coder=j)).mean(("chain", "draw")).values, dtype=float
        )
        tiles(each, mean, labels, labels)
        each.set_title(
            "all coders" if shared else style.mathless(short(names[j], 40)),
            fontsize=9,
            color=style.INK,
        )
        each.set_xlabel("label given")
        each.set_ylabel("truth")
    some = style.left_out(len(chosen), len(names), "most notable", "coders").strip()
    if coder is None and ax is None and some and not shared:
        made.supxlabel(some, fontsize=8, color=style.MUTED)
    return made


def pairwise(data: Annotations, measure: Literal["kappa", "agreement"] = "kappa") -> Floats:
    """Compute Cohen's kappa, or the proportion of equal labels, of every coder pair."""
    said = counts_matrix(data.without_repeats())
    sizes = (data.n_coders, data.n_labels)
    joint = (said.T @ said).toarray().reshape(*sizes, *sizes).transpose(0, 2, 1, 3)
    with np.errstate(invalid="ignore"):  # pairs without an item in common
        values = evaluate_with("between" if measure == "kappa" else None, from_joint(joint)).value
    np.fill_diagonal(values, np.nan)
    return values


def pairwise_heatmap(
    source: Any,
    measure: Literal["kappa", "agreement"] = "kappa",
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw the agreement of every pair of coders as tiles, similar coders side by side.

    Returns
    -------
    matplotlib.figure.Figure
        Blue means agreement above chance, orange below; empty tiles have no common items.
    """
    data: Annotations = getattr(source, "data", source)
    if not 2 <= data.n_coders <= _MOST_PAIRED:
        raise NotApplicable(
            f"The heatmap of pairs is for 2 to {_MOST_PAIRED} coders, and these data have "
            f"{data.n_coders:,}. Select some with data.select(coders=...)."
        )
    values = pairwise(data, measure)
    order = _order(values)
    names = [str(data.coders[j]) for j in order]
    made, ax = style.canvas(min(1.0 + 0.34 * len(names), style.WIDTH), ax)
    top = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    tiles(ax, values[np.ix_(order, order)], names, names, top=max(top, 0.1), bar=True)
    ax.set_title(
        f"{_MEASURES[measure]} of every pair of coders", fontsize=9, color=style.INK, loc="left"
    )
    return made


def _order(values: Floats) -> NDArray[np.intp]:
    """Return the leaf order of an average-linkage tree over 1 - agreement."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(values) < 3:
        return np.arange(len(values))
    typical = float(np.nanmean(values)) if np.isfinite(values).any() else 0.0
    distance = 1.0 - np.where(np.isfinite(values), values, typical)
    np.fill_diagonal(distance, 0.0)
    distance = np.maximum((distance + distance.T) / 2, 0.0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree), dtype=np.intp)


def agreement_forest(source: Any, *, ax: Axes | None = None) -> Figure:
    """Draw each coefficient with its 95 % intervals: observed and, for a fit, model-implied.

    Returns
    -------
    matplotlib.figure.Figure
        One row per coefficient; dotted lines mark the thresholds .667 and .8.
    """
    table = summary_of(source, "agreement").table
    known = np.isfinite(table["value"].to_numpy(dtype=float))
    missing = [str(name) for name in _titles(table[~known])]
    table = table[known]
    made, ax = style.canvas(0.95 + 0.36 * max(len(table), 1) + 0.2 * bool(missing), ax)
    rows = np.arange(len(table), dtype=float)
    implied = "model" in table and bool(np.isfinite(table["model"].astype(float)).any())
    shift = 0.14 if implied else 0.0
    for sign, names, look in _SEEN[: 1 + implied]:
        ends = [table[name].to_numpy(dtype=float) for name in names]
        style.intervals(ax, rows + sign * shift, ends, *look)
    small: dict[str, Any] = {"fontsize": 7.5, "color": style.MUTED, "textcoords": "offset points"}
    for threshold, name in _THRESHOLDS:
        ax.axvline(threshold, color=style.GREY, linewidth=1, linestyle=(0, (1, 2)), zorder=1)
        ax.annotate(name, (threshold, 1), (0, 2), ("data", "axes fraction"), ha="center", **small)
    lows = table[[c for c in ("value", "low", "model_low") if c in table]].to_numpy(dtype=float)
    lowest = float(np.nanmin(lows)) if np.isfinite(lows).any() else 0.0
    ax.set_xlim(min(0.0, lowest) - 0.03, 1.03)
    style.rows(ax, _titles(table), _LINE, lines=2)
    below = f"not defined: {', '.join(missing)}" if missing else ""
    ax.set_xlabel(
        "\n".join(["agreement coefficient, 95 % interval", *textwrap.wrap(below, _BELOW)])
    )
    return style.finished(made, ax)


def _titles(table: pd.DataFrame) -> pd.Series:
    return table["title" if "title" in table else "coefficient"]
