"""NUTS on the PyMC model, which defines each model: the reference for the other engines."""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult
from annomodels.engines.collect import collect
from annomodels.engines.em import climb
from annomodels.engines.pymc.compiled import compiled
from annomodels.engines.pymc.compound import sample_compound
from annomodels.engines.pymc.revisit import revisited
from annomodels.engines.settings import Clock, Settings
from annomodels.engines.source.partition import cut
from annomodels.engines.source.spread import Spread
from annomodels.engines.starts import chain_starts
from annomodels.errors import EngineError, NotApplicable, Option
from annomodels.executors.team import Threads
from annomodels.models.answering import uses_unanswered
from annomodels.models.base import Model, n_states
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.continuous.item_covariates import item_kinds
from annomodels.models.encoded import Encoded, encode
from annomodels.models.parameters import Support
from annomodels.types import AnyArray, PyMCModel

if TYPE_CHECKING:
    import xarray as xr
    from nutpie.sample import CompiledModel

JITTER = 0.02
# log gamma has errors of about 1e-6 there; prior probabilities beyond it are below 1e-12
MOST_CONCENTRATED = 1e9


def start_point(model: Model, codes: Encoded) -> dict[str, AnyArray]:
    """Return starting values of the PyMC variables: the best mode that EM reaches."""
    starter = cast("ConjugateModel", model.starter)
    if "em" not in starter.engines:
        raise EngineError(f"The {model.title} model does not name a conjugate model to start from.")
    relabel = starter.swappable and not (codes.gold >= 0).any()
    here = Spread(cut(codes, 1), Threads(1))
    begun = chain_starts(starter, here, 1, 1, relabel=relabel)
    mode = climb(starter, codes, begun.states[0])
    return model.pymc_start(mode.state)


def run(model: Model, data: Annotations, settings: Settings) -> RawResult:
    """Sample the posterior with nutpie, with the truth summed out."""
    if settings.executor is not None:
        raise NotApplicable(
            f"{Option('executor')} is for the engines gibbs and em, not nuts. Leave it out."
        )
    clock = Clock()
    unanswered = uses_unanswered(model)
    codes = encode(data, shared=model.shared, kind=item_kinds(model), unanswered=unanswered)
    if not (n_states(model, codes.n_labels) or hasattr(model, "ordered")):
        raise EngineError(
            f"The {model.title} model has neither confusion matrices nor states, so P(truth) "
            "cannot be computed: derive it from ConfusionModel, or give it n_states and states."
        )
    coords = coords_of(model, data, "truth", "label", "coder")
    posterior, lp, diverging, stopped = _chains(model, codes, coords, settings)
    relabel = settings.relabel and model.swappable and data.gold is None
    kept, sums, names = revisited(model, codes, posterior, lp, relabel)
    attrs = {"engine": "nuts", "thin": 1, "seconds": clock.seconds, "stopped": stopped}
    result = collect(model, kept, sums, names, codes, attrs)
    result.stats["diverging"] = diverging
    return result


def coords_of(model: Model, data: Annotations, *dims: str) -> dict[str, list[str]]:
    """Return the names along some dimensions of the data, and along those of the model."""
    known = data.coords
    return {dim: known[dim] for dim in dims} | model.coords(known["label"])


Drawn = tuple[dict[str, AnyArray], AnyArray, AnyArray, str]


def _chains(
    model: Model, codes: Encoded, coords: dict[str, list[str]], settings: Settings
) -> Drawn:
    """Sample all chains; return draws, log densities, divergences and the reason for a stop."""
    declared = model.variables(codes.n_labels)
    wanted = {each.name for each in declared if each.kept}
    support = {each.name: each.support for each in declared}
    settings.tell("compiling", 0.0, "preparing the density")
    start = start_point(model, codes)
    # a little noise gives the chains different starts; nutpie's jitter would leave the mode
    rng = np.random.default_rng(settings.seed)
    pymc_model = model.build(codes, coords)
    counts = [name for name, kind in support.items() if kind == "pseudo-counts"]
    bound_concentrations(pymc_model, counts)
    if pymc_model.discrete_value_vars:
        return _stepped(pymc_model, start, settings, wanted)
    names = [v.name for v in pymc_model.free_RVs]
    noisy = {name: _shake(start[name], support.get(name, "real"), rng) for name in names}
    code = compiled(pymc_model, noisy)
    settings.tell("compiling", 1.0)
    return sample(code, settings, wanted, correlated=any(each.correlated for each in declared))


