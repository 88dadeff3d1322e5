"""``annomodels compare``: which of several saved fits predicts best."""

from __future__ import annotations

import click

from annomodels.cli.options import Writing, common_options, examples, write_options


@click.command(
    "compare",
    epilog=examples(
        "annomodels compare hierarchical.nc mace.nc",
        "annomodels compare a.nc b.nc c.nc --by label -o models.csv",
    ),
)
@click.argument("fits", metavar="FIT FIT...", nargs=-1, required=True)
@click.option(
    "--by",
    type=click.Choice(["item", "label"]),
    default="item",
    show_default=True,
    help="What is left out: new items, or one more label of a known item.",
)
@write_options
@common_options
def command(fits: tuple[str, ...], by: str, writing: Writing) -> None:
    """Compare fits of different models to the same data by their predictions of held-out data."""
    from pathlib import Path
    from typing import cast

    from annomodels.cli.places import check_writing
    from annomodels.cli.session import note
    from annomodels.cli.tables import emit, loaded
    from annomodels.fitting.compare import compare
    from annomodels.summaries.trust.held_out import By

    if len(fits) < 2:
        raise click.UsageError("compare needs two fits or more: annomodels compare a.nc b.nc")
    if len(set(fits)) < len(fits):
        raise click.UsageError("The same file is given twice.")
    check_writing(writing)
    stems = [Path(path).stem for path in fits]
    names = stems if len(set(stems)) == len(stems) else list(fits)
    summary = compare(dict(zip(names, map(loaded, fits), strict=True)), cast(By, by))
    emit(summary.table, writing, summary.title, summary.columns)
    for text in summary.notes:
        note(f"note: {text}")
