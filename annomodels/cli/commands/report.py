"""``annomodels report``: the page to forward."""

from __future__ import annotations

import click

from annomodels.cli.options import common_options, examples


@click.command(
    "report",
    epilog=examples(
        "annomodels report fit.nc -o report.html",
        "annomodels report fit.nc -o report.html --compare mace.nc",
        "annomodels report fit.nc -o report.html --known truth.csv",
    ),
)
@click.argument("fit")
@click.option("-o", "--output", metavar="FILE", required=True, help="Where to write the page.")
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@click.option("--text", metavar="COLUMN", help="Column with the text of items, read again.")
@click.option(
    "--show",
    metavar="COLUMNS",
    multiple=True,
    help="Further columns about the items to show, read again; separated by commas.",
)
@click.option("--anonymise", is_flag=True, help="Leave the names of coders out.")
@click.option("--target", type=click.FloatRange(0, 1), help="Accuracy a coder should reach.")
@click.option(
    "--compare",
    "others",
    metavar="FIT",
    multiple=True,
    help="A fit of another model to the same data, to compare with; may be repeated.",
)
@click.option(
    "--known",
    metavar="FILE",
    help="Truth of some items (item,truth), held back from the fit, to test the gold labels.",
)
@click.option(
    "--audit",
    "audited",
    metavar="FILE",
    multiple=True,
    help="Items that somebody judged (item,label), drawn by `annomodels audit`: the page shows the "
    "audited numbers; may be repeated.",
)
@click.option(
    "--drawn",
    metavar="HOW",
    help="How the items of --audit were drawn: the file that `annomodels audit` kept, 'random' or "
    "'chosen' [default: audit.json beside FIT, else chosen].",
)
@click.option("--json", "as_json", is_flag=True, help="Write path and verdict as JSON.")
@common_options
def command(
    fit: str,
    output: str,
    force: bool,
    text: str | None,
    show: tuple[str, ...],
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
    from annomodels.cli.shown import again, kept
    from annomodels.cli.tables import to_json
    from annomodels.cli.terminal import Stages
    from annomodels.io.mappings import truths_of
    from annomodels.reporting.page import anonymised, report

    check_file(output, force)
    loaded = load_fit(fit)
    rivals = [load_fit(name) for name in others]
    truths = None if known is None else truths_of(known, loaded.data)
    columns = again(loaded, text, show) if text or show else kept(fit, loaded.data)
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
            estimate=found, shown=columns,
        )  # fmt: skip
    if as_json:
        check = (shown if found is None else found.after(shown)).check()
        facts = {"report": output, "verdict": check.verdict, "sentences": check.sentences}
        click.echo(to_json(facts), nl=False)
    else:
        click.echo(output)
