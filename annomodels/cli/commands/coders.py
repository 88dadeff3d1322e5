"""``annomodels coders``: the quality of each coder."""

from __future__ import annotations

import click

from annomodels.cli.options import Writing, common_options, examples, write_options

__all__ = ["command"]

SHORT = ("coder", "n", "accuracy", "accuracy_low", "accuracy_high", "skill", "bits", "kind", "bias")


@click.command("coders", epilog=examples("annomodels coders fit.nc --target .8 -o coders.csv"))
@click.argument("fit")
@click.option(
    "--target",
    type=click.FloatRange(0, 1),
    help="Accuracy a coder should reach; adds the probability of being below it.",
)
@write_options
@common_options
def command(fit: str, target: float | None, writing: Writing) -> None:
    """Give the quality of each coder of FIT with 95 % intervals."""
    from annomodels.cli.places import check_writing
    from annomodels.cli.summary import show

    check_writing(writing)
    show(fit, lambda loaded: loaded.coders(target=target), writing, SHORT)
