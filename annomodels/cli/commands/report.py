"""``annomodels report``: the page to forward."""

from __future__ import annotations

import click

from annomodels.cli.options import common_options, examples

__all__ = ["command"]


@click.command(
    "report",
    epilog=examples(
        "annomodels report fit.nc -o report.html",
        "annomodels report fit.nc -o report.html --compare mace.nc",
    ),
)
@click.argument("fit")
@click.option("-o", "--output", metavar="FILE", required=True, help="Where to write the page.")
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@click.option("--anonymise", is_flag=True, help="Leave the names of coders out.")
@click.option("--target", type=click.FloatRange(0, 1), help="Accuracy a coder should reach.")
@click.option(
    "--compare",
    "others",
    metavar="FIT",
    multiple=True,
    help="A fit of another model to the same data, to compare with; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Write path and verdict as JSON.")
@common_options
def command(
    fit: str,
    output: str,
    force: bool,
    anonymise: bool,
    target: float | None,
    others: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write the report of FIT: one HTML file that needs no network."""
    from annomodels.cli.loading import load_fit
    from annomodels.cli.places import check_file
    from annomodels.cli.tables import to_json
    from annomodels.cli.terminal import Stages
    from annomodels.report.once import Once
    from annomodels.report.page import report

    check_file(output, force)
    loaded = Once(load_fit(fit))
    rivals = [load_fit(name) for name in others]
    told = str(loaded.tree.attrs.get("command", ""))
    with Stages() as stages:
        stages("drawing the report")
        report(
            loaded,
            output,
            force=force,
            command=told,
            anonymise=anonymise,
            target=target,
            others=rivals,
        )
    if as_json:
        check = loaded.check()
        facts = {"report": output, "verdict": check.verdict, "sentences": check.sentences}
        click.echo(to_json(facts), nl=False)
    else:
        click.echo(output)
