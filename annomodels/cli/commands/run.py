"""``annomodels run``: the main job in one command."""

from __future__ import annotations

import click

from annomodels.cli.options import (
    Reading,
    Sampling,
    common_options,
    examples,
    read_options,
    sample_options,
)

__all__ = ["command"]


@click.command(
    "run",
    epilog=examples(
        "annomodels run votes.csv -o out",
        "annomodels run votes.csv -o out --item sentence --coder worker --target .8",
        "annomodels run dataset:anesthesia -o out --force",
    ),
)
@click.argument("data")
@click.option("-o", "--output", metavar="FOLDER", required=True, help="Folder for the outputs.")
@click.option("--force", is_flag=True, help="Overwrite outputs that exist in FOLDER.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Leave gold labels empty whose probability is below this.",
)
@click.option("--target", type=click.FloatRange(0, 1), help="Accuracy a coder should reach.")
@click.option("--anonymise", is_flag=True, help="Leave the names of coders out of all outputs.")
@click.option("--no-report", is_flag=True, help="Do not draw report.html.")
@click.option("--json", "as_json", is_flag=True, help="Write verdict and files as JSON.")
@sample_options
@read_options
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    data: str,
    output: str,
    force: bool,
    threshold: float | None,
    target: float | None,
    anonymise: bool,
    no_report: bool,
    as_json: bool,
    reading: Reading,
    sampling: Sampling,
) -> None:
    """Do the main job: check DATA, compute agreement, fit, and write a folder of outputs.

    The folder gets report.html, gold.csv, coders.csv, items.csv, agreement.csv, fit.nc and
    methods.md. On stdout stand the path of the report and the verdict on the inference.
    """
    from pathlib import Path

    from annomodels.cli.anonymous import anonymous
    from annomodels.cli.health import findings
    from annomodels.cli.loading import load_data, say_notes
    from annomodels.cli.outputs import names_of, write_outputs
    from annomodels.cli.places import check_folder
    from annomodels.cli.sampling import exit_code, fit_data, verdict_lines
    from annomodels.cli.session import current, note
    from annomodels.cli.tables import to_json

    names = names_of(report=not no_report)
    check_folder(output, names, force)
    labels = load_data(data, reading)
    note(repr(labels))
    say_notes(labels)
    for fact in findings(labels):
        if fact.remark:
            note(f"{fact.check}: {fact.value}. {fact.remark}")
    if anonymise:  # the command may hold the name of a file of a person
        fit = fit_data(anonymous(labels), sampling, "not shown")
    else:
        fit = fit_data(labels, sampling, current().command)
    write_outputs(fit, output, names, threshold=threshold, target=target)
    check = fit.check()
    folder = Path(output)
    main_file = folder / ("gold.csv" if no_report else "report.html")
    if as_json:
        facts = {
            "report": None if no_report else str(main_file),
            "files": [str(folder / name) for name in names],
            "engine": fit.engine,
            "seed": fit.seed,
            "verdict": check.verdict,
            "sentences": check.sentences,
        }
        click.echo(to_json(facts), nl=False)
    else:
        click.echo("\n".join([str(main_file), *verdict_lines(check)]))
    ctx.exit(exit_code(fit, check, sampling))
