"""Agreement of every pair of coders, coders of one mind side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from annomodels.errors import NotApplicable
from annomodels.plots import style
from annomodels.plots.style import tiles
from annomodels.summaries.draws import counts_matrix
from annomodels.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from annomodels.data.annotations import Annotations

_MOST = 60


def pair_tables(data: Annotations) -> NDArray[np.int64]:
    """Count how often two coders gave two labels to the same item.

    Of repeated labels the first one counts.

    Returns
    -------
    ndarray, shape [coder, coder, label, label]
    """
    said = counts_matrix(data.without_repeats())
    tables: NDArray[np.float64] = (said.T @ said).toarray()
    sizes = (data.n_coders, data.n_labels)
    return tables.reshape(*sizes, *sizes).transpose(0, 2, 1, 3).astype(np.int64)


def pairwise(
    data: Annotations, measure: Literal["kappa", "agreement"] = "kappa"
) -> tuple[Floats, NDArray[np.int64]]:
    """Cohen's kappa, or the share of equal labels, of every pair of coders.

    Returns
    -------
    values : ndarray, shape [coder, coder]
        NaN on the diagonal, without common items, and where kappa is not defined.
    shared : ndarray, shape [coder, coder]
        Number of common items.
    """
    tables = pair_tables(data).astype(float)
    shared = tables.sum((2, 3))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = tables / shared[:, :, None, None]
        observed = np.trace(share, axis1=2, axis2=3)
        expected = (share.sum(3) * share.sum(2)).sum(-1)
        kappa = (observed - expected) / (1.0 - expected)
    values = np.where(expected < 1.0, kappa, np.nan) if measure == "kappa" else observed
    np.fill_diagonal(values, np.nan)
    return values, shared.astype(np.int64)


def pairwise_heatmap(
    source: Any,
    *,
    measure: Literal["kappa", "agreement"] = "kappa",
    ax: Axes | None = None,
) -> Figure:
    """Draw the agreement of every pair of coders as tiles, similar coders side by side.

    Parameters
    ----------
    source
        A fit or annotations.
    measure
        "kappa" for Cohen's kappa, "agreement" for the share of equal labels.
    ax
        Axes to draw on, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        Blue means agreement above chance, orange below; empty tiles have no common items.

    Raises
    ------
    NotApplicable
        With fewer than 2 or more than 60 coders.
    """
    data: Annotations = getattr(source, "data", source)
    if not 2 <= data.n_coders <= _MOST:
        raise NotApplicable(
            f"The heatmap of pairs is for 2 to {_MOST} coders, and these data have "
            f"{data.n_coders:,}. Select some with data.select(coders=...)."
        )
    values, _ = pairwise(data, measure)
    order = _order(values)
    names = [str(data.coders[j]) for j in order]
    made, ax = style.canvas(min(1.0 + 0.34 * len(names), style.WIDTH), ax)
    tiles(ax, values[np.ix_(order, order)], names, names)
    return made


def _order(values: Floats) -> NDArray[np.intp]:
    """Order of the leaves of an average-linkage tree over 1 - agreement."""
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
