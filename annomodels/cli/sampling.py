"""Fit the way the command line does: say what will happen, then show how far it is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from annomodels.cli.exits import DONE, INTERRUPTED, UNTRUSTED
from annomodels.cli.options import Sampling
from annomodels.cli.session import detail, note, warn
from annomodels.cli.terminal import Stages, between

if TYPE_CHECKING:
    from annomodels.data.annotations import Annotations
    from annomodels.fitting.fit import Fit
    from annomodels.models.base import Model
    from annomodels.models.grouped import GroupedCoders
    from annomodels.scale.scanned import Scanned
    from annomodels.summaries.trust.checks import Check


# Seconds of one core, measured with 8,000 labels of 164 coders: for one label, one possible truth
# and one sweep; for one row of a matrix and one sweep; before the first sweep and after the last,
# with loading what is imported then; for code that is compiled once; for tables and report.
# NUTS takes many likelihoods for a draw.
_PER_LABEL = {"gibbs": 6e-9, "nuts": 4e-6, "em": 6e-9}
_PER_ROW = {"gibbs": 4e-7, "nuts": 2e-6, "em": 1e-8}
_AROUND = {"gibbs": 3.5, "nuts": 6.0, "em": 3.0}
_COMPILING = {"gibbs": 24.0, "nuts": 12.0, "em": 12.0}
_PER_LOOK = 6e-9  # of the members of a stack, which run for a part of the iterations
_PYMC = 25.0  # a model that PyMC compiles is compiled in every process
_OUTPUTS, _OUTPUTS_PER_LABEL = 4.0, 1.5e-4


def fit_data(
    data: Annotations | Scanned,
    sampling: Sampling,
    command: str,
    model: Model | None = None,
    *,
    outputs: bool = False,
) -> Fit:
    """Fit, with engine and a guess of the time on stderr before and progress during it."""
    # Labels of a model whose truth is a number are numbers from then on.
    from annomodels.data.annotations import Annotations
    from annomodels.fitting.run import choose, default_model, fit
    from annomodels.models.catalog import resolve

    options = sampling.options
    known = {name: options[name] for name in signature(default_model).parameters if name != "data"}
    usual = default_model(data, **{**known, "executor": sampling.dask or options["executor"]})
    chosen = model or grouped_model(sampling) or regressed_model(sampling, data)
    believed = chosen or resolve(sampling.model or usual)
    if isinstance(data, Annotations):
        if believed.truth == "number" and data.scale in ("nominal", "ordinal"):
            data = data.replace(scale="interval")
        believed.require_fittable(data)
        engine = choose(believed, options["engine"])
        note(
            f"Fitting {believed.name} to {len(data):,} labels with {engine}, seed "
            f"{options['seed']}, {options['chains']} chains of {options['draws']:,} draws after "
            f"{options['warmup']:,} of warm-up."
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
        warn(f"Sampling {why}; what was sampled until then is kept.")
    return result


def expected(
    data: Annotations, options: dict[str, Any], engine: str, model: Model, *, outputs: bool
) -> str:
    """Return how long a fit will take, and why if it is long before it begins."""
    from annomodels.models.base import Model

    seconds, why = seconds_of_fit(data, options, engine) + of_members(data, options, model), []
    if engine == "nuts" and type(model).density is Model.density:
        seconds += _PYMC
        why.append("the model is compiled first")
    elif not is_compiled(engine, model):
        seconds += _COMPILING[engine] * (2 if model.stacks else 1)
        why.append("code is compiled, which happens once")
    if outputs:
        seconds += _OUTPUTS + _OUTPUTS_PER_LABEL * len(data)
    if engine != "em":
        why.append("longer if the chains mix slowly")
    spread = 2.0 if engine == "nuts" else 1.4  # how many likelihoods a draw takes is not known
    return "; ".join([between(seconds, spread), *why])


def seconds_of_fit(data: Annotations, options: dict[str, Any], engine: str) -> float:
    """Guess the seconds of a fit of compiled code on a computer that does nothing else."""
    sweeps = 500 if engine == "em" else sweeps_of(options)
    labels = len(data) * data.n_labels
    rows = data.n_coders * data.n_labels**2
    seconds: float = sweeps * (_PER_LABEL[engine] * labels + _PER_ROW[engine] * rows)
    return _AROUND[engine] + min(seconds, options["time_limit"] or seconds)


def of_members(data: Annotations, options: dict[str, Any], model: Model) -> float:
    """Guess the seconds that the members of a stack take; 0 for other models."""
    if not model.stacks:
        return 0.0
    from annomodels.models.mixtures.stack import Stack

    size = len(data), data.n_coders, data.n_labels
    stack = cast("Stack", model)
    cost = stack.cost(*size) * stack.share_of_iterations(*size)
    return _PER_LOOK * cost * sweeps_of(options)


def sweeps_of(options: dict[str, Any]) -> int:
    """Count the iterations that one core has to go through."""
    cores = min(options["threads"] or os.cpu_count() or 1, options["chains"])
    return int(-(-options["chains"] // cores) * (options["draws"] + options["warmup"]))


def is_compiled(engine: str, model: Model) -> bool:
    """Return True if the loops of a fit were compiled since they were last changed."""
    from annomodels.kernels import compile as compiling

    part = {"gibbs": "iterations", "em": "passes", "nuts": "difficulty"}[engine]
    if engine == "gibbs" and model.truth == "number":
        part = "interval"
    elif engine == "gibbs" and (model.stacks or model.by_states):
        part = f"mixtures/{'kind_iterations' if model.stacks else 'states'}"
    own = Path(compiling.__file__).parent
    source = own / f"{part}.py"
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or own)
    written = [path.stat().st_mtime for path in folder.rglob(f"{source.stem}.*.nbi")]
    return compiling.CACHED and max(written, default=0.0) >= source.stat().st_mtime


def grouped_model(
    sampling: Sampling, names: Mapping[str, str] | None = None
) -> GroupedCoders | None:
    """Return the model with the groups of --groups, coders by `names` of the data; None without."""
    from annomodels.models.catalog import class_of

    grouping = class_of(sampling.model or "hierarchical").grouping
    if sampling.groups is None:
        if grouping == "must":
            raise click.UsageError(f"--model {sampling.model} needs --groups FILE.")
        return None
    from annomodels.io.mappings import groups_from
    from annomodels.models.grouped import GroupedCoders

    if not grouping:
        what = f"--groups goes with the hierarchical model, not with --model {sampling.model}."
        raise click.UsageError(what)
    groups = groups_from(sampling.groups)
    return GroupedCoders(
        groups={(names or {}).get(coder, coder): group for coder, group in groups.items()}
    )


def regressed_model(
    sampling: Sampling, data: Annotations | Scanned, names: Mapping[str, str] | None = None
) -> Model | None:
    """Return the model with the columns of --covariates, coders by `names`; None without."""
    if not sampling.covariates:
        return None
    from annomodels.io.mappings import rows_about
    from annomodels.models.catalog import class_of

    if sampling.model is None or sampling.groups is not None:
        what = "--covariates goes with --model scalar-difficulty, for one."
        raise click.UsageError(what)
    found = rows_about(sampling.covariates, getattr(data, "items", ()))
    for row in found.get("coder", ()):
        row["coder"] = (names or {}).get(row["coder"], row["coder"])
    kind: Any = class_of(sampling.model)
    model: Model = kind(**{f"{key}_covariates": rows for key, rows in found.items()})
    return model


def verdict_lines(check: Check) -> list[str]:
    """Return the verdict and its sentences with remedies, one a line."""
    from annomodels.reporting.words import advised

    lamps = [f"  {check.lit}"] if check.lamps else []
    return [f"verdict: {check.verdict}", *lamps, *(f"  {said}" for said in advised(check))]


def facts_of(fit: Fit, check: Check) -> dict[str, object]:
    """Return what ``--json`` says of a fit."""
    return {
        "engine": fit.engine,
        "seed": fit.seed,
        "verdict": check.verdict,
        "lamps": dict(check.lamps),
        "sentences": check.sentences,
    }


def exit_code(fit: Fit, check: Check, sampling: Sampling) -> int:
    """Return the exit code that a fit deserves, and say on stderr why."""
    if _stopped(fit) == "interrupted":
        return INTERRUPTED
    if check.verdict == "do not use" and not sampling.allow_unconverged:
        warn("The outputs were written, but the inference cannot be trusted.")
        return UNTRUSTED
    return DONE


def _stopped(fit: Fit) -> str:
    return str(fit.tree.attrs.get("stopped", ""))


@contextmanager
def spreading(sampling: Sampling) -> Iterator[Any]:
    """Return the executor of a fit; a cluster is there as long as it is needed."""
    executor = sampling.options["executor"]
    if sampling.dask is None:
        yield executor
        return
    if executor is not None:
        raise click.UsageError("--executor and --dask cannot both be used.")
    with _client(sampling.dask) as client:
        yield client


@contextmanager
def _client(address: str) -> Iterator[Any]:
    from annomodels.errors import EngineError, MissingDependency

    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingDependency(
            "--dask needs Dask. Install it: pip install 'dask[distributed]'"
        ) from error
    if not address.startswith("local"):
        try:
            client = Client(address, timeout="20s", set_as_default=False)
        except OSError as error:
            raise EngineError(
                f"There is no Dask scheduler at {address}. Start one with `dask scheduler`, or "
                "give its address."
            ) from error
        with client:
            yield client
        return
    number = int(address.partition(":")[2] or 0) or None
    cluster = LocalCluster(
        n_workers=number,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs="ERROR",
    )
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client
