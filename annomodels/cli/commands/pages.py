"""Folders and pages: ``annomodels run`` and ``annomodels report``."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import click

from annomodels.cli.declared import as_command
from annomodels.cli.loading import (
    estimated,
    joined,
    load_fit,
    several,
    sorted_truth,
    with_truth_column,
)
from annomodels.cli.options import Job, Truth, Writing, option
from annomodels.cli.places import PAGE, check_file, default_folder
from annomodels.cli.session import Stages, current, note, show_text
from annomodels.cli.tables import emit_text, loaded, note_audit, to_json


@as_command(
    "run votes.csv",
    "run votes.csv -o out --item sentence --coder worker --target 0.8",
    "run votes.csv -o out --truth truth.csv --use test",
    "run votes.csv -o out --force --truth audit.csv",
    "run votes.csv -o out --text sentence --show genre,source",
    "run votes.csv -o decided --truth decisions.csv",
    "run dataset:anesthesia -o out --force",
    "run batch.csv -o out --question '*'",
    "run votes.csv -o mace --model mace --no-report",
    "run coding.xlsx -o out --question 'stage_*' --scale 'stage_*=ordinal'",
    "run labels --stream -o out --cache sorted",
)
@option(
    "-o --output",
    "Folder for the outputs [default: NAME-out].",
    metavar="FOLDER",
    callback=lambda ctx, param, value: value or "",  # an explicit name is never empty
)
@option("--no-report", "Do not draw report.html.", bool, section="writing")
@option(
    "--prior-from earlier",
    "Earlier fit that sets the model and the prior of classes and coders.",
    metavar="FIT",
    section="sampling",
)
def run(job: Job) -> int:
    """Analyze DATA and write a folder with report and tables.

    The command checks DATA, computes agreement and fits a model. The folder gets report.html,
    gold.csv, coders.csv, agreement.csv, next.csv, fit.nc and methods.md. The path of
    the report and the verdict on the inference are printed.
    Several questions are never mixed: choose one (--question), or analyze several (--question with
    a pattern such as 'stage_*', or '*' for all), each in a separate folder, linked from index.html.
    With an audit (--truth audit.csv) the folder also gets estimate.csv, gold.csv has the audited
    labels, and the page shows the audited numbers first; fit.nc is the fit before the audit.
    With --stream the gold labels are in gold.parquet, P(truth) in truth/ and the verdict in
    about.json; agreement.csv needs the labels in memory.
    """
    from annomodels.cli.jobs import each_question, one_question, refuse_the_rest, refused, told
    from annomodels.scale.files import is_large

    if job.no_report and job.show:
        raise click.UsageError("--show is used in the report: leave out --no-report.")
    if not job.output:
        job = replace(job, output=default_folder(job.data))
        current().command += f" -o {shlex.quote(job.output)}"  # as the page and methods.md show it
    job = with_truth_column(job)
    if job.earlier is not None and (job.stream or several(job.reading)):
        remedy = "leave out --stream" if job.stream else "choose it with --question"
        raise click.UsageError(f"--prior-from needs one question in memory: {remedy}.")
    if not (job.stream or job.earlier or refused(job)) and is_large(job.data):
        job = replace(job, stream=True)
        note("The labels are many, so they are fitted block by block, as with --stream.")
    if job.stream:
        refuse_the_rest(job)
    elif job.cache is not None:
        raise click.UsageError("--cache needs --stream.")
    if several(job.reading):
        main_file, outcomes, left_out = each_question(job)
        questions = {outcome.question: outcome.facts for outcome in outcomes}
        facts = {"index": main_file, "questions": questions, "left_out": left_out}
        told(job, facts, main_file)
    else:
        outcomes = [one_question(job, job.output)]
        told(job, outcomes[0].facts, outcomes[0].text)
    return max(outcome.code for outcome in outcomes)


@as_command(
    "report out -o report.html",
    "report out -o report.html --compare mace",
    "report out -o report.html --truth truth.csv --use test",
    "report out --methods methods.tex",
)
@option("-o --output", "File for the page.", metavar="FILE")
@option("--text", "Column with the text of each item; the file is read again.", metavar="COLUMN")
@option(
    "--compare others...",
    "Fit of another model to the same data, to compare with; may be repeated.",
    metavar="FIT",
)
def report(
    fit: str,
    output: str | None,
    force: bool,
    paper: str | None,
    text: str | None,
    show: tuple[str, ...],
    anonymize: bool,
    target: float | None,
    others: tuple[str, ...],
    true_labels: Truth,
    as_json: bool,
) -> None:
    """Write the report of FIT, or a methods section.

    The report is one offline HTML file. The methods section covers data, agreement, model,
    inference and results with intervals, with its sources and a table of the agreement
    coefficients; its file is .md (or - for stdout), .tex (natbib, booktabs) or .bib (the entries).
    With --truth decisions.csv of an earlier page, there is no other fit: the other labels follow
    from the fit and the decisions.
    """
    from annomodels.auditing.spans import is_of_spans
    from annomodels.cli.jobs import again, files_of, kept
    from annomodels.cli.spans import files_of as files_of_spans
    from annomodels.io.mappings import decisions_of, entries_of, truths_of
    from annomodels.reporting.anonymous import anonymized
    from annomodels.reporting.facts import Facts
    from annomodels.reporting.page import page, write
    from annomodels.reporting.spans import SpanFacts

    if output is None and paper is None:
        raise click.UsageError("Name the file of the page with -o, or of the methods section.")
    if output is not None:
        check_file(output, force, PAGE)
    if paper is not None:
        write_methods(fit, paper, force)
    if output is None:
        return
    of = load_fit(fit)
    if not true_labels.paths:  # else the page may be from after the audit, too
        note_audit(fit)
    if is_of_spans(of):
        if others or true_labels.paths or show or text or anonymize or target is not None:
            raise click.UsageError("A page on spans supports only -o and --force.")
        spans = SpanFacts(of)
        command = str(of.tree.attrs.get("command", ""))
        write(Path(output), page(spans, command, files_of_spans(spans, False)))
        show_text(to_json({"report": output}) if as_json else f"{output}\n")
        return
    rivals = [load_fit(name) for name in others]
    given = sorted_truth(true_labels, fit)
    truths = joined(given.test, of.data, truths_of) if given.test else None
    columns = again(of, text, show) if text or show else kept(fit, of.data)
    # The page's own command repeats the run with these audits, too. It needs no --use, which would
    # change what the other files of the run are for.
    of.tree.attrs["audits"] = shlex.join(word for path in given.audit for word in ("--truth", path))
    how, answers = dict(given.how), cast("Any", given.audit)
    if given.fit:
        if given.audit:
            what = "A page without another fit uses an audit or decisions, not both."
            raise click.UsageError(f"{what} annomodels run uses both.")
        how, answers = {"use": "fit"}, joined(given.fit, of.data, decisions_of)
        of.tree.attrs["decisions"] = json.dumps(
            [each for path in given.fit for each in entries_of(path, of.data)]
        )
    found = estimated(of, answers, how, seed=of.seed) if answers else None
    told = "not shown" if anonymize else str(of.tree.attrs.get("command", ""))
    shown = anonymized(of) if anonymize else of
    after = shown if found is None else found.after(shown)
    about = Facts(after, target, others=rivals, known=truths, estimate=found, shown=columns)
    with Stages() as stages:
        stages("drawing the report")
        files = None if of.unsupported("gold") else files_of(about)
        write(Path(output), page(about, told, files))
    if as_json:
        check = about.check
        facts = {"report": output, "verdict": check.verdict, "sentences": check.sentences}
        show_text(to_json(facts))
    else:
        show_text(f"{output}\n")


def write_methods(fit: str, path: str, force: bool) -> None:
    """Write the methods section of a fit in the form of the file extension."""
    from annomodels.reporting.methods import bibtex, methods, methods_latex

    ending = "" if path == "-" else Path(path).suffix.lower()
    writing = Writing("md", path, force).check(".md", ".tex", ".bib")
    found = loaded(fit)
    command = str(found.tree.attrs.get("command", ""))
    if ending == ".bib":
        emit_text(bibtex(found), writing)
    else:
        emit_text((methods_latex if ending == ".tex" else methods)(found, command), writing)