def _stepped(
    pymc_model: PyMCModel, start: dict[str, AnyArray], settings: Settings, wanted: set[str]
) -> Drawn:
    """Sample a model with discrete variables by the step methods of PyMC."""
    whole = {v.name for v in pymc_model.free_RVs if v.dtype.startswith("int")}
    point = {v.name: np.asarray(start[v.name]) for v in pymc_model.free_RVs}
    point |= {name: point[name].astype(int) for name in whole}
    tree, stopped = sample_compound(pymc_model, point, settings)
    return *_arrays(tree, wanted), stopped


def bound_concentrations(pymc_model: PyMCModel, names: Collection[str]) -> None:
    """Rule out concentrations so large that rounding errors dominate the density."""
    # Differences of log gamma functions have no correct digits there. The first steps of NUTS are
    # long, and a chain that lands on a large error would never leave.
    import pymc as pm
    import pytensor.tensor as pt

    found = [v for v in pymc_model.free_RVs if v.name in names]
    if not found:
        return
    with pymc_model:
        largest = reduce(pt.maximum, [pt.max(v) for v in found])
        pm.Potential("representable", pt.switch(pt.gt(largest, MOST_CONCENTRATED), -np.inf, 0.0))


def sample(
    code: CompiledModel, settings: Settings, wanted: Collection[str], *, correlated: bool = False
) -> Drawn:
    """Run nutpie in the background, so that a stop keeps the draws so far."""
    import nutpie

    chains: list[Any] = []  # progress of each, set by another thread
    sampler = nutpie.sample(
        code,
        draws=settings.draws,
        tune=max(settings.warmup, 300),
        chains=settings.chains,
        cores=settings.workers,
        seed=settings.seed,
        save_warmup=False,
        progress_bar=False,
        progress_callback=lambda seen: chains.__setitem__(slice(None), seen),
        progress_rate=300,
        blocking=False,
        target_accept=settings.target_accept,
        adaptation="low_rank" if correlated else "diag",
    )
    tree, stopped = _waited(sampler, settings, chains)
    return *_arrays(tree, wanted), stopped


def _waited(sampler: Any, settings: Settings, chains: list[Any]) -> tuple[xr.DataTree, str]:
    """Wait until a sampler finishes, the time is up, or the user interrupts it."""
    # compiling does not count against the limit: it cannot be cut short
    sampling = Clock(settings.time_limit)
    try:
        while True:
            try:
                tree = sampler.wait(timeout=0.3)
                settings.tell("sampling", 1.0)
                return tree, ""
            except TimeoutError:
                done, of = (
                    sum(getattr(chain, name) for chain in list(chains))
                    for name in ("finished_draws", "total_draws")
                )
                settings.tell("sampling", done / max(of, 1), f"NUTS, {done:,} of {of:,} draws")
            if sampling.over:
                return sampler.abort(), "time limit"
    except KeyboardInterrupt:
        return sampler.abort(), "interrupted"


def _shake(values: AnyArray, support: Support, rng: np.random.Generator) -> AnyArray:
    values = np.asarray(values, dtype=float)
    noise = rng.normal(0.0, JITTER, values.shape)
    if support == "simplex":
        values = np.maximum(values, 1e-4) * np.exp(noise)
        return np.asarray(values / values.sum(axis=-1, keepdims=True))
    if support == "unit":
        return np.clip(values, 0.02, 0.98)
    if support in ("positive", "pseudo-counts"):
        return np.asarray(values * np.exp(noise) + 1e-3)
    if support == "zero-sum":
        return np.asarray(values + noise - noise.mean(axis=-1, keepdims=True))
    return values + noise


def _arrays(
    tree: xr.DataTree, wanted: Collection[str]
) -> tuple[dict[str, AnyArray], AnyArray, AnyArray]:
    posterior = tree["posterior"].to_dataset()
    stats = tree["sample_stats"].to_dataset()
    draws = {name: posterior[name].values for name in sorted(wanted) if name in posterior}
    lp = stats["logp"].values
    diverging = stats["diverging"].values
    chains, n = _complete(next(iter(draws.values())))
    if n < 1:
        raise EngineError("NUTS kept no draw. Give more time, or use another engine.")
    draws = {name: values[chains, :n] for name, values in draws.items()}
    return draws, lp[chains, :n], diverging[chains, :n].astype(bool)


def _complete(values: AnyArray) -> tuple[AnyArray, int]:
    """Return chains and number of draws to keep: a stopped run pads short chains with NaN."""
    lengths = np.isfinite(values).all(axis=tuple(range(2, values.ndim))).sum(axis=1)
    chains = np.flatnonzero(lengths >= lengths.max() / 2)
    return chains, int(lengths[chains].min())
