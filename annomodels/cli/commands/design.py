"""``annomodels design``: how many coders and labels a study needs."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from annomodels.cli.assumptions import whole_numbers
from annomodels.cli.declared import as_command
from annomodels.cli.options import Named, Writing, option
from annomodels.cli.session import Stages
from annomodels.cli.tables import loaded, show

FREE = ("items", "coders", "seed")  # assumptions that are allowed with a pilot


@as_command(
    "design --target 0.97 --coders 10,20 --assume accuracy=0.85",
    "design pilot --labels-per-item 3,5,8",
    "design --of alpha --target 0.1 --items 200,400,800",
)
@click.argument("fit", required=False, type=Named())
@option(
    "--target",
    "Share of right gold labels to reach [default: 0.95], or width of alpha's interval [0.1].",
    click.FloatRange(min=0, min_open=True),
)
@option("--of", "Quantity that the target is for.", ("gold", "alpha"), "gold")
@option(
    "--labels-per-item",
    "Numbers of labels per item to try.",
    default="1,2,3,5,7,10",
    callback=whole_numbers,
)
@option("--replications", "Simulated studies per design.", click.IntRange(min=2), 30)
def command(fit: str | None, assumptions: dict[str, Any], writing: Writing, **asked: Any) -> None:
    """Find how many coders and labels reach a target.

    --items and --coders take several numbers to try: 10,20.
    """
    from annomodels.planning.design import design

    source, default = click.get_current_context().get_parameter_source, ParameterSource.DEFAULT
    given = {name for name in (*assumptions, "spread") if source(name) is not default}
    pilot = None
    if fit is not None:
        if clash := sorted(given - set(FREE)):
            raise click.UsageError(
                f"The pilot already sets {', '.join(clash)}: leave that out, or plan without it."
            )
        assumptions = {name: assumptions[name] for name in {"seed", *given}}
        pilot = loaded(fit)
    with Stages() as stages:
        found = design(pilot, progress=stages, **asked, **assumptions)
    show(found, writing)
