"""``annomodels gold``: the gold standard."""

from __future__ import annotations

import click

from annomodels.cli.options import Writing, common_options, examples, write_options

__all__ = ["command"]

TO = (
    *("label-studio", "label-studio-review", "prodigy", "argilla", "toloka", "appen"),
    "parquet",
)
SHORT_WHY = ("item", "label", "runner_up", "source", "said", "log_odds", "low", "high")
SHORT = ("item", "label", "probability", "runner_up", "votes", "overturned", "settled", "known")


@click.command(
    "gold",
    epilog=examples(
        "annomodels gold fit.nc -o gold.csv --threshold .95",
        "annomodels gold fit.nc --soft --format tsv",
        "annomodels gold fit.nc --why",
        "annomodels gold fit.nc --why --item s17 --json",
        "annomodels gold fit.nc --to label-studio --question sentiment -o tasks.json",
    ),
)
@click.argument("fit")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Leave the label empty where its probability is below this.",
)
@click.option("--soft", is_flag=True, help="Add the probability of each label: p_<label>.")
@click.option(
    "--to",
    type=click.Choice(TO),
    help="Write what this tool imports: predictions, examples to review, suggestions, tests; "
    "or a Parquet table.",
)
@click.option("--question", default="label", help="Name of the question in that tool.")
@click.option(
    "--spreadsheet",
    is_flag=True,
    help="Put an apostrophe before texts that a spreadsheet would take for formulas (with --to).",
)
@click.option(
    "--why",
    is_flag=True,
    help="Instead, take labels apart: the log-odds that each coder contributed, for the items "
    "whose label overturns a majority.",
)
@click.option(
    "--item", "items", multiple=True, metavar="NAME", help="With --why: this item; may be repeated."
)
@write_options
@common_options
def command(
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
    """Give the gold label of each item of FIT with its probability, votes and why."""
    from annomodels.cli.back import gold_back
    from annomodels.cli.places import check_writing
    from annomodels.cli.summary import gold_table, show

    if items and not why:
        raise click.UsageError("--item belongs to --why.")
    if why and (to is not None or soft or threshold is not None):
        raise click.UsageError("--why is a table of its own: leave out --to, --soft, --threshold.")
    check_writing(writing)
    if why:
        show(fit, lambda loaded: loaded.why(items or None), writing, SHORT_WHY)
        return
    if to is not None:
        gold_back(fit, to, threshold, question, writing, spreadsheet)
        return
    show(
        fit,
        lambda loaded: loaded.gold(threshold),
        writing,
        () if soft else SHORT,
        lambda summary: gold_table(summary, threshold, soft),
    )
