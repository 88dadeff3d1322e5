"""``annomodels report``: the report page and the methods section."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any, cast

import click

from annomodels.cli.declared import as_command
from annomodels.cli.loading import estimated, load_fit
from annomodels.cli.options import Truth, Writing, option
from annomodels.cli.places import PAGE, check_file
from annomodels.cli.session import Stages, show_text
from annomodels.cli.tables import emit_text, loaded, note_audit, to_json


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
def command(
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
    from annomodels.cli.loading import joined, sorted_truth
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
