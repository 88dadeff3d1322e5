"""``annomodels coref``: agreement on chains, ambiguous places, coders, and silver chains."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli import coreference as steps
from annomodels.cli.coreference import (
    BY,
    COEFFICIENTS,
    DISTANCES,
    SILVER_MODELS,
    document_options,
)
from annomodels.cli.declared import as_command
from annomodels.cli.exits import DONE, UNTRUSTED
from annomodels.cli.gate import gate_code, gate_failures, parse_gates
from annomodels.cli.options import (
    COUNT,
    SHARE,
    Command,
    Named,
    Writing,
    gathered,
    option,
    table_options,
)
from annomodels.cli.places import check_folder
from annomodels.cli.session import Stages
from annomodels.cli.tables import emit

if TYPE_CHECKING:
    from annomodels.coref.agreements import By


def output_options(command: Command) -> Command:
    place = (
        "Folder for the report and all tables; or, with an ending such as .csv, file for the table."
    )
    options = table_options("table of agreement", place)
    return gathered(command, options, "writing", Writing)


@as_command(
    "coref ana/ ben/ --chain incl- --distance masi",
    "coref project.zip --by genre",
    "coref ana=a.conll ben=b.conll -o out",
    "coref texts/ --fail-if 'pair_kappa.low<0.6'",
)
@click.argument("files", nargs=-1, required=True, type=Named(), metavar="FILES...")
@option(
    "--chain chains...",
    "Label of an expression: none, partial, incl-, excl-, incl+, excl+, cluster, cluster-own, "
    "cluster-own-observed; may be repeated [default: incl-].",
    metavar="NAME",
)
@option(
    "--distance distances...",
    "Distance between two labels that are sets; may be repeated [default: passonneau].",
    DISTANCES,
)
@option("--coefficient", "Coefficient; K does not use a distance.", COEFFICIENTS, "alpha")
@option("--by", "Split the table by document or genre.", BY)
@option(
    "--model",
    "Model of the silver chains [default: pairs with -o FOLDER, else none].",
    SILVER_MODELS,
)
@option("--threshold at_least", "Minimum probability of a silver link.", SHARE, 0.5)
@option("--singletons", "Write silver mentions without a link, too.", bool)
@document_options
@option("--draws", "Number of draws for the intervals.", COUNT, 1000)
@output_options
def command(
    files: tuple[str, ...],
    by: By | None,
    model: str | None,
    singletons: bool,
    seed: int,
    gates: tuple[str, ...],
    reading: dict[str, Any],
    writing: Writing,
    **measures: Any,
) -> int:
    """Measure agreement on mentions, coreferent pairs and chains.

    Intervals have 95 % probability. FILES are files, folders or zip archives in CoNLL-2012,
    CorefUD, MMAX2, brat, JSON lines or a long table of chains; NAME=PATH names the coder of a
    path. A folder (-o) gets report.html,
    agreement.csv, texts.csv, places.csv, coders.csv, unaligned.csv, and of the silver chains
    links.csv, rates.csv, silver.jsonl and silver.conll.
    """
    from annomodels.reporting.links import LinkFacts

    limits = parse_gates(gates)
    folder = writing.output if writing.output and steps.is_folder(writing.output) else None
    chosen = model or ("pairs" if folder else "none")
    if folder:
        check_folder(folder, steps.names_of(chosen), writing.force)
        writing = replace(writing, output=None)
    else:
        writing.check()
        if chosen != "none":
            raise click.UsageError("Silver chains go to a folder: add -o FOLDER.")
    asked = {name: value for name, value in measures.items() if value != ()}
    steps.check_chains(asked.get("chains", ()))
    documents = steps.load(files, reading)
    steps.say(documents)
    with Stages() as stages:
        stages("measuring agreement", 0.0)
        found = LinkFacts(documents, seed=seed, **asked)
        measured = found.agreement if by is None else found.agreement_by(by)
        stages("measuring agreement", 1.0)
    failures = gate_failures(limits, measured.table)
    trusted = True
    if folder:
        trusted = steps.write_folder(folder, found, measured.table, chosen, singletons)
    emit(measured.table, writing, measured.title, measured.columns, level=90, notes=measured.notes)
    return gate_code(failures) or (DONE if trusted else UNTRUSTED)
