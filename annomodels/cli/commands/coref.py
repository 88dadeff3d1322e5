"""``annomodels coref``: agreement on chains, ambiguous places, coders, and silver chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.coreference import (
    BY,
    COEFFICIENTS,
    DISTANCES,
    SHORT,
    SILVER_MODELS,
    document_options,
)
from annomodels.cli.options import FORMATS, SEED, Writing, common_options, examples, wide_option

if TYPE_CHECKING:
    from annomodels.coref.agreements import By


@click.command(
    "coref",
    epilog=examples(
        "annomodels coref ana/ ben/ --chain incl- --distance masi",
        "annomodels coref project.zip --by genre",
        "annomodels coref ana=a.conll ben=b.conll -o out",
        "annomodels coref texts/ --fail-if 'pair_kappa.low<0.6'",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option(
    "--chain",
    "chains",
    multiple=True,
    metavar="NAME",
    help="What the label of an expression is: none, partial, incl-, excl-, incl+, excl+, cluster, "
    "cluster-own, cluster-own-observed; may be repeated.  [default: incl-]",
)
@click.option(
    "--distance",
    "distances",
    multiple=True,
    type=click.Choice(DISTANCES),
    help="Between two labels that are sets; may be repeated.  [default: passonneau]",
)
@click.option(
    "--coefficient",
    type=click.Choice(COEFFICIENTS),
    default="alpha",
    show_default=True,
    help="K takes labels as the same or not.",
)
@click.option("--by", type=click.Choice(BY), help="A part of the table for each of them.")
@click.option(
    "--model",
    type=click.Choice(SILVER_MODELS),
    help="Model of the silver chains.  [default: pairs with -o FOLDER, else none]",
)
@click.option(
    "--at-least",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Leave out silver links that are less probable.",
)
@click.option("--singletons", is_flag=True, help="Write silver mentions without a link, too.")
@document_options
@click.option(
    "--draws", type=click.IntRange(min=1), default=1000, show_default=True, help="For intervals."
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of all draws.")
@click.option(
    "--fail-if",
    "gates",
    multiple=True,
    metavar="GATE",
    help="Exit with 1 if the condition holds or is undefined: pair_kappa.low<0.6; may be repeated.",
)
@click.option(
    "-o",
    "--output",
    metavar="PLACE",
    help="A folder for the report and all tables; or, with an ending such as .csv, a file for the "
    "table of agreement.",
)
@click.option("--force", is_flag=True, help="Overwrite outputs that exist.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Of the table of agreement [default: by the ending; drawn on a terminal, else tsv].",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@wide_option
@click.option(
    "--allow-unconverged",
    is_flag=True,
    help="Exit with 0 even if the model of the silver chains cannot be trusted.",
)
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    chains: tuple[str, ...],
    distances: tuple[str, ...],
    coefficient: str,
    by: By | None,
    model: str | None,
    at_least: float,
    singletons: bool,
    draws: int,
    seed: int,
    gates: tuple[str, ...],
    output: str | None,
    force: bool,
    form: str | None,
    as_json: bool,
    wide: bool,
    allow_unconverged: bool,
    reading: dict[str, Any],
) -> None:
    """Give agreement on mentions, coreferent pairs and chains, with 90 % intervals of kappa.

    FILES are files, folders or zip archives in CoNLL-2012, CorefUD, MMAX2, brat, JSON lines or a
    long table of chains; NAME=PATH names the coder of a path. A folder (-o) gets report.html,
    agreement.csv, texts.csv, places.csv, coders.csv, unaligned.csv, and of the silver chains
    links.csv, rates.csv, silver.jsonl and silver.conll.
    """
    from annomodels.cli import coreference as steps
    from annomodels.cli.exits import DONE, GATE, UNTRUSTED
    from annomodels.cli.gate import parse_gates
    from annomodels.cli.places import check_folder, check_writing
    from annomodels.cli.session import note, warn
    from annomodels.cli.tables import emit
    from annomodels.cli.terminal import Stages
    from annomodels.coref.overview import agreement_table

    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} cannot both be used.")
    limits = parse_gates(gates)
    folder = output if output is not None and steps.is_folder(output) else None
    chosen = model or ("pairs" if folder else "none")
    writing = Writing("json" if as_json else form or "", None if folder else output, force, wide)
    names = steps.names_of(chosen)
    if folder:
        check_folder(folder, names, force)
    else:
        check_writing(writing)
        if chosen != "none":
            raise click.UsageError("Silver chains go to a folder: add -o FOLDER.")
    asked = steps.Asked(
        chains or ("incl-",), distances or ("passonneau",), coefficient, draws, seed, at_least
    )
    steps.check_chains(asked.chains)
    documents = steps.load(files, reading)
    steps.say(documents)
    with Stages() as stages:
        stages("measuring agreement", 0.0)
        table = agreement_table(
            documents, asked.chains, asked.distances, coefficient=asked.coefficient,
            by=by, draws=draws, seed=seed,
        )  # fmt: skip
        stages("measuring agreement", 1.0)
    trusted = True
    if folder:
        trusted = steps.write_folder(folder, documents, table, by, chosen, asked, singletons)
    emit(table, writing, "Agreement on coreference", SHORT, level=90)
    for text in dict.fromkeys(table["note"]):
        if text:
            note(f"note: {text}")
    failures = [sentence for limit in limits for sentence in limit.failures(table)]
    for sentence in failures:
        warn(f"gate failed: {sentence}")
    ctx.exit(GATE if failures else DONE if trusted or allow_unconverged else UNTRUSTED)
