"""``annomodels compare``: predictions of several saved fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from annomodels.cli.declared import as_command
from annomodels.cli.options import Named, Writing, option
from annomodels.cli.tables import loaded, show

if TYPE_CHECKING:
    from annomodels.summaries.trust.held_out import By


@as_command("compare hierarchical.nc mace.nc", "compare a.nc b.nc c.nc --by label -o models.csv")
@click.argument("fits", metavar="FIT FIT...", nargs=-1, required=True, type=Named())
@option(
    "--by",
    "What is left out: new items, or one more label of a known item.",
    ("item", "label"),
    "item",
)
def command(fits: tuple[str, ...], by: By, writing: Writing) -> None:
    """Compare fits by their predictions of held-out data."""
    from pathlib import Path

    from annomodels.fitting.compare import compare

    if len(fits) < 2:
        raise click.UsageError("compare needs at least two fits: annomodels compare a.nc b.nc")
    if len(set(fits)) < len(fits):
        raise click.UsageError("The same file is given twice.")
    stems = [Path(path).stem for path in fits]
    names = stems if len(set(stems)) == len(stems) else list(fits)
    show(compare(dict(zip(names, map(loaded, fits), strict=True)), by), writing)
