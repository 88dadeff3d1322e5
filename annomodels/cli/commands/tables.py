"""The tables of a saved fit: ``annomodels gold``, ``coders``, ``items`` and ``labels``."""

from __future__ import annotations

import click

from annomodels.cli.declared import as_command
from annomodels.cli.options import Writing, option
from annomodels.cli.tables import form_for, gold_back, gold_of, gold_table, loaded, show

TO = (
    *("label-studio", "label-studio-review", "prodigy", "argilla", "hugging-face"),
    *("toloka", "appen", "parquet"),
)


@as_command(
    "gold fit.nc -o gold.csv --threshold 0.95",
    "gold fit.nc --soft --format tsv",
    "gold fit.nc --why",
    "gold fit.nc --why --item s17 --json",
    "gold fit.nc --to label-studio --question sentiment -o tasks.json",
)
@option("--soft", "Add the probability of each label: p_<label>.", bool)
@option(
    "--to",
    "Tool that imports the file (predictions, examples to review, suggestions, tests), or parquet.",
    TO,
)
@option("--question", "Name of the question in that tool.", default="label")
@option(
    "--why",
    "Explain the labels instead: how much each coder contributed (log-odds), for the items whose "
    "label overturns a majority.",
    bool,
)
@option("--item items...", "With --why: explain this item; may be repeated.", metavar="NAME")
def gold(
    fit: str,
    threshold: float | None,
    soft: bool,
    to: str | None,
    question: str,
    spreadsheet: bool,
    why: bool,
    items: tuple[str, ...],
    writing: Writing,
) -> None:
    """List the gold label of each item with its probability."""
    if items and not why:
        raise click.UsageError("--item goes with --why.")
    if why and (to is not None or soft or threshold is not None):
        raise click.UsageError("--why makes its own table: leave out --to, --soft, --threshold.")
    found = loaded(fit)
    if why:
        show(found.why(items or None), writing)
    elif to is not None:
        gold_back(found, to, threshold, question, writing, spreadsheet)
    else:
        summary = gold_of(found, threshold)
        show(summary, writing, gold_table(found, summary, threshold, soft))


@as_command("coders fit.nc --target 0.8 -o coders.csv")
def coders(fit: str, target: float | None, writing: Writing) -> None:
    """Rate each coder of FIT, with 95 % intervals.

    With a target the table has the probability that the coder is below it. A drawn table begins
    with the coders to act on; files keep the order of the data.
    """
    from annomodels.plots.coders import notable

    summary = loaded(fit).coders(target=target)
    table = summary.table
    if form_for(writing) == "table" and {"kind", "n"} <= set(table):
        table = table.iloc[notable(table)]
    show(summary, writing, table)


@as_command("items fit.nc -o items.csv")
def items(fit: str, writing: Writing) -> None:
    """Sort items: easy, hard, contested, or needing labels.

    A drawn table begins with the most urgent item; files keep the order of the data.
    """
    summary = loaded(fit).items()
    table = summary.table
    if form_for(writing) == "table" and "entropy" in table:
        table = table.sort_values("entropy", ascending=False, kind="stable")
    show(summary, writing, table)


@as_command("labels fit.nc", "labels fit.nc --pairs -o pairs.csv")
@option("--pairs", "One row per pair of labels instead of per label.", bool)
def labels(fit: str, pairs: bool, writing: Writing) -> None:
    """Show frequency, quality and confusions of each label.

    The last columns show how alpha and crowd accuracy would change if each label were merged with
    the label that it is most confused with.
    """
    show(loaded(fit).labels(pairs=pairs), writing)
