"""What a plot can be made from: a fit, or a summary that was computed already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from annomodels.summaries.summary import Summary

__all__ = ["draws_of", "summary_of"]


def summary_of(source: Any, name: str) -> Summary:
    """Summary `name` of a fit, or the summary itself.

    Parameters
    ----------
    source
        A fit or a summary.
    name
        Method of the fit, such as "coders".
    """
    made: Summary = source if hasattr(source, "table") else getattr(source, name)()
    return made


def draws_of(summary: Summary, name: str) -> NDArray[np.float64] | None:
    """Draws of a variable, shape [sample, ...]; None when there is no more than one draw."""
    if name not in summary.draws:
        return None
    values = np.asarray(summary.draws[name].values, dtype=float)
    return values if len(values) > 1 else None
