"""``annomodels report``: the page to forward."""

from __future__ import annotations

import json
from typing import Any, cast

import click

from annomodels.cli.declared import as_command
from annomodels.cli.loading import estimated, load_fit
from annomodels.cli.options import Truth, option
from annomodels.cli.places import PAGE, check_file
from annomodels.cli.session import show_text
from annomodels.cli.tables import to_json
from annomodels.cli.terminal import Stages


@as_command(
    "report fit.nc -o report.html",
    "report fit.nc -o report.html --compare mace.nc",
    "report fit.nc -o report.html --truth truth.csv --use test",
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
    true_labels: Truth,
    as_json: bool,
) -> None:
    """Write the report of FIT as one offline HTML file.

    With --truth decisions.csv of an earlier page, there is no other fit: the other labels follow
    from the fit and the decisions.
    """
    from annomodels.cli.jobs import files_of
    from annomodels.cli.loading import joined, sorted_truth
    from annomodels.cli.shown import again, kept
    from annomodels.io.mappings import decisions_of, entries_of, truths_of
    from annomodels.reporting.anonymous import anonymized
    from annomodels.reporting.facts import Facts
    from annomodels.reporting.page import report

    check_file(output, force, PAGE)
    loaded = load_fit(fit)
    rivals = [load_fit(name) for name in others]
    given = sorted_truth(true_labels, fit)
    truths = joined(given.test, loaded.data, truths_of) if given.test else None
    columns = again(loaded, text, show) if text or show else kept(fit, loaded.data)
    how, answers = dict(given.how), cast("Any", given.audit)
    if given.fit:
        if given.audit:
            what = "A page without another fit uses an audit or decisions, not both."
            raise click.UsageError(f"{what} annomodels run uses both.")
        how, answers = {"use": "fit"}, joined(given.fit, loaded.data, decisions_of)
        loaded.tree.attrs["decisions"] = json.dumps(
            [each for path in given.fit for each in entries_of(path, loaded.data)]
        )
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
            shown, output, force=force, command=told, target=target, others=rivals, truth=truths,
            estimate=found, shown=columns, files=files,
        )  # fmt: skip
    if as_json:
        check = Facts(after, known=truths).check
        facts = {"report": output, "verdict": check.verdict, "sentences": check.sentences}
        show_text(to_json(facts))
    else:
        show_text(f"{output}\n")
