"""``annomodels simulate``: simulated data for planning and experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.assumptions import numbers_from
from annomodels.cli.declared import as_command
from annomodels.cli.keys import key_of
from annomodels.cli.options import OneOf, Writing, option
from annomodels.cli.session import note
from annomodels.cli.tables import emit

if TYPE_CHECKING:
    from annomodels.planning.simulate import Workload


@as_command(
    "simulate --items 300 --coders 20 --labels neg,neu,pos -o votes.csv",
    "simulate --assume spammers=0.2 --assume ambiguous=0.1 --truth truth.csv -o votes.csv",
    "simulate | annomodels check -",
)
@option(
    "--labels-per-item",
    "Labels per item: a number, or a range (2-6).",
    default="5",
    metavar="N[-M]",
)
@key_of(
    "assume",
    "workload",
    help="Distribution of the work: all coders do the same amount, or a few do most.",
    type=OneOf(("even", "long-tailed")),
    default="even",
)
@key_of(
    "assume",
    "gold",
    help="Number of items with known gold in the table.",
    type=click.IntRange(min=0),
    default=0,
)
@option("--truth", "File for the true label of each item.", metavar="FILE")
def command(
    labels_per_item: str,
    workload: Workload,
    gold: int,
    truth: str | None,
    assumptions: dict[str, Any],
    writing: Writing,
) -> None:
    """Simulate labels of items and coders with given properties."""
    from annomodels.planning.simulate import simulate

    answers = Writing("", truth, writing.force).check()
    fewest, most = numbers_from(labels_per_item)
    for name in ("items", "coders"):
        if len(assumptions[name]) > 1:
            raise click.UsageError(f"--{name}: give one number.")
        (assumptions[name],) = assumptions[name]
    made = simulate(
        labels_per_item=fewest if fewest == most else (fewest, most),
        workload=workload,
        gold=gold,
        **assumptions,
    )
    emit(made.to_frame(), writing)
    if truth is not None:
        emit(made.truth_frame(), answers)
    note(f"Simulated {made!r}.")
