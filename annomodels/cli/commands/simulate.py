"""``annomodels simulate``: made-up data for planning and for trying things out."""

from __future__ import annotations

import click

from annomodels.cli.assumptions import Assumptions, assumption_options
from annomodels.cli.options import Writing, common_options, examples, write_options


@click.command(
    "simulate",
    epilog=examples(
        "annomodels simulate --items 300 --coders 20 --labels neg,neu,pos -o votes.csv",
        "annomodels simulate --spammers .2 --ambiguous .1 --truth truth.csv -o votes.csv",
        "annomodels simulate | annomodels check -",
    ),
)
@click.option(
    "--labels-per-item",
    metavar="N[-M]",
    default="5",
    show_default=True,
    help="Labels of each item: a number, or the fewest and the most (2-6).",
)
@click.option(
    "--workload",
    type=click.Choice(["even", "long-tailed"]),
    default="even",
    show_default=True,
    help="Whether all coders do the same amount, or a few do most.",
)
@click.option(
    "--gold",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Number of items with known gold in the table.",
)
@click.option("--truth", metavar="FILE", help="Write the truth of each item here.")
@assumption_options
@write_options
@common_options
def command(
    labels_per_item: str,
    workload: str,
    gold: int,
    truth: str | None,
    assumptions: Assumptions,
    writing: Writing,
) -> None:
    """Make up labels of coders and items as you assume them to be."""
    from typing import cast

    from annomodels.cli.assumptions import numbers_from
    from annomodels.cli.options import Writing as Place
    from annomodels.cli.places import check_file, check_writing
    from annomodels.cli.session import note
    from annomodels.cli.tables import emit
    from annomodels.planning.crowds import Workload
    from annomodels.planning.simulate import simulate

    check_writing(writing)
    if truth is not None:
        check_file(truth, writing.force)
    fewest, most = numbers_from(labels_per_item)
    made = simulate(
        labels_per_item=fewest if fewest == most else (fewest, most),
        workload=cast(Workload, workload),
        gold=gold,
        **assumptions.options(),
    )
    emit(made.to_frame(), writing)
    if truth is not None:
        emit(made.truth_frame(), Place("", truth, writing.force))
    note(f"Made up {made!r}.")
