"""``annomodels audit``: items for somebody who knows to judge."""

from __future__ import annotations

import click

from annomodels.cli.options import Writing, common_options, examples, write_options


@click.command(
    "audit",
    epilog=examples(
        "annomodels audit out --size 60 -o audit.csv",
        "annomodels audit out --width .1 -o audit.csv",
        "annomodels estimate out --audit audit.csv",
    ),
)
@click.argument("fit")
@click.option("--size", type=click.IntRange(min=1), help="How many items to draw [default: 60].")
@click.option(
    "--width",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Instead of a size: how wide the 95 % interval of the accuracy may be, .1 for ten "
    "percentage points.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="The same seed draws the same items.",
)
@click.option("--among", metavar="FILE", help="Draw from these items only: a table with them.")
@click.option(
    "--afresh", is_flag=True, help="Forget what was drawn of this fit before, and begin anew."
)
@write_options
@common_options
def command(
    fit: str,
    size: int | None,
    width: float | None,
    seed: int,
    among: str | None,
    afresh: bool,
    writing: Writing,
) -> None:
    """Draw items of FIT at random for somebody who knows to judge.

    FIT is a saved fit or the folder of a run. The table has the items and an empty column for the
    label, and nothing that tells what the model thinks. How they were drawn is kept beside the fit
    (audit.json), where `annomodels estimate` finds it. Called again, the command draws a further
    round of other items.
    """
    from annomodels.auditing.sample import audit
    from annomodels.cli.auditing import design_of
    from annomodels.cli.loading import load_fit
    from annomodels.cli.places import check_writing
    from annomodels.cli.session import note
    from annomodels.cli.tables import emit
    from annomodels.io.mappings import items_from

    check_writing(writing)
    found, place = load_fit(fit), design_of(fit)
    earlier = place if place.is_file() and not afresh else None
    chosen = None if among is None else items_from(among)
    drawn = audit(found, size, width=width, seed=seed, among=chosen, earlier=earlier)
    emit(drawn.table, writing, "To be judged")
    # after the table: a design of items that nobody got would spoil the next round
    drawn.save(place, force=True)
    if earlier is not None:
        note(f"This is round {len(drawn.design.rounds)}; its items were not drawn before.")
    for text in drawn.notes:
        note(f"note: {text}")
    note(f"How the items were drawn is kept in {place}.")
