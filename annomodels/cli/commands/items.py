"""``annomodels items``: easy, hard and contested items."""

from __future__ import annotations

import click

from annomodels.cli.options import Writing, common_options, examples, write_options

__all__ = ["command"]

SHORT = ("item", "n", "label", "probability", "entropy", "disagreement", "quadrant", "reason")


@click.command("items", epilog=examples("annomodels items fit.nc -o items.csv"))
@click.argument("fit")
@write_options
@common_options
def command(fit: str, writing: Writing) -> None:
    """Say of each item of FIT whether it is easy, hard, contested or in need of labels."""
    from annomodels.cli.places import check_writing
    from annomodels.cli.summary import show

    check_writing(writing)
    show(fit, lambda loaded: loaded.items(), writing, SHORT)
