"""``annomodels gold``: the gold standard."""

from __future__ import annotations

import click

from annomodels.cli.options import Writing, common_options, examples, write_options

__all__ = ["command"]

SHORT = ("item", "label", "probability", "runner_up", "votes", "overturned", "settled", "known")


@click.command(
    "gold",
    epilog=examples(
        "annomodels gold fit.nc -o gold.csv --threshold .95",
        "annomodels gold fit.nc --soft --format tsv",
    ),
)
@click.argument("fit")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Leave the label empty where its probability is below this.",
)
@click.option("--soft", is_flag=True, help="Add the probability of each label: p_<label>.")
@write_options
@common_options
def command(fit: str, threshold: float | None, soft: bool, writing: Writing) -> None:
    """Give the gold label of each item of FIT with its probability, votes and why."""
    from annomodels.cli.places import check_writing
    from annomodels.cli.summary import gold_table, show

    check_writing(writing)
    show(
        fit,
        lambda loaded: loaded.gold(threshold),
        writing,
        () if soft else SHORT,
        lambda summary: gold_table(summary, threshold, soft),
    )
