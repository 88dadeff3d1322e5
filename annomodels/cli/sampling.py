"""Fits on the command line, with progress, in memory or block by block."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.exits import DONE, INTERRUPTED, UNTRUSTED
from annomodels.cli.loading import PREFIX, asked_of, several
from annomodels.cli.options import Job, Sampling, changed, flag_of
from annomodels.cli.places import write_texts
from annomodels.cli.session import Stages, detail, note, say_notes, warn
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


GOLD, ABOUT, TRUTH = "gold.parquet", "about.json", "truth"


def sizes_of(fit: Fit) -> dict[str, object]:
    """Return sizes of labels on disk, and their model, for ``--format json``."""
    sizes = {"items": fit.data.n_items, "annotations": fit.data.n_annotations}
    return {**sizes, "model": fit.model.name}


def save_scan(job: Job, fit: Fit, beside: Path, names: Sequence[str]) -> None:
    """Write a fit, its gold labels, and its results in ``about.json``, to a folder."""
    saved = fit.save(beside / "saved")
    for part in saved.iterdir():
        part.rename(beside / part.name)
    saved.rmdir()
    about = json.loads((beside / ABOUT).read_text("utf-8"))
    about |= {**sizes_of(fit), **facts_of(fit, fit.check())}
    about |= {"command": fit.tree.attrs["command"], "files": [*names, TRUTH]}
    write_texts(beside, {ABOUT: json.dumps(about, indent=1)})
    fit.write_gold(beside / GOLD, job.threshold, only_settled=job.threshold is not None)


def scanned(job: Job) -> Scanned:
    from annomodels.scale.scanning import scan

    known = inspect.signature(scan).parameters
    reading = {name: value for name, value in job.reading.items() if name in known}
    reading["question"] = next(iter(asked_of(job.reading)), None)
    with Stages() as stages:
        found = scan(job.data, **reading, cache=job.cache, progress=stages)
    note(repr(found))
    say_notes(found.notes)
    return found


def refuse_the_rest(job: Job) -> None:
    """Refuse all options that streams do not support, before reading."""
    given = refused(job)
    if job.data == "-" or job.data.startswith(PREFIX):
        what = f"--stream reads files, a folder or a pattern, not {job.data}"
        rest = f", and without {', '.join(given)}" if given else ""
        raise click.UsageError(f"{what}{rest}.")
    if given:
        raise click.UsageError(
            "--stream reads long tables without changes and fits them block by block, with a stack "
            f"or a model from pooled to hierarchical: leave out {', '.join(given)}."
        )


def refused(job: Job) -> list[str]:
    """Return the options that streams do not support."""
    from annomodels.models.catalog import class_of, streamable
    from annomodels.scale.scanning import scan

    known = inspect.signature(scan).parameters
    read = {name: value for name, value in changed(job.reading).items() if name not in known}
    asked: dict[str, Any] = {flag_of(name): value for name, value in read.items()}
    asked |= {"--truth": job.true_labels.paths, "--use": job.true_labels.use, "--show": job.show}
    given = [flag for flag, value in asked.items() if value not in (None, (), False, "auto")]
    given += ["several --question"] if several(job.reading) else []
    given += [] if isinstance(job.reading["scale"], str) else ["--scale NAME=..."]
    model = job.sampling.model
    if model is not None and not streamable(class_of(model)):
        given.append(f"--model {model}")
    if job.sampling.options["engine"] == "nuts":
        given.append("--engine nuts")
    return given
