"""Tables of a saved fit: one way for gold, coders and items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from annomodels.cli.options import Writing
from annomodels.cli.session import note, warn

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.fitting.fit import Fit
    from annomodels.summaries.summary import Summary

__all__ = ["gold_table", "loaded", "show"]


def show(
    path: str,
    summarise: Callable[[Fit], Summary],
    writing: Writing,
    short: Sequence[str],
    table: Callable[[Summary], pd.DataFrame] = lambda summary: summary.table,
) -> None:
    """Load a fit, write one of its tables, and say on stderr what a reader should know."""
    from annomodels.cli.tables import emit

    summary = summarise(loaded(path))
    emit(table(summary), writing, summary.title, short)
    for text in summary.notes:
        note(f"note: {text}")


def loaded(path: str) -> Fit:
    """Load a fit, and say on stderr if it is not to be trusted."""
    from annomodels.cli.loading import load_fit

    fit = load_fit(path)
    found = fit.check(predictive=False)  # which never forbids the use
    if not found:
        warn("This fit is not to be trusted: " + " ".join(found.sentences))
    return fit


def gold_table(summary: Summary, threshold: float | None, soft: bool) -> pd.DataFrame:
    """Give the gold table as files hold it.

    Parameters
    ----------
    summary
        What ``fit.gold(threshold)`` gave.
    threshold
        When given, labels that are not settled are left empty.
    soft
        Whether to add a column ``p_<label>`` for each label.
    """
    table = summary.table.copy()
    if threshold is not None:
        table["label"] = table["label"].where(table["settled"], "")
    if soft:
        probability = summary.draws["p_truth"]
        for name in probability["truth"].values:
            table[f"p_{name}"] = probability.sel(truth=name).values
    return table
