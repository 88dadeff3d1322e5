"""``annomodels fit``: one model."""

from __future__ import annotations

import click

from annomodels.cli.loading import data_argument
from annomodels.cli.options import (
    Reading,
    Sampling,
    common_options,
    examples,
    force_option,
    json_option,
    option,
    read_options,
    sample_options,
    stream_options,
)


@click.command(
    "fit",
    epilog=examples(
        "annomodels fit votes.csv -o fit.nc --model dawid-skene --seed 7",
        "annomodels fit march.csv -o march.nc --prior-from february.nc",
        "annomodels fit labels --stream -o fitted --engine em",
    ),
)
@data_argument
@option(
    "-o --output", "File for the fit (.nc); with --stream, a folder.", metavar="FILE", required=True
)
@force_option
@json_option
@option(
    "--prior-from earlier",
    "Earlier fit whose estimates of classes and coders are the prior; its model is used.",
    metavar="FIT",
)
@stream_options
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
    earlier: str | None,
    stream: bool,
    cache: str | None,
    reading: Reading,
    sampling: Sampling,
) -> None:
    """Fit one model to DATA and save it."""
    from annomodels.cli.loading import load_data, load_fit, say_notes
    from annomodels.cli.places import check_file
    from annomodels.cli.sampling import exit_code, facts_of, fit_data, verdict_lines
    from annomodels.cli.session import current, say
    from annomodels.cli.tables import to_json

    if stream:
        from annomodels.cli.jobs import Job
        from annomodels.cli.streaming import stream as fit_stream

        if earlier is not None:
            raise click.UsageError("--prior-from and --stream cannot both be used.")
        job = Job(data, reading, sampling, force, cache=cache)
        ctx.exit(fit_stream(job, output, whole=False, as_json=as_json))
    if cache is not None:
        raise click.UsageError("--cache goes with --stream.")
    check_file(output, force)
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
    if as_json:
        click.echo(to_json({"fit": output, **facts_of(result, check)}), nl=False)
    else:
        say("\n".join([output, *verdict_lines(check)]))
    ctx.exit(exit_code(result, check, sampling))
