"""What one coder says when the truth is this or that."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.names import label_text
from annomodels.errors import NotApplicable
from annomodels.plots import style
from annomodels.plots.style import tiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def confusion_matrix(fit: Any, coder: Hashable, *, ax: Axes | None = None) -> Figure:
    """Draw the posterior mean of a coder's confusion matrix.

    Parameters
    ----------
    fit
        A fit.
    coder
        Name of the coder.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        Rows are the truth, columns the label given; each row sums to one.

    Raises
    ------
    NotApplicable
        When there is no such coder.
    """
    names = [str(name) for name in fit.data.coders]
    if str(coder) not in names:
        raise NotApplicable(
            f"There is no coder {style.short(coder)!r} in this fit. "
            f"The first coders are {', '.join(style.short(n) for n in names[:5])}."
        )
    draws = fit.tree["posterior"]["confusion"]
    if "coder" in draws.dims:
        draws = draws.isel(coder=names.index(str(coder)))
    mean = np.asarray(draws.mean(("chain", "draw")).values, dtype=float)
    labels = [label_text(name) for name in fit.data.labels]
    made, ax = style.canvas(min(1.1 + 0.42 * len(labels), style.WIDTH), ax)
    tiles(ax, mean, labels, labels)
    ax.set_xlabel("label given")
    ax.set_ylabel("truth")
    return made
