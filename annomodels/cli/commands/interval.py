"""``annomodels interval``: labels that are numbers."""

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

FILES = ("gold.csv", "coders.csv", "items.csv", "agreement.csv", "fit.nc")


@click.command(
    "interval",
    epilog=examples(
        "annomodels interval ratings.csv -o out",
        "annomodels interval ratings.csv -o out --item pair --label similarity --json",
    ),
)
@click.argument("data")
@click.option("-o", "--output", metavar="FOLDER", required=True, help="Folder for the outputs.")
@click.option("--force", is_flag=True, help="Overwrite outputs that exist in FOLDER.")
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
    as_json: bool,
    reading: Reading,
    sampling: Sampling,
) -> None:
    """Fit DATA whose labels are numbers (sliders, similarities), and write a folder of outputs.

    The folder gets gold.csv (the true value of each item with its interval), coders.csv (bias,
    scale, noise, reliability), items.csv (difficulty), agreement.csv and fit.nc. The model is
    always the interval model.
    """
    from pathlib import Path

    from annomodels.cli.exits import DONE, UNTRUSTED
    from annomodels.cli.loading import load_data, say_notes
    from annomodels.cli.places import check_folder, filled_folder
    from annomodels.cli.sampling import verdict_lines
    from annomodels.cli.session import current, detail, note, warn
    from annomodels.cli.tables import to_json, to_text
    from annomodels.cli.terminal import Stages
    from annomodels.fitting.run import fit as run

    if sampling.model not in ("hierarchical", "interval"):
        raise click.UsageError("This command fits the interval model: leave out --model.")
    check_folder(output, FILES, force)
    labels = load_data(data, reading)
    if labels.scale in ("nominal", "ordinal"):
        labels = labels.replace(scale="interval")
    note(repr(labels))
    say_notes(labels)
    with Stages() as stages:
        fit = run(
            labels,
            "interval",
            engine=sampling.engine,
            chains=sampling.chains,
            draws=sampling.draws,
            warmup=sampling.warmup,
            seed=sampling.seed,
            time_limit=sampling.time_limit,
            threads=sampling.threads,
            progress=stages,
        )
    fit.tree.attrs["command"] = current().command
    for sentence in fit.model.describe():
        detail(sentence)
    with filled_folder(output) as beside:
        for name in FILES[:-1]:
            summary = getattr(fit, name.removesuffix(".csv"))()
            text = to_text(summary.table, "csv")
            (beside / name).write_text(text, encoding="utf-8", newline="")
            for sentence in summary.notes:
                note(f"note: {sentence}")
        fit.save(beside / "fit.nc")
    check = fit.check()
    folder = Path(output)
    if as_json:
        facts = {
            "files": [str(folder / name) for name in FILES],
            "engine": fit.engine,
            "seed": fit.seed,
            "verdict": check.verdict,
            "sentences": check.sentences,
        }
        click.echo(to_json(facts), nl=False)
    else:
        click.echo("\n".join([str(folder / "gold.csv"), *verdict_lines(check)]))
    if check.verdict == "do not use" and not sampling.allow_unconverged:
        warn("The outputs were written, but the inference cannot be trusted.")
        ctx.exit(UNTRUSTED)
    ctx.exit(DONE)
