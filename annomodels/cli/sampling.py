"""Fits on the command line, with a time estimate and progress."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from annomodels.cli.exits import DONE, INTERRUPTED, UNTRUSTED
from annomodels.cli.options import Sampling
from annomodels.cli.session import detail, note, warn
from annomodels.cli.terminal import Stages, between
from annomodels.data.annotations import Annotations
from annomodels.errors import EngineError, MissingDependency

if TYPE_CHECKING:
    from annomodels.data.annotations import Annotations
    from annomodels.fitting.fit import Fit
    from annomodels.models.base import Model
    from annomodels.scale.scanned import Scanned
    from annomodels.summaries.trust.checks import Check


class Cost(NamedTuple):
    """Core seconds of an engine, measured with 8,000 labels of 164 coders.

    Per label, class and sweep; per matrix row and sweep; before and after all sweeps, with imports;
    for one-time compilation. NUTS computes many likelihoods per draw.
    """

    label: float
    row: float
    around: float
    compiling: float


_COSTS = {
    "gibbs": Cost(6e-9, 4e-7, 3.5, 24.0),
    "nuts": Cost(4e-6, 2e-6, 6.0, 12.0),
    "em": Cost(6e-9, 1e-8, 3.0, 12.0),
}
# passes to the mode of a stack, per label and class
_PER_READ, _PASSES = 6e-9, 300
_PYMC = 6.0  # PyMC builds a model in every process
_OUTPUTS, _OUTPUTS_PER_LABEL = 4.0, 1.5e-4


def fit_data(
    data: Annotations | Scanned,
    sampling: Sampling,
    command: str,
    model: Model | None = None,
    *,
    outputs: bool = False,
) -> Fit:
    """Fit, and print engine, estimated time and progress on stderr."""
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
        note(f"This takes {expected(data, options, engine, believed, outputs=outputs)}.")
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


def expected(
    data: Annotations, options: dict[str, Any], engine: str, model: Model, *, outputs: bool
) -> str:
    """Return the expected time of a fit on an idle machine, with reasons for a slow start."""
    from annomodels.models.catalog import is_stack

    cost, why = _COSTS[engine], list[str]()
    cores = min(options["threads"] or os.cpu_count() or 1, options["chains"])
    sweeps = -(-options["chains"] // cores) * (options["draws"] + options["warmup"])
    size = n, n_coders, n_labels = len(data), data.n_coders, data.n_labels
    sampling = cost.label * n * n_labels + cost.row * n_coders * n_labels**2
    sampling *= 500 if engine == "em" else sweeps
    seconds = cost.around + min(sampling, options["time_limit"] or sampling)
    if is_stack(model):
        seconds += _PER_READ * _PASSES * model.cost(*size)
    if engine == "nuts":
        seconds += _PYMC
        why.append("longer if this is the first fit of the model, which is then compiled")
    elif not is_compiled(engine, model):
        seconds += cost.compiling
        why.append("code is compiled, which happens once")
    if outputs:
        seconds += _OUTPUTS + _OUTPUTS_PER_LABEL * n
    if engine != "em":
        why.append("longer if the chains mix slowly")
    spread = 2.0 if engine == "nuts" else 1.4  # the number of likelihoods per draw is unknown
    return "; ".join([between(seconds, spread), *why])


def is_compiled(engine: str, model: Model) -> bool:
    """Return True if the loops of a fit were compiled since they were last changed."""
    from annomodels.kernels import compile as compiling
    from annomodels.models.catalog import is_stack
    from annomodels.models.mixtures.state_model import coders_of

    part = {"gibbs": "iterations", "em": "passes"}[engine]
    if engine == "gibbs" and model.truth == "number":
        part = "interval"
    elif engine == "gibbs" and (is_stack(model) or coders_of(model) is not model):
        part = "mixtures/stacked" if is_stack(model) else "passes"
    own = Path(compiling.__file__).parent
    source = own / f"{part}.py"
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or own)
    written = [path.stat().st_mtime for path in folder.rglob(f"{source.stem}.*.nbi")]
    return compiling.CACHED and max(written, default=0.0) >= source.stat().st_mtime


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
