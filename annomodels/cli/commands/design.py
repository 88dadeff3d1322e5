"""``annomodels design``: how many coders and labels a study needs."""

from __future__ import annotations

import click

from annomodels.cli.assumptions import Assumptions, assumption_options
from annomodels.cli.options import Writing, common_options, examples, split_words, write_options

FREE = ("items", "coders", "seed")  # assumptions that go together with a pilot


@click.command(
    "design",
    epilog=examples(
        "annomodels design --target .97 --coders 10,20 --accuracy .85",
        "annomodels design pilot.nc --labels-per-item 3,5,8",
        "annomodels design --of alpha --target .1 --items 200,400,800",
    ),
)
@click.argument("fit", required=False)
@click.option(
    "--target",
    type=click.FloatRange(min=0, min_open=True),
    help="Share of right gold labels to reach [default: .95], or width of alpha's interval [.1].",
)
@click.option(
    "--of",
    type=click.Choice(["gold", "alpha"]),
    default="gold",
    show_default=True,
    help="What the target is about.",
)
@click.option(
    "--labels-per-item",
    callback=split_words,
    default="1,2,3,5,7,10",
    show_default=True,
    help="Numbers to try.",
)
@click.option(
    "--replications",
    type=click.IntRange(min=2),
    default=30,
    show_default=True,
    help="Made-up studies for each design.",
)
@assumption_options
@write_options
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    fit: str | None,
    target: float | None,
    of: str,
    labels_per_item: tuple[str, ...],
    replications: int,
    assumptions: Assumptions,
    writing: Writing,
) -> None:
    """Find how many coders and labels per item reach a target, from assumptions or a pilot FIT.

    --items and --coders take several numbers to try: 10,20.
    """
    from typing import Any, cast

    from annomodels.cli.assumptions import whole_numbers
    from annomodels.cli.places import check_writing
    from annomodels.cli.session import note
    from annomodels.cli.tables import emit, loaded
    from annomodels.cli.terminal import Stages
    from annomodels.planning.design import Of, design

    check_writing(writing)
    given = {
        name
        for name in Assumptions.__annotations__
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }
    pilot, options = None, cast(dict[str, Any], {})
    if fit is None:
        options = assumptions.shared() | {
            "items": whole_numbers(assumptions.items, "--items"),
            "coders": whole_numbers(assumptions.coders, "--coders"),
        }
    else:
        if clash := sorted(given - set(FREE)):
            raise click.UsageError(
                f"The pilot already sets {', '.join(f'--{name}' for name in clash)}: leave that "
                "out, or plan without it."
            )
        options = {
            name: whole_numbers(getattr(assumptions, name), f"--{name}")
            for name in ("items", "coders")
            if name in given
        } | {"seed": assumptions.seed}
        pilot = loaded(fit)
    with Stages() as stages:
        found = design(
            pilot,
            target=target,
            of=cast(Of, of),
            labels_per_item=whole_numbers(labels_per_item, "--labels-per-item"),
            replications=replications,
            progress=stages,
            **options,
        )
    emit(found.table, writing, found.title, found.columns)
    for text in found.notes:
        note(f"note: {text}")
