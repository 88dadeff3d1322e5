"""PyMC's compound step, for models with discrete variables, which NUTS cannot sample."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from annomodels.engines.pymc.compiled import ONE_AT_A_TIME, repeatable
from annomodels.engines.settings import Clock, Interrupts, Settings
from annomodels.errors import EngineError
from annomodels.types import AnyArray, PyMCModel

if TYPE_CHECKING:
    import xarray as xr
    from pymc.sampling.parallel import Draw

# NUTS adapts its step size and mass matrix during warm-up
LEAST_WARMUP = 300
TELL_EVERY = 100


def sample_compound(
    pymc_model: PyMCModel, start: dict[str, AnyArray], settings: Settings
) -> tuple[xr.DataTree, str]:
    """Sample by a compound step: NUTS for continuous variables, Gibbs-Metropolis for the others."""
    # chains run sequentially; each gets an equal part of a time limit
    import pymc as pm
    import xarray as xr

    # compiling does not count against the limit: it cannot be cut short
    clock: Clock | None = None
    stopped = ""
    densities: list[list[float]] = [[] for _ in range(settings.chains)]

    def look(trace: object, draw: Draw) -> None:
        nonlocal clock, stopped
        clock = clock or Clock(settings.time_limit)
        done = (draw.chain + 1) / settings.chains
        if not draw.tuning:
            densities[draw.chain].append(float(density(draw.point)))
        try:
            interrupts.check()
            if stopped != "interrupted" and (draw.draw_idx + 1) % TELL_EVERY == 0:
                what = f"chain {draw.chain + 1}, draw {draw.draw_idx + 1}"
                settings.tell("sampling", draw.chain / settings.chains, what)
        except KeyboardInterrupt:
            stopped = "interrupted"
        if clock.limit is not None and clock.seconds >= clock.limit * done:
            stopped = stopped or "time limit"
        elif stopped != "interrupted":
            return
        raise KeyboardInterrupt  # ends a chain of PyMC but keeps its draws

    with ONE_AT_A_TIME, warnings.catch_warnings(), repeatable(), Interrupts(True) as interrupts:
        # NUTS rejects paths that overflow; Fit.check reports relevant problems
        warnings.simplefilter("ignore")
        density = pymc_model.compile_logp()
        settings.tell("compiling", 1.0)
        try:
            tree = pm.sample(
                draws=settings.draws, tune=max(settings.warmup, LEAST_WARMUP),
                chains=settings.chains, cores=1, random_seed=settings.seed, initvals=start,
                progressbar=False, quiet=True, target_accept=settings.target_accept,
                callback=look, model=pymc_model, compute_convergence_checks=False,
            )  # fmt: skip
        except ValueError as error:
            if not stopped:
                raise
            if stopped == "interrupted":
                raise KeyboardInterrupt from error
            raise EngineError("NUTS kept no draw. Give more time.") from error
    diverging = tree["sample_stats"]["diverging"]
    chains, n = tree["posterior"]["chain"].values, tree["posterior"].sizes["draw"]
    logp = diverging.copy(data=np.array([densities[chain][:n] for chain in chains]))
    stats = {"diverging": diverging, "logp": logp}
    return tree.assign({"sample_stats": xr.DataTree(xr.Dataset(stats))}), stopped
