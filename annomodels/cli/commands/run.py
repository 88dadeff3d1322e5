"""``annomodels run``: the main job in one command."""

from __future__ import annotations

import click

from annomodels.cli.loading import data_argument, several
from annomodels.cli.options import (
    Reading,
    Sampling,
    common_options,
    examples,
    read_options,
    sample_options,
)


@click.command(
    "run",
    epilog=examples(
        "annomodels run votes.csv -o out",
        "annomodels run votes.csv -o out --item sentence --coder worker --target .8",
        "annomodels run votes.csv -o out --known truth.csv",
        "annomodels run votes.csv -o out --force --audit audit.csv",
        "annomodels run votes.csv -o out --text sentence --show genre,source",
        "annomodels run votes.csv -o decided --gold decisions.csv",
        "annomodels run dataset:anesthesia -o out --force",
        "annomodels run batch.csv -o out --every-question",
        "annomodels run coding.xlsx -o out --question 'stage_*' --scale 'stage_*=ordinal'",
        "annomodels run labels --stream -o out --cache sorted",
    ),
)
@data_argument
@click.option("-o", "--output", metavar="FOLDER", required=True, help="Folder for the outputs.")
@click.option("--force", is_flag=True, help="Overwrite outputs that exist in FOLDER.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Leave gold labels empty whose probability is below this.",
)
@click.option("--target", type=click.FloatRange(0, 1), help="Accuracy a coder should reach.")
@click.option(
    "--known",
    metavar="FILE",
    help="Truth of some items (item,truth), held back from the fit, "
    "to test the gold labels in the report.",
)
@click.option(
    "--audit",
    "audited",
    metavar="FILE",
    multiple=True,
    help="Items that somebody judged (item,label), drawn by `annomodels audit`: puts the numbers "
    "right; may be repeated for several rounds.",
)
@click.option(
    "--drawn",
    metavar="HOW",
    help="How the items of --audit were drawn: the file that `annomodels audit` kept, 'random' or "
    "'chosen' [default: audit.json in FOLDER, else chosen].",
)
@click.option("--text", "body", metavar="COLUMN", help="The same as --text-column, for the report.")
@click.option(
    "--show",
    metavar="COLUMNS",
    multiple=True,
    help="Further columns about the items to show in the report, separated by commas.",
)
@click.option(
    "--gold",
    "decisions",
    metavar="FILE",
    help="True labels to use: decisions.csv of an earlier report, or a table (item,truth).",
)
@click.option("--anonymise", is_flag=True, help="Leave the names of coders out of all outputs.")
@click.option(
    "--spreadsheet",
    is_flag=True,
    help="Put an apostrophe before texts that a spreadsheet would read as formulas.",
)
@click.option("--no-report", is_flag=True, help="Do not draw report.html.")
@click.option(
    "--every-question",
    is_flag=True,
    help="Analyse each question of DATA in a folder of its own, and link them from index.html.",
)
@click.option(
    "--stream",
    is_flag=True,
    help="For more labels than fit into memory: DATA is a Parquet, CSV or TSV file, a folder or a "
    "pattern, fitted block by block; the report says what can be known so.",
)
@click.option(
    "--cache",
    metavar="FOLDER",
    help="With --stream: keep the sorted labels, so that the next run need not sort again.",
)
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
    known: str | None,
    audited: tuple[str, ...],
    drawn: str | None,
    body: str | None,
    show: tuple[str, ...],
    decisions: str | None,
    anonymise: bool,
    spreadsheet: bool,
    no_report: bool,
    every_question: bool,
    stream: bool,
    cache: str | None,
    as_json: bool,
    reading: Reading,
    sampling: Sampling,
) -> None:
    """Do the main job: check DATA, compute agreement, fit, and write a folder of outputs.

    The folder gets report.html, gold.csv, coders.csv, items.csv, agreement.csv, fit.nc and
    methods.md. On stdout stand the path of the report and the verdict on the inference. Several
    questions are never mixed: choose one (--question), or take each by itself (--every-question, or
    --question more than once or with a pattern such as 'stage_*'), with a table, a methods text and
    a page over all; what cannot be analysed is named with the reason.
    With --audit the folder also gets estimate.csv, gold.csv has the labels that were judged, and
    the page shows the audited numbers first; fit.nc stays the fit that was audited.
    With --stream the gold standard is gold.parquet, P(truth) is in truth/, about.json holds the
    verdict, and there are no items.csv and agreement.csv, which need the labels in memory.
    """
    from annomodels.cli.jobs import Job, Outcome, each_question, one_question
    from annomodels.cli.session import say
    from annomodels.cli.tables import to_json

    if known is not None and no_report:
        raise click.UsageError("--known is used in the report: leave out --no-report.")
    shown = not no_report
    if body is not None:
        reading = {**reading, "text": body}
    job = Job(
        data, reading, sampling, force, threshold, target, anonymise, shown, known, spreadsheet,
        cache, audited, drawn, show, decisions,
    )  # fmt: skip
    if drawn is not None and not audited:
        raise click.UsageError("--drawn goes with --audit.")
    if no_report and show:
        raise click.UsageError("--show is for the report: leave out --no-report.")
    if stream:
        if show or decisions is not None:
            raise click.UsageError(
                "--show and --gold need the labels in memory: leave out --stream."
            )
        if audited:
            raise click.UsageError(
                "--audit needs P(truth) in memory: fit without --stream, or a part of the labels."
            )
        from annomodels.cli.streaming import stream_run

        ctx.exit(stream_run(job, output, every_question=every_question, as_json=as_json))
    if cache is not None:
        raise click.UsageError("--cache goes with --stream.")
    outcomes: list[Outcome]
    if several(reading, every_question):
        main_file, outcomes, left_out = each_question(job, output)
        said = main_file
        facts: dict[str, object] = {
            "index": main_file,
            "questions": {outcome.question: outcome.facts for outcome in outcomes},
            "left_out": left_out,
        }
    else:
        outcomes = [one_question(job, output)]
        said, facts = outcomes[0].text, outcomes[0].facts
    if as_json:
        click.echo(to_json(facts), nl=False)
    else:
        say(said)
    ctx.exit(max(outcome.code for outcome in outcomes))
