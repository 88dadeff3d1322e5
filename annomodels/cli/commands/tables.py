"""The tables of a saved fit: ``annomodels gold``, ``coders``, ``items`` and ``labels``."""

from __future__ import annotations

import click

from annomodels.cli.options import Writing, common_options, examples, write_options

TO = (
    *("label-studio", "label-studio-review", "prodigy", "argilla", "hugging-face"),
    *("toloka", "appen", "parquet"),
)


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
    help="Put an apostrophe before texts that a spreadsheet would read as formulas (with --to).",
)
@click.option(
    "--why",
    is_flag=True,
    help="Explain the labels instead: the log-odds that each coder contributed, for the items "
    "whose label overturns a majority.",
)
@click.option(
    "--item", "items", multiple=True, metavar="NAME", help="With --why: this item; may be repeated."
)
@write_options
@common_options
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
    """Give the gold label of each item of FIT with its probability, votes and why."""
    from annomodels.cli.places import check_writing
    from annomodels.cli.tables import gold_back, gold_of, gold_table, show

    if items and not why:
        raise click.UsageError("--item belongs to --why.")
    if why and (to is not None or soft or threshold is not None):
        raise click.UsageError("--why makes its own table: leave out --to, --soft, --threshold.")
    check_writing(writing)
    if why:
        show(fit, lambda loaded: loaded.why(items or None), writing)
        return
    if to is not None:
        gold_back(fit, to, threshold, question, writing, spreadsheet)
        return
    show(
        fit,
        lambda loaded: gold_of(loaded, threshold),
        writing,
        lambda summary: gold_table(summary, threshold, soft),
    )


@click.command("coders", epilog=examples("annomodels coders fit.nc --target .8 -o coders.csv"))
@click.argument("fit")
@click.option(
    "--target",
    type=click.FloatRange(0, 1),
    help="Accuracy a coder should reach; adds the probability of being below it.",
)
@write_options
@common_options
def coders(fit: str, target: float | None, writing: Writing) -> None:
    """Give the quality of each coder of FIT with 95 % intervals."""
    from annomodels.cli.places import check_writing
    from annomodels.cli.tables import show

    check_writing(writing)
    show(fit, lambda loaded: loaded.coders(target=target), writing)


@click.command("items", epilog=examples("annomodels items fit.nc -o items.csv"))
@click.argument("fit")
@write_options
@common_options
def items(fit: str, writing: Writing) -> None:
    """Say of each item of FIT whether it is easy, hard, contested or in need of labels."""
    from annomodels.cli.places import check_writing
    from annomodels.cli.tables import form_for, show

    check_writing(writing)
    drawn = form_for(writing) == "table"  # for people, who want the most urgent first
    show(
        fit,
        lambda loaded: loaded.items(),
        writing,
        lambda summary: (
            summary.table.sort_values("entropy", ascending=False, kind="stable")
            if drawn and "entropy" in summary.table
            else summary.table
        ),
    )


@click.command(
    "labels",
    epilog=examples("annomodels labels fit.nc", "annomodels labels fit.nc --pairs -o pairs.csv"),
)
@click.argument("fit")
@click.option("--pairs", is_flag=True, help="One row for each pair of labels, not for each label.")
@write_options
@common_options
def labels(fit: str, pairs: bool, writing: Writing) -> None:
    """Say of each label of FIT how frequent it is, how well it is used, what it is confused with.

    The last columns say what counting a label and the one that it is most confused with as one
    label would do to alpha and to the accuracy of the crowd.
    """
    from annomodels.cli.places import check_writing
    from annomodels.cli.tables import show

    check_writing(writing)
    show(fit, lambda loaded: loaded.labels(pairs=pairs), writing)
