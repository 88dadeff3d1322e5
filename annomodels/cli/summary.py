"""Tables of a saved fit: one way for gold, coders and items, and gold for other programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from annomodels.cli.options import Writing
from annomodels.cli.session import note, warn
from annomodels.data.names import label_text

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.fitting.fit import Fit
    from annomodels.summaries.summary import Summary

# labels from which files of gold have no columns of the next label
MOST_LABELS = 50


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
    """Load a fit, and say on stderr if it cannot be trusted."""
    from annomodels.cli.loading import load_fit

    fit = load_fit(path)
    found = fit.check(predictive=False)  # which never forbids the use
    if not found:
        warn("This fit cannot be trusted: " + " ".join(found.sentences))
    return fit


def gold_of(fit: Fit, threshold: float | None, most: int = MOST_LABELS) -> Summary:
    """Give the gold of a fit with ``p_next_<label>``, where it has such and labels are not many."""
    summary = fit.gold(threshold)
    if fit.lacks("p_next") or fit.data.n_labels > most:
        return summary
    foretold = fit.p_next().table.drop(columns="item")
    # a label may be called next_a beside one that is called a
    taken = {f"p_{label_text(label)}" for label in fit.data.labels}
    if taken & set(foretold.columns):
        return summary
    return replace(summary, table=summary.table.join(foretold))


def gold_table(summary: Summary, threshold: float | None, soft: bool) -> pd.DataFrame:
    """Give the gold table as files hold it.

    With a threshold, labels that are not settled are empty; `soft` adds ``p_<label>``.
    """
    table = summary.table.copy()
    if threshold is not None:
        table["label"] = table["label"].where(table["settled"], "")
    if soft:
        probability = summary.draws["p_truth"]
        for name in probability["truth"].values:
            table[f"p_{name}"] = probability.sel(truth=name).values
    return table


def gold_back(
    path: str,
    to: str,
    threshold: float | None,
    question: str,
    writing: Writing,
    spreadsheet: bool,
) -> None:
    """Write the gold labels of a saved fit so that a tool imports them.

    With a threshold, items below it have no label. "parquet" gives a table with ``p_<label>`` and
    ``p_next_<label>``.
    """
    from annomodels.cli.tables import put
    from annomodels.io.writers.catalog import BACKS, Writer, named
    from annomodels.io.writers.goldlist import gold_list

    fit = loaded(path)
    summary = gold_of(fit, threshold)
    table = gold_table(summary, threshold, soft=True)
    texts = dict(zip(fit.data.items, fit.data.texts or (), strict=False))
    if to == "parquet":
        put(Writer(to, "", lambda given: given, to), table, writing, spreadsheet)
    else:
        put(named(to, BACKS), gold_list(table, question, texts), writing, spreadsheet)
    for text in summary.notes:
        note(f"note: {text}")
