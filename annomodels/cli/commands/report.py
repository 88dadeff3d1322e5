"""``annomodels report``: the page to forward."""

from __future__ import annotations

import click

from annomodels.cli.options import (
    anonymise_option,
    audit_option,
    common_options,
    drawn_option,
    examples,
    force_option,
    json_option,
    known_option,
    option,
    target_option,
)


@click.command(
    "report",
    epilog=examples(
        "annomodels report fit.nc -o report.html",
        "annomodels report fit.nc -o report.html --compare mace.nc",
        "annomodels report fit.nc -o report.html --known truth.csv",
    ),
)
@click.argument("fit")
@option("-o --output", "File for the page.", metavar="FILE", required=True)
@force_option
@anonymise_option
@target_option
@option(
    "--compare others...",
    "Fit of another model to the same data, to compare with; may be repeated.",
    metavar="FIT",
)
@known_option
@audit_option
@drawn_option
@json_option
@common_options
def command(
    fit: str,
    output: str,
    force: bool,
    anonymise: bool,
    target: float | None,
    others: tuple[str, ...],
    known: str | None,
    audited: tuple[str, ...],
    drawn: str | None,
    as_json: bool,
) -> None:
    """Write the report of FIT: one HTML file that needs no network."""
    from annomodels.cli.loading import drawn_from, estimated, load_fit
    from annomodels.cli.places import check_file
    from annomodels.cli.tables import to_json
    from annomodels.cli.terminal import Stages
    from annomodels.io.mappings import truths_of
    from annomodels.reporting.page import anonymised, report

    check_file(output, force)
    loaded = load_fit(fit)
    rivals = [load_fit(name) for name in others]
    truths = None if known is None else truths_of(known, loaded.data)
    if drawn is not None and not audited:
        raise click.UsageError("--drawn goes with --audit.")
    found = None
    if audited:
        found = estimated(loaded, audited, drawn_from(drawn, fit), seed=loaded.seed)
    told = "not shown" if anonymise else str(loaded.tree.attrs.get("command", ""))
    shown = anonymised(loaded) if anonymise else loaded
    with Stages() as stages:
        stages("drawing the report")
        report(
            shown, output, force=force, command=told, target=target, others=rivals, known=truths,
            estimate=found,
        )  # fmt: skip
    if as_json:
        check = (shown if found is None else found.after(shown)).check()
        facts = {"report": output, "verdict": check.verdict, "sentences": check.sentences}
        click.echo(to_json(facts), nl=False)
    else:
        click.echo(output)
