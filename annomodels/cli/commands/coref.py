"""``annomodels coref``: agreement on chains, ambiguous places, coders, and silver chains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.declared import Group, as_command, read_key, table_options
from annomodels.cli.exits import DONE, UNTRUSTED, gate_code, gate_failures, parse_gates
from annomodels.cli.loading import named_path
from annomodels.cli.options import (
    COUNT,
    SHARE,
    Named,
    OneOf,
    Writing,
    option,
    options_of,
    pairs,
)
from annomodels.cli.places import check_folder, filled_folder, write_texts
from annomodels.cli.session import Stages, current, note, say_notes, warn
from annomodels.cli.tables import emit, to_text
from annomodels.data.document import Document
from annomodels.data.validation import counted
from annomodels.errors import NotApplicable
from annomodels.io.coref.reading import read

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.coref.agreements import By
    from annomodels.fitting.fit import Fit
    from annomodels.reporting.links import LinkFacts


BY = ("document", "genre")
COEFFICIENTS = ("alpha", "K")
DISTANCES = ("passonneau", "masi", "jaccard", "dice", "nominal", "masi_dkpro")
SILVER_MODELS = ("pairs", "single", "none")
ATTRIBUTES = ("set", "pointer", "category", "head", "near", "dominating")
READ = "conll, corefud, mmax2, brat, inception, jsonlines or chains"
_TABLES = (
    *("report.html", "agreement.csv", "texts.csv", "places.csv", "coders.csv"),
    "unaligned.csv",
)
_SILVER = ("links.csv", "rates.csv", "silver.jsonl", "silver.conll")
_ENDINGS = {".csv", ".tsv", ".json", ".md", ".tex"}


def is_folder(output: str) -> bool:
    """Return True for an existing folder, or a name without the extension of a table."""
    return output != "-" and (Path(output).is_dir() or Path(output).suffix.lower() not in _ENDINGS)


def names_of(model: str) -> tuple[str, ...]:
    return _TABLES if model == "none" else (*_TABLES, *_SILVER)


def check_chains(chains: Sequence[str]) -> None:
    """Refuse unknown conditions before anything is read."""
    from annomodels.coref.conditions import condition_named

    for chain in chains:
        try:
            condition_named(chain)
        except NotApplicable as error:
            raise click.UsageError(f"--chain: {error}") from None


def document_options() -> Group:
    """Return the reading options of FILES."""
    options = options_of(
        read,
        "read",
        ("coder", "label"),
        format={"help": f"{READ}; else detected."},
        crossing={"type": OneOf(("error", "keep"))},
        chain_from={"type": OneOf(("relations", "label"))},
        relations={"metavar": "NAME", "callback": None},
        attributes={
            "multiple": True,
            "metavar": "WHAT=NAME",
            "callback": pairs,
            "help": f"Attribute of MMAX2 markables; WHAT is one of {', '.join(ATTRIBUTES)}.",
        },
        genre={
            "metavar": "PATTERN",
            "help": "Text type from the name of a text: the first group of a regular expression.",
        },
    )
    return Group([*options, read_key], dict[str, Any])


def read_documents(files: Sequence[str], reading: dict[str, Any]) -> list[Document]:
    """Read documents; report the problems of all files at once."""
    named = [named_path(one) for one in files]
    given: Any = [path for _, path in named]
    if any(name for name, _ in named):
        if reading["coder"] is not None or not all(name for name, _ in named):
            raise click.UsageError("Name all coders (ana=a.conll ben=b.conll) or none of them.")
        given = {}
        for name, path in named:
            given.setdefault(name, []).append(path)
    return read(given, **{**reading, "genre": _genre(reading["genre"])})


def _genre(pattern: str | None) -> Any:
    if pattern is None:
        return None
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise click.UsageError(f"--read genre={pattern!r} is not a pattern: {error}.") from None
    if found.groups < 1:
        raise click.UsageError(f"--read genre={pattern!r} has no group: write '(.*)_'.")

    def genre(name: str) -> str | None:
        match = found.search(name)
        return match[1] if match else None

    return genre


def introduce(documents: Sequence[Document]) -> None:
    """Print a summary of the documents and the notes of the reader on stderr."""
    coders = {coder for document in documents for coder in document.layers}
    mentions = sum(len(document.keys) for document in documents)
    sizes = counted(len(documents), "text"), counted(len(coders), "coder")
    note(f"{', '.join(sizes)}, {counted(mentions, 'mention')}")
    alike: dict[str, list[str]] = {}
    for document in documents:
        for text in document.notes:
            alike.setdefault(getattr(text, "code", text), []).append(f"{document.id}: {text}")
    for texts in list(alike.values())[:8]:
        more = f" The same applies, with other numbers, to {counted(len(texts) - 1, 'more text')}."
        note(f"note: {texts[0]}{more if len(texts) > 1 else ''}")
    if len(alike) > 8:
        note(f"note: {counted(len(alike) - 8, 'more note')} of other kinds.")


def write_folder(
    folder: str, found: LinkFacts, table: pd.DataFrame, model: str, singletons: bool
) -> bool:
    """Write all outputs to a temporary folder, then move them; `table` has the agreement."""
    from annomodels.reporting.page import page, write

    with filled_folder(folder) as beside, Stages() as stages:
        fit = None
        if model != "none":
            from annomodels.coref.links import pairs
            from annomodels.fitting.run import fit as fit_model

            stages("drawing silver chains", 0.0)
            fit = fit_model(pairs(found.documents), model, seed=found.seed)
            found.fit = fit
            stages("drawing silver chains", 1.0)
        stages("drawing the report", 0.0)
        posterior = found.posterior
        tables = {
            "agreement.csv": table,
            "texts.csv": table.iloc[:0] if posterior is None else posterior.table,
            "places.csv": found.places,
            "coders.csv": found.coders.table,
            "unaligned.csv": _unaligned(found.documents),
        }
        if fit is not None:
            tables["links.csv"] = fit.links(found.at_least).table
            tables["rates.csv"] = fit.coders().table
            _silver(fit, found, beside, singletons)
        files = {name: to_text(each, "csv") for name, each in tables.items()}
        write_texts(beside, files)
        write(beside / "report.html", page(found, current().command, files))
        stages("drawing the report", 1.0)
    note(f"Wrote {Path(folder) / 'report.html'} and {len(names_of(model)) - 1} tables.")
    if fit is not None and not fit.check():
        warn(fit.check().sentences[0])
        return False
    return True


def _unaligned(documents: Sequence[Document]) -> pd.DataFrame:
    """Return mentions of all texts that some coders marked and others did not."""
    import pandas as pd

    parts = [document.unaligned() for document in documents]
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def _silver(fit: Fit, found: LinkFacts, beside: Path, singletons: bool) -> None:
    from annomodels.coref.links import link_probabilities, silver
    from annomodels.io.coref.writing import to_text

    documents, at_least = found.documents, found.at_least
    chains = silver(fit, documents, at_least)
    known = link_probabilities(fit, documents)
    for form, name in (("jsonlines", "silver.jsonl"), ("conll", "silver.conll")):
        probabilities = known if form == "jsonlines" else None
        text, notes = to_text(
            chains, form, "silver", singletons=singletons, probabilities=probabilities
        )
        write_texts(beside, {name: text})
        say_notes(f"{name}: {sentence}" for sentence in notes)


def output_options() -> Group:
    place = (
        "Folder for the report and all tables; or, with an ending such as .csv, file for the table."
    )
    return table_options("table of agreement", place)


@as_command(
    "coref ana/ ben/ --chain incl- --distance masi",
    "coref project.zip --by genre",
    "coref ana=a.conll ben=b.conll -o out",
    "coref texts/ --fail-if 'pair_kappa.low<0.6'",
    reading=document_options,
    writing=output_options,
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
@option("--draws", "Number of draws for the intervals.", COUNT, 1000)
def coref(
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
    folder = writing.output if writing.output and is_folder(writing.output) else None
    chosen = model or ("pairs" if folder else "none")
    if folder:
        check_folder(folder, names_of(chosen), writing.force)
        writing = replace(writing, output=None)
    else:
        writing.check()
        if chosen != "none":
            raise click.UsageError("Silver chains go to a folder: add -o FOLDER.")
    asked = {name: value for name, value in measures.items() if value != ()}
    check_chains(asked.get("chains", ()))
    documents = read_documents(files, reading)
    introduce(documents)
    with Stages() as stages:
        stages("measuring agreement", 0.0)
        found = LinkFacts(documents, seed=seed, **asked)
        measured = found.agreement if by is None else found.agreement_by(by)
        stages("measuring agreement", 1.0)
    failures = gate_failures(limits, measured.table)
    trusted = True
    if folder:
        trusted = write_folder(folder, found, measured.table, chosen, singletons)
    emit(measured.table, writing, measured.title, measured.columns, level=90, notes=measured.notes)
    return gate_code(failures) or (DONE if trusted else UNTRUSTED)
