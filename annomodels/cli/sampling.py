"""Fit the way the command line does: say what will happen, then show how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.exits import DONE, INTERRUPTED, UNTRUSTED
from annomodels.cli.options import Sampling
from annomodels.cli.session import detail, note, warn
from annomodels.cli.spreading import spreading
from annomodels.cli.terminal import Stages

if TYPE_CHECKING:
    from annomodels.data.annotations import Annotations
    from annomodels.fitting.fit import Fit
    from annomodels.models.base import Model
    from annomodels.models.grouped import GroupedCoders
    from annomodels.summaries.trust.checks import Check

__all__ = ["exit_code", "fit_data", "grouped_model", "verdict_lines"]


def fit_data(
    data: Annotations, sampling: Sampling, command: str, model: Model | None = None
) -> Fit:
    """Fit, with seed, engine and a guess of the time on stderr before and progress during it.

    Parameters
    ----------
    data
        What to fit.
    sampling
        How.
    command
        The command line that the fit shall remember.
    model
        The model; else the one that `sampling` names.
    """
    from annomodels.cli.estimate import duration, seconds_of_fit
    from annomodels.engines.catalog import choose
    from annomodels.fitting.run import fit
    from annomodels.models.catalog import resolve
    from annomodels.models.encoded import require_fittable

    require_fittable(data)
    model = grouped_model(sampling) if model is None else model
    believed = resolve(sampling.model) if model is None else model
    engine = choose(believed, sampling.engine)
    note(
        f"Fitting {believed.name} to {len(data):,} labels with {engine}, seed {sampling.seed}, "
        f"{sampling.chains} chains of {sampling.draws:,} draws after {sampling.warmup:,} of "
        f"warm-up; it takes {duration(seconds_of_fit(data, sampling, engine))}, longer if the "
        "chains mix slowly."
    )
    with spreading() as spread, Stages() as stages:
        result = fit(
            data,
            believed,
            engine=sampling.engine,
            chains=sampling.chains,
            draws=sampling.draws,
            warmup=sampling.warmup,
            seed=sampling.seed,
            time_limit=sampling.time_limit,
            progress=stages,
            threads=sampling.threads,
            **spread,
        )
    result.tree.attrs["command"] = command
    for sentence in result.model.describe():
        detail(sentence)
    stopped = _stopped(result)
    if stopped:
        why = "was interrupted" if stopped == "interrupted" else f"stopped at the {stopped}"
        warn(f"Sampling {why}; what was sampled until then is kept.")
    return result


def grouped_model(
    sampling: Sampling, names: Mapping[str, str] | None = None
) -> GroupedCoders | None:
    """Give the model with the groups of the file that --groups names; None without.

    Parameters
    ----------
    sampling
        How to fit.
    names
        What coders of the file are called in the data, where that differs.
    """
    from annomodels.models.catalog import class_of

    context = click.get_current_context(silent=True)
    grouping = class_of(sampling.model).grouping
    if sampling.groups is None:
        if grouping == "must":
            raise click.UsageError(f"--model {sampling.model} needs --groups FILE.", context)
        return None
    from annomodels.io.mappings import groups_from
    from annomodels.models.grouped import GroupedCoders

    if not grouping:
        what = f"--groups goes with the hierarchical model, not with --model {sampling.model}."
        raise click.UsageError(what, context)
    groups = groups_from(sampling.groups)
    return GroupedCoders(
        groups={(names or {}).get(coder, coder): group for coder, group in groups.items()}
    )


def verdict_lines(check: Check) -> list[str]:
    """Give the verdict and its sentences, one a line."""
    return [f"verdict: {check.verdict}", *(f"  {sentence}" for sentence in check.sentences)]


def exit_code(fit: Fit, check: Check, sampling: Sampling) -> int:
    """Give the exit code that a fit deserves."""
    if _stopped(fit) == "interrupted":
        return INTERRUPTED
    if check.verdict == "do not use" and not sampling.allow_unconverged:
        warn("The outputs were written, but the inference is not to be trusted.")
        return UNTRUSTED
    return DONE


def _stopped(fit: Fit) -> str:
    stopped: Any = fit.tree.attrs.get("stopped", "")
    return str(stopped)
