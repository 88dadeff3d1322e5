"""``annomodels agree``: agreement coefficients with intervals, and quality gates."""

from __future__ import annotations

import click

from annomodels.cli.options import (
    Reading,
    Writing,
    common_options,
    examples,
    read_options,
    write_options,
)

__all__ = ["command"]

SHORT = ("title", "value", "low", "high", "observed", "expected", "n", "p_above_667", "p_above_800")


@click.command(
    "agree",
    epilog=examples(
        "annomodels agree votes.csv",
        "annomodels agree votes.csv --scale ordinal --labels low,mid,high --by coder",
        "annomodels agree votes.csv --fail-if 'alpha<0.667' --fail-if 'alpha.low<0.5'",
    ),
)
@click.argument("data")
@click.option(
    "--by",
    type=click.Choice(("document", "label", "coder", "pair")),
    help="Coefficients of each document, of each label against the others, without each coder, "
    "or of each pair of coders.",
)
@click.option(
    "--fail-if",
    "gates",
    multiple=True,
    metavar="GATE",
    help="Exit with 1 if it holds or is undefined: alpha<0.667, kappa.low<=0.5; may be repeated.",
)
@read_options
@write_options
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    data: str,
    by: str | None,
    gates: tuple[str, ...],
    reading: Reading,
    writing: Writing,
) -> None:
    """Give the agreement coefficients of DATA with 95 % intervals.

    Nothing is hidden: what is undefined stands there with the reason why. The coefficients that
    the fitted model implies stand in agreement.csv of `annomodels run`.
    """
    import pandas as pd

    from annomodels.cli.breakdown import parts
    from annomodels.cli.exits import DONE, GATE
    from annomodels.cli.gate import parse_gates
    from annomodels.cli.loading import load_data, say_notes
    from annomodels.cli.places import check_writing
    from annomodels.cli.session import note, warn
    from annomodels.cli.tables import emit, form_of
    from annomodels.cli.terminal import Stages
    from annomodels.coefficients.agreement import agreement

    limits = parse_gates(gates)
    check_writing(writing)
    labels = load_data(data, reading)
    note(repr(labels))
    say_notes(labels)
    if by is None:
        panel = agreement(labels)
        table = panel.table
        names: tuple[str, ...] = ()
        notes = panel.notes
    else:
        tables = []
        split = parts(labels, by)
        with Stages() as stages:
            for number, (keys, part) in enumerate(split):
                stages(f"agreement by {by}", number / len(split))
                one = agreement(part).table
                for place, (name, value) in enumerate(keys.items()):
                    one.insert(place, name, str(value))
                tables.append(one)
        table = pd.concat(tables, ignore_index=True)
        names, notes = tuple(split[0][0]), ()
    emit(table, writing, "Agreement", (*names, *SHORT))
    if form_of(writing) == "table":
        for title, why in dict.fromkeys(zip(table["title"], table["note"], strict=True)):
            if why:
                note(f"{title}: {why}")
    for text in notes:
        note(f"note: {text}")
    failures = [sentence for limit in limits for sentence in limit.failures(table)]
    for sentence in failures:
        warn(f"gate failed: {sentence}")
    ctx.exit(GATE if failures else DONE)
