"""``annomodels fit``: one model."""

from __future__ import annotations

from dataclasses import replace

import click

from annomodels.cli.declared import as_command
from annomodels.cli.loading import load_data, load_fit, say_notes
from annomodels.cli.options import Job, Reading, Sampling, option
from annomodels.cli.places import FIT, check_file
from annomodels.cli.sampling import exit_code, facts_of, fit_data, verdict_lines
from annomodels.cli.session import current


@as_command(
    "fit votes.csv -o fit.nc --model dawid-skene --seed 7",
    "fit march.csv -o march.nc --prior-from february.nc",
    "fit labels --stream -o fitted --engine em",
)
@option(
    "-o --output", "File for the fit (.nc); with --stream, a folder.", metavar="FILE", required=True
)
@option(
    "--prior-from earlier",
    "Earlier fit whose estimates of classes and coders are the prior; its model is used.",
    metavar="FIT",
)
def command(
    data: str,
    output: str,
    force: bool,
    as_json: bool,
    earlier: str | None,
    stream: bool,
    cache: str | None,
    reading: Reading,
    sampling: Sampling,
) -> int:
    """Fit one model to DATA and save it."""
    from annomodels.cli.jobs import one_question, told

    job = Job(data, output, force, reading, sampling, cache=cache, as_json=as_json)
    if stream:
        from annomodels.cli.streaming import refuse_the_rest

        if earlier is not None:
            raise click.UsageError("--prior-from and --stream cannot both be used.")
        refuse_the_rest(job)
        done = one_question(replace(job, stream=True, no_report=True, methods=False), output)
        told(job, done.facts, done.text)
        return done.code
    if cache is not None:
        raise click.UsageError("--cache goes with --stream.")
    check_file(output, force, FIT)
    model = None
    if earlier is not None:
        from annomodels.fitting.earlier import prior_from

        if sampling.model is not None:
            raise click.UsageError("--prior-from uses the model of that fit: leave out --model.")
        if sampling.groups is not None or sampling.covariates:
            flag = "--covariates" if sampling.covariates else "--groups"
            raise click.UsageError(f"--prior-from and {flag} cannot both be used.")
        model = prior_from(load_fit(earlier))
    labels = load_data(data, reading)
    say_notes(labels)
    result = fit_data(labels, sampling, current().command, model)
    result.save(output, force=force)
    check = result.check()
    text = "\n".join([output, *verdict_lines(check)])
    told(job, {"fit": output, **facts_of(result, check)}, text)
    return exit_code(result, check, sampling)
