"""``annomodels run``: check, agreement, fit, tables and report in one command."""

from __future__ import annotations

import shlex
from dataclasses import replace

import click

from annomodels.cli.declared import as_command
from annomodels.cli.loading import several, with_truth_column
from annomodels.cli.options import Job, option
from annomodels.cli.places import default_folder
from annomodels.cli.session import current, note


@as_command(
    "run votes.csv",
    "run votes.csv -o out --item sentence --coder worker --target 0.8",
    "run votes.csv -o out --truth truth.csv --use test",
    "run votes.csv -o out --force --truth audit.csv",
    "run votes.csv -o out --text sentence --show genre,source",
    "run votes.csv -o decided --truth decisions.csv",
    "run dataset:anesthesia -o out --force",
    "run batch.csv -o out --question '*'",
    "run votes.csv -o mace --model mace --no-report",
    "run coding.xlsx -o out --question 'stage_*' --scale 'stage_*=ordinal'",
    "run labels --stream -o out --cache sorted",
)
@option(
    "-o --output",
    "Folder for the outputs [default: NAME-out].",
    metavar="FOLDER",
    callback=lambda ctx, param, value: value or "",  # an explicit name is never empty
)
@option("--no-report", "Do not draw report.html.", bool, section="writing")
@option(
    "--prior-from earlier",
    "Earlier fit that sets the model and the prior of classes and coders.",
    metavar="FIT",
    section="sampling",
)
def command(job: Job) -> int:
    """Analyze DATA and write a folder with report and tables.

    The command checks DATA, computes agreement and fits a model. The folder gets report.html,
    gold.csv, coders.csv, agreement.csv, next.csv, fit.nc and methods.md. The path of
    the report and the verdict on the inference are printed.
    Several questions are never mixed: choose one (--question), or analyze several (--question with
    a pattern such as 'stage_*', or '*' for all), each in a separate folder, linked from index.html.
    With an audit (--truth audit.csv) the folder also gets estimate.csv, gold.csv has the audited
    labels, and the page shows the audited numbers first; fit.nc is the fit before the audit.
    With --stream the gold labels are in gold.parquet, P(truth) in truth/ and the verdict in
    about.json; agreement.csv needs the labels in memory.
    """
    from annomodels.cli.jobs import each_question, one_question, told
    from annomodels.cli.sampling import refuse_the_rest, refused
    from annomodels.scale.files import is_large

    if job.no_report and job.show:
        raise click.UsageError("--show is used in the report: leave out --no-report.")
    if not job.output:
        job = replace(job, output=default_folder(job.data))
        current().command += f" -o {shlex.quote(job.output)}"  # as the page and methods.md show it
    job = with_truth_column(job)
    if job.earlier is not None and (job.stream or several(job.reading)):
        remedy = "leave out --stream" if job.stream else "choose it with --question"
        raise click.UsageError(f"--prior-from needs one question in memory: {remedy}.")
    if not (job.stream or job.earlier or refused(job)) and is_large(job.data):
        job = replace(job, stream=True)
        note("The labels are many, so they are fitted block by block, as with --stream.")
    if job.stream:
        refuse_the_rest(job)
    elif job.cache is not None:
        raise click.UsageError("--cache needs --stream.")
    if several(job.reading):
        main_file, outcomes, left_out = each_question(job)
        questions = {outcome.question: outcome.facts for outcome in outcomes}
        facts = {"index": main_file, "questions": questions, "left_out": left_out}
        told(job, facts, main_file)
    else:
        outcomes = [one_question(job, job.output)]
        told(job, outcomes[0].facts, outcomes[0].text)
    return max(outcome.code for outcome in outcomes)
