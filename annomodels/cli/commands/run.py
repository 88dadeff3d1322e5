"""``annomodels run``: the main job in one command."""

from __future__ import annotations

import click

from annomodels.cli.loading import data_argument, several
from annomodels.cli.options import (
    OUTPUT,
    Reading,
    Sampling,
    anonymise_option,
    audit_option,
    common_options,
    drawn_option,
    every_question_option,
    examples,
    force_option,
    json_option,
    known_option,
    option,
    read_options,
    sample_options,
    spreadsheet_option,
    stream_options,
    target_option,
    threshold_option,
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
@option("-o --output", "Folder for the outputs.", metavar="FOLDER", required=True)
@force_option
@threshold_option
@target_option
@known_option
@audit_option
@drawn_option
@option("--text body", "Column with the text of each item; as --text-column.", metavar="COLUMN")
@option(
    "--show...",
    "Further columns about the items to show in the report, separated by commas.",
    metavar="COLUMNS",
)
@option(
    "--gold decisions",
    "True labels to use: decisions.csv of an earlier report, or a table (item,truth).",
    metavar="FILE",
)
@anonymise_option
@spreadsheet_option
@option("--no-report", "Do not draw report.html.", bool, section=OUTPUT)
@every_question_option
@stream_options
@json_option
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
    """Check DATA, compute agreement, fit, and write a folder of outputs.

    The folder gets report.html, gold.csv, coders.csv, items.csv, agreement.csv, next.csv, fit.nc
    and methods.md. The command prints the path of the report and the verdict on the inference.
    Several questions are never mixed: choose one (--question), or analyze each (--every-question,
    or --question with a pattern such as 'stage_*') in a separate folder, linked from index.html.
    With --audit the folder also gets estimate.csv, gold.csv has the audited labels, and the page
    shows the audited numbers first; fit.nc is the fit before the audit.
    With --stream the gold labels are in gold.parquet, P(truth) in truth/ and the verdict in
    about.json; items.csv and agreement.csv need the labels in memory.
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
        from annomodels.cli.streaming import stream as run_stream

        ctx.exit(
            run_stream(job, output, whole=True, as_json=as_json, every_question=every_question)
        )
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
