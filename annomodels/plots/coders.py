"""Forest of the coders: how good each one is, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from annomodels.errors import NotApplicable
from annomodels.plots import style
from annomodels.plots.style import draws_of, summary_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from annomodels.summaries.summary import Summary
    from annomodels.types import Floats

Measure = Literal["accuracy", "skill", "bits", "reliability", "bias", "scale", "noise"]
_AXIS = {
    "accuracy": "probability of the right label",
    "skill": "skill: kappa against the truth (0 = chance)",
    "bits": "information per label, bits",
    "reliability": "squared correlation of label and true value",
    "bias": "bias, in units of the labels (0 = none)",
    "scale": "scale (1 = as the others, below 0 = reversed)",
    "noise": "standard deviation of the noise, in units of the labels",
}
_NEUTRAL = {"skill": 0.0, "bias": 0.0, "scale": 1.0}
_FROM_0_TO_1 = {"accuracy": 0.4, "skill": 0.0, "reliability": 0.0}

_RANK = {
    **{"adversary": 0, "reversed": 0, "spammer": 1, "uninformative": 1},
    **{"biased": 2, "good": 3, "not enough evidence": 4},
}


def coder_forest(
    source: Any,
    *,
    measure: Measure | None = None,
    most: int = 40,
    target: float | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the coders with 50 % (thick) and 95 % (thin) intervals, the worst on top.

    Parameters
    ----------
    source
        A fit or its ``coders()`` summary.
    measure
        What to draw: "accuracy" (the default), "skill" or "bits"; where labels are numbers
        "reliability" (the default there), "bias", "scale" or "noise".
    most
        How many coders to show at most, the most notable ones.
    target
        Accuracy asked for, drawn as a line.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        Colours and markers tell the kinds of coders apart; grey means too little evidence.

    Raises
    ------
    NotApplicable
        When the coders of this fit have no such measure.
    """
    summary = summary_of(source, "coders")
    if measure is None:
        measure = "accuracy" if "accuracy" in summary.table else "reliability"
    if measure not in summary.table:
        raise NotApplicable(f"The coders of this fit have no {measure}.")
    chosen = notable(summary.table, most)
    chosen = chosen[np.argsort(summary.table[measure].to_numpy(dtype=float)[chosen], kind="stable")]
    table = summary.table.iloc[chosen]
    n = len(table)
    made, ax = style.canvas(0.85 + 0.2 * max(n, 2), ax)
    if measure in _NEUTRAL:
        ax.axvline(_NEUTRAL[measure], color=style.GREY, linewidth=1.2, zorder=1)
    if target is not None and measure == "accuracy":
        ax.axvline(target, color=style.INK, linewidth=1, linestyle=(0, (3, 2)), zorder=1)
        ax.text(target, -0.75, " target", fontsize=7.5, color=style.MUTED, va="center")
    half = _half(summary, measure, chosen)
    for kind, (colour, marker) in style.KINDS.items():
        at = np.flatnonzero((table["kind"] == kind).to_numpy())
        if len(at):
            _kind(ax, table, at, half, measure, colour, marker, kind)
    ax.set_yticks(np.arange(n), [style.mathless(style.short(c)) for c in table["coder"]])
    ax.set_ylim(n - 0.4, -1.0 if target is not None else -0.6)
    _limits(ax, table, measure)
    ax.set_xlabel(_AXIS[measure])
    style.axes_style(ax)
    style.legend(ax, columns=3)
    return made


def notable(coders: pd.DataFrame, most: int | None = None) -> NDArray[np.intp]:
    """Row numbers of the coders a lead wants to see first.

    Adversaries, then spammers, then biased coders, then the others, each from the worst skill
    upwards (reliability, where labels are numbers); coders about whom too little is known come
    last.
    None keeps all.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"kind": ["good", "spammer"], "skill": [0.8, 0.0], "n": [9, 9]})
    >>> notable(table).tolist()
    [1, 0]
    """
    rank = coders["kind"].map(_RANK).fillna(3).to_numpy()
    worth = coders["skill" if "skill" in coders else "reliability"].to_numpy(dtype=float)
    order = np.lexsort((-coders["n"].to_numpy(), worth, rank))
    return order if most is None else order[:most]


def _half(summary: Summary, measure: str, chosen: NDArray[np.intp]) -> Floats | None:
    """50 % intervals of the chosen coders, shape [2, coder]."""
    draws = draws_of(summary, measure)
    return None if draws is None else np.quantile(draws[:, chosen], [0.25, 0.75], axis=0)


def _kind(
    ax: Axes,
    table: pd.DataFrame,
    at: NDArray[np.intp],
    half: Floats | None,
    measure: str,
    colour: str,
    marker: str,
    label: str,
) -> None:
    part = table.iloc[at]
    low, high = (part[f"{measure}_{end}"].to_numpy(dtype=float) for end in ("low", "high"))
    known = np.isfinite(low) & np.isfinite(high)
    ax.hlines(at[known], low[known], high[known], color=colour, linewidth=1.1, zorder=2)
    if half is not None:
        ax.hlines(at, half[0, at], half[1, at], color=colour, linewidth=3.0, zorder=2)
    value = part[measure].to_numpy(dtype=float)
    ax.plot(value, at, marker, color=colour, markersize=5.2, label=label, zorder=3)


def _limits(ax: Axes, table: pd.DataFrame, measure: str) -> None:
    values = table[[measure, f"{measure}_low", f"{measure}_high"]].to_numpy(dtype=float)
    values = values[np.isfinite(values)]
    low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
    if measure in ("bits", "noise"):
        least = 0.1 if measure == "bits" else 1e-9
        ax.set_xlim(-0.02 * max(high, least), 1.04 * max(high, least))
    elif measure in _FROM_0_TO_1:
        ax.set_xlim(min(low, _FROM_0_TO_1[measure]) - 0.03, 1.02)
