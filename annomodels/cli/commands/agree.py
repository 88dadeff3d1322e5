"""``annomodels agree``: agreement coefficients, their parts, a diagnosis, and quality gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from annomodels.cli.breakdown import BY, DEFAULT, coefficient_names, parts_table
from annomodels.cli.breakdown import SHORT as SHORT_BY
from annomodels.cli.loading import data_argument
from annomodels.cli.options import (
    Reading,
    Writing,
    common_options,
    examples,
    read_options,
    write_options,
)

if TYPE_CHECKING:
    import pandas as pd

SHORT = ("title", "value", "low", "high", "observed", "expected", "n", "p_above_667", "p_above_800")


@click.command(
    "agree",
    epilog=examples(
        "annomodels agree votes.csv",
        "annomodels agree votes.csv --scale ordinal --labels low,mid,high --by coder",
        "annomodels agree votes.csv --diagnose",
        "annomodels agree coding.xlsx --item article --every-question --coefficient alpha",
        "annomodels agree links.csv --by document --coefficient kappa --positive link",
        "annomodels agree votes.csv --fail-if 'alpha<0.667' --fail-if 'alpha.low<0.5'",
    ),
)
@data_argument
@click.option(
    "--coefficient",
    "asked",
    multiple=True,
    metavar="NAME",
    help="Which coefficient; may be repeated. Default: a panel; with --by, percent and alpha.",
)
@click.option(
    "--by",
    type=click.Choice(BY),
    help="Each document, each label against the rest, each item, each coder against the others "
    "(and the data without them), or each pair of coders.",
)
@click.option(
    "--positive",
    metavar="LABEL",
    help="With --by document: 1 where no coder used LABEL, 0 where only one did.",
)
@click.option(
    "--diagnose",
    is_flag=True,
    help="Show which label pairs, items and coders cause the disagreement, and why.",
)
@click.option(
    "--every-question",
    is_flag=True,
    help="Analyse each question or variable of DATA separately, in one table.",
)
@click.option(
    "--fail-if",
    "gates",
    multiple=True,
    metavar="GATE",
    help="Exit with 1 if the condition holds or is undefined: "
    "alpha<0.667, kappa.low<=0.5; may be repeated.",
)
@read_options
@write_options
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    data: str,
    asked: tuple[str, ...],
    by: str | None,
    positive: str | None,
    diagnose: bool,
    every_question: bool,
    gates: tuple[str, ...],
    reading: Reading,
    writing: Writing,
) -> None:
    """Give the agreement coefficients of DATA with 95 % intervals.

    Nothing is hidden: what is undefined stands there with the reason why. The coefficients that
    the fitted model implies stand in agreement.csv of `annomodels run`.
    """
    from annomodels.cli.exits import DONE, GATE
    from annomodels.cli.gate import parse_gates
    from annomodels.cli.places import check_writing
    from annomodels.cli.session import warn

    limits = parse_gates(gates)
    _check(by, positive, diagnose, every_question, asked)
    check_writing(writing)
    gated = [limit.name for limit in limits]
    names = coefficient_names(asked, gated, DEFAULT if by else ())
    if every_question:
        table = _each_question(data, names if asked else None, reading, writing)
    else:
        table = _one(data, names, asked, by, positive, diagnose, reading, writing)
    failures = [sentence for limit in limits for sentence in limit.failures(table)]
    for sentence in failures:
        warn(f"gate failed: {sentence}")
    ctx.exit(GATE if failures else DONE)


def _one(
    data: str,
    names: list[str],
    asked: tuple[str, ...],
    by: str | None,
    positive: str | None,
    diagnose: bool,
    reading: Reading,
    writing: Writing,
) -> pd.DataFrame:
    """Write the table of one question."""
    from annomodels.cli.breakdown import show_diagnosis
    from annomodels.cli.loading import load_data, say_notes
    from annomodels.cli.session import note
    from annomodels.cli.tables import emit
    from annomodels.cli.terminal import Stages
    from annomodels.coefficients.agreement import agreement

    labels = load_data(data, reading)
    note(repr(labels))
    say_notes(labels)
    if diagnose:
        return show_diagnosis(labels, asked[0] if asked else "alpha", writing)
    if by is not None:
        with Stages() as stages:
            table = parts_table(labels, by, names, positive, stages)
        part = table.columns[: list(table.columns).index("coefficient") + 1]
        emit(table, writing, f"Agreement by {by}", (*part, *SHORT_BY[by]))
        return table
    panel = agreement(labels, names if asked else None)
    emit(panel.table, writing, "Agreement", SHORT)
    _say(panel.table, panel.notes, writing)
    return panel.table


def _each_question(
    data: str, names: list[str] | None, reading: Reading, writing: Writing
) -> pd.DataFrame:
    """Write one table with the coefficients of every question."""
    import pandas as pd

    from annomodels.cli.jobs import questions_of
    from annomodels.cli.loading import load_data, say_notes
    from annomodels.cli.session import note
    from annomodels.cli.tables import emit
    from annomodels.coefficients.agreement import agreement

    tables: list[pd.DataFrame] = []
    notes: dict[str, None] = {}
    for question in questions_of(data, reading):
        labels = load_data(data, {**reading, "question": question})
        note(f"{question}: {labels!r}")
        say_notes(labels)
        panel = agreement(labels, names)
        part = panel.table.copy()
        part.insert(0, "question", question)
        tables.append(part)
        notes.update(dict.fromkeys(panel.notes))
    table = pd.concat(tables, ignore_index=True)
    emit(table, writing, "Agreement by question", ("question", *SHORT))
    _say(table, list(notes), writing)
    return table


def _say(table: pd.DataFrame, notes: Sequence[str], writing: Writing) -> None:
    """Say what a drawn table has no room for, and what goes for all of it."""
    from annomodels.cli.session import note
    from annomodels.cli.tables import form_of

    if form_of(writing) == "table":
        for title, why in dict.fromkeys(zip(table["title"], table["note"], strict=True)):
            if why:
                note(f"{title}: {why}")
    for text in notes:
        note(f"note: {text}")


def _check(
    by: str | None,
    positive: str | None,
    diagnose: bool,
    every_question: bool,
    asked: tuple[str, ...],
) -> None:
    """Refuse options that do not go together.

    Raises
    ------
    click.UsageError
        With what to do instead.
    """
    if diagnose and by:
        raise click.UsageError("--diagnose and --by make different tables: use one at a time.")
    if every_question and (diagnose or by):
        raise click.UsageError(
            "--every-question gives one table of coefficients: choose a --question for "
            "--by or --diagnose."
        )
    if diagnose and len(asked) > 1:
        raise click.UsageError("--diagnose explains one coefficient: give --coefficient once.")
    if positive is not None and by not in ("document", "group"):
        raise click.UsageError("--positive belongs to --by document.")
