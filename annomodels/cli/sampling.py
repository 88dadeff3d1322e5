"""Fits on the command line, with progress."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.exits import DONE, INTERRUPTED, UNTRUSTED
from annomodels.cli.options import Sampling
from annomodels.cli.session import Stages, detail, note, warn
from annomodels.data.annotations import Annotations
from annomodels.errors import EngineError, MissingDependency

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit
    from annomodels.models.base import Model
    from annomodels.scale.scanned import Scanned
    from annomodels.summaries.trust.checks import Check


def fit_data(
    data: Annotations | Scanned,
    sampling: Sampling,
    command: str,
    model: Model | None = None,
) -> Fit:
    """Fit, and print engine and progress on stderr."""
    # Models of numbers treat labels as numbers from here on.
    from annomodels.fitting.run import choose, default_model, fit
    from annomodels.models.catalog import require_suited, resolve

    options = sampling.options
    known = {name: options[name] for name in signature(default_model).parameters if name in options}
    usual = default_model(data, **{**known, "executor": sampling.dask})
    believed = model or asked_model(sampling, data) or resolve(sampling.model or usual)
    if isinstance(data, Annotations):
        if believed.truth == "number" and data.scale in ("nominal", "ordinal"):
            data = data.replace(scale="interval")
        require_suited(believed, data)
        engine = choose(believed, options["engine"])
        draws = ", {chains} chains of {draws:,} draws after {warmup:,} of warm-up"
        note(
            f"Fitting {believed.name} to {len(data):,} labels with {engine}, seed "
            f"{options['seed']}{'' if engine == 'em' else draws.format(**options)}."
        )
    else:
        note(f"Fitting {believed.name} block by block, seed {options['seed']}.")
    with spreading(sampling) as executor, Stages() as stages:
        result = fit(data, believed, **{**options, "executor": executor}, progress=stages)
    result.tree.attrs["command"] = command
    for sentence in result.model.describe():
        detail(sentence)
    if stopped := _stopped(result):
        why = "was interrupted" if stopped == "interrupted" else f"stopped at the {stopped}"
        warn(f"Sampling {why}; the draws so far are kept.")
    return result


def asked_model(
    sampling: Sampling, data: Annotations | Scanned, names: Mapping[str, str] | None = None
) -> Model | None:
    """Return the model of --groups or --covariates, or None; `names` are new coder names."""
    from annomodels.io.mappings import groups_from, rows_about
    from annomodels.models.catalog import class_of
    from annomodels.models.grouped import GroupedCoders, grouping

    kind, new = class_of(sampling.model or "hierarchical"), names or {}
    if sampling.groups is not None:
        if sampling.covariates:
            raise click.UsageError("--groups and --covariates cannot both be used.")
        if not grouping(kind):
            raise click.UsageError(
                f"--groups needs the hierarchical model, not --model {sampling.model}."
            )
        groups = groups_from(sampling.groups).items()
        return GroupedCoders(groups={new.get(coder, coder): group for coder, group in groups})
    if grouping(kind) == "must":
        raise click.UsageError(f"--model {sampling.model} needs --groups FILE.")
    if not sampling.covariates:
        return None
    if sampling.model is None:
        raise click.UsageError("--covariates needs a model, such as --model scalar-difficulty.")
    found = rows_about(sampling.covariates, getattr(data, "items", ()))
    for row in found.get("coder", ()):
        row["coder"] = new.get(row["coder"], row["coder"])
    columns: Any = {f"{key}_covariates": rows for key, rows in found.items()}
    return kind(**columns)


def verdict_lines(check: Check) -> list[str]:
    """Return the verdict and its sentences with remedies, one per line."""
    from annomodels.reporting.words import advised

    lamps = [f"  {check.lit}"] if check.lamps else []
    return [f"verdict: {check.verdict}", *(f"  {said}" for said in advised(check)), *lamps]


def facts_of(fit: Fit, check: Check) -> dict[str, object]:
    """Return the facts about a fit for ``--format json``."""
    return {
        "engine": fit.engine,
        "seed": fit.seed,
        "verdict": check.verdict,
        "lamps": dict(check.lamps),
        "sentences": check.sentences,
    }


def exit_code(fit: Fit, check: Check) -> int:
    """Return the exit code of a fit, and print the reason on stderr."""
    if _stopped(fit) == "interrupted":
        return INTERRUPTED
    if check.verdict == "do not use":
        warn("The outputs were written, but the inference cannot be trusted.")
        return UNTRUSTED
    return DONE


def _stopped(fit: Fit) -> str:
    return str(fit.tree.attrs.get("stopped", ""))


@contextmanager
def spreading(sampling: Sampling) -> Iterator[Any]:
    """Yield the executor of a fit, and close a cluster afterwards."""
    address = sampling.dask
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingDependency(
            "--sampler dask needs Dask. Install it: pip install 'dask[distributed]'"
        ) from error
    how: dict[str, Any] = {"address": address, "timeout": "20s"}
    if address.startswith("local"):
        number = int(address.partition(":")[2] or 0) or None
        how = {"n_workers": number, "threads_per_worker": 1, "processes": True}
        how |= {"dashboard_address": ":0", "silence_logs": "ERROR"}
    try:
        client = Client(**how, set_as_default=False)
    except OSError as error:
        raise EngineError(
            f"No Dask scheduler answers at {address}. Start one with `dask scheduler`, or give "
            "its address."
        ) from error
    with client:
        yield client
