"""``annomodels next``: which labels to ask for next, and by whom."""

from __future__ import annotations

import click

from annomodels.cli.options import Writing, common_options, examples, split_words, write_options


@click.command(
    "next",
    epilog=examples(
        "annomodels next fit.nc --budget 500 -o next.csv",
        "annomodels next fit.nc --coders ana,ben --per-item 2",
        "annomodels next fit.nc --whom",
    ),
)
@click.argument("fit")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Most labels to ask for.",
)
@click.option(
    "--by",
    type=click.Choice(["gold", "bits"]),
    default="gold",
    show_default=True,
    help="What labels should reduce: expected wrong gold labels, or uncertainty about the truth.",
)
@click.option(
    "--coders",
    callback=split_words,
    help="Coders who are available: ana,ben [default: all who are good enough, and new ones].",
)
@click.option(
    "--per-item",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Most labels of one item.",
)
@click.option(
    "--per-coder",
    type=click.IntRange(min=1),
    help="Most labels to ask of one coder [default: as many as the busiest has given].",
)
@click.option(
    "--stop",
    type=click.FloatRange(min=0),
    default=0.01,
    show_default=True,
    help="Gain per label below which labels do not pay.",
)
@click.option("--whom", is_flag=True, help="One row per coder instead: whom to ask, whom to train.")
@write_options
@common_options
def command(
    fit: str,
    budget: int,
    by: str,
    coders: tuple[str, ...] | None,
    per_item: int,
    per_coder: int | None,
    stop: float,
    whom: bool,
    writing: Writing,
) -> None:
    """Say which items of FIT to label next, by whom, and when to stop."""
    from typing import cast

    from annomodels.cli.places import check_writing
    from annomodels.cli.session import note
    from annomodels.cli.tables import emit, loaded
    from annomodels.data.names import label_text
    from annomodels.summaries.next.gains import By
    from annomodels.summaries.next.next_labels import WHOM

    check_writing(writing)
    found = loaded(fit)
    names = {label_text(name): name for name in found.data.coders}
    chosen = None if coders is None else [names.get(word, word) for word in coders]
    asked = found.next(
        budget, cast(By, by), coders=chosen, per_item=per_item, per_coder=per_coder, stop=stop
    )
    if whom:
        emit(asked.coders, writing, "Whom to ask", WHOM)
    else:
        emit(asked.table, writing, asked.title, asked.columns)
    for text in asked.notes:
        note(f"note: {text}")
