"""``annomodels report``: the page to forward."""

from __future__ import annotations

import json
from typing import Any

import click

from annomodels.cli.declared import as_command
from annomodels.cli.loading import drawn_from, estimated, load_fit
from annomodels.cli.options import option
from annomodels.cli.places import PAGE, check_file
from annomodels.cli.session import show_text
from annomodels.cli.tables import to_json
from annomodels.cli.terminal import Stages


@as_command(
    "report fit.nc -o report.html",
    "report fit.nc -o report.html --compare mace.nc",
    "report fit.nc -o report.html --known truth.csv",
)
@option("-o --output", "File for the page.", metavar="FILE", required=True)
@option("--text", "Column with the text of each item, read again.", metavar="COLUMN")
@option(
    "--compare others...",
    "Fit of another model to the same data, to compare with; may be repeated.",
    metavar="FIT",
)
def command(
    fit: str,
    output: str,
    force: bool,
    text: str | None,
    show: tuple[str, ...],
    anonymize: bool,
    target: float | None,
    others: tuple[str, ...],
    known: str | None,
    audit: tuple[str, ...],
    drawn: str | None,
    decisions: str | None,
    as_json: bool,
) -> None:
    """Write the report of FIT as one offline HTML file.

    --gold uses the decisions of an earlier page without another fit: the other labels follow from
    the fit and the decisions.
    """
    from annomodels.cli.jobs import files_of
    from annomodels.cli.shown import again, kept
    from annomodels.io.mappings import decisions_of, entries_of, truths_of
    from annomodels.reporting.anonymous import anonymized
    from annomodels.reporting.facts import Facts
    from annomodels.reporting.page import report

    check_file(output, force, PAGE)
    loaded = load_fit(fit)
    rivals = [load_fit(name) for name in others]
    truths = None if known is None else truths_of(known, loaded.data)
    columns = again(loaded, text, show) if text or show else kept(fit, loaded.data)
    how = drawn_from(drawn, fit, audit)
    answers: Any = audit
    if decisions is not None:
        if audit:
            raise click.UsageError("--gold and --audit cannot both be used.")
        how, answers = {"drawn": "chosen"}, decisions_of(decisions, loaded.data)
        loaded.tree.attrs["decisions"] = json.dumps(entries_of(decisions))
    found = estimated(loaded, answers, how, seed=loaded.seed) if answers else None
    told = "not shown" if anonymize else str(loaded.tree.attrs.get("command", ""))
    shown = anonymized(loaded) if anonymize else loaded
    after = shown if found is None else found.after(shown)
    with Stages() as stages:
        stages("drawing the report")
        files = (
            None if loaded.unsupported("gold") else files_of(Facts(after, target, estimate=found))
        )
        report(
            shown, output, force=force, command=told, target=target, others=rivals, known=truths,
            estimate=found, shown=columns, files=files,
        )  # fmt: skip
    if as_json:
        check = Facts(after, known=truths).check
        facts = {"report": output, "verdict": check.verdict, "sentences": check.sentences}
        show_text(to_json(facts))
    else:
        show_text(f"{output}\n")
