"""What a plot can be made from: a fit, or a summary that was computed already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from annomodels.summaries.summary import Summary
    from annomodels.types import Floats, Ints


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


def draws_of(summary: Summary, name: str) -> Floats | None:
    """Draws of a variable, shape [sample, ...]; None when there is no more than one draw."""
    if name not in summary.draws:
        return None
    values = np.asarray(summary.draws[name].values, dtype=float)
    return values if len(values) > 1 else None


def label_counts(data: Any) -> Ints:
    """How often each label was given, in memory or in a scan, shape [label]."""
    counted: Ints | None = getattr(data, "per_label", None)
    return np.bincount(data.label, minlength=data.n_labels) if counted is None else counted
