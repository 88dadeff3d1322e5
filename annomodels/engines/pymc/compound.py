"""PyMC's compound step, for models in which something discrete is left that NUTS cannot move."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from annomodels.engines.pymc.compiled import data_values
from annomodels.engines.pymc.steps import Steps, compiled_steps
from annomodels.engines.settings import Clock, Settings
from annomodels.errors import EngineError
from annomodels.types import AnyArray, PyMCModel

if TYPE_CHECKING:
    import xarray as xr

# NUTS learns its step size and the scales of the variables from them
LEAST_WARMUP = 300


def sample_compound(
    pymc_model: PyMCModel, start: dict[str, AnyArray], settings: Settings
) -> tuple[xr.DataTree, str]:
    """Sample by a compound step: NUTS for continuous variables, Gibbs-Metropolis for the others."""
    # The steps are compiled once for all chains and for all models of the same graph. Chains run
    # one after the other; with a time limit each has its share of it.
    seeds = np.random.SeedSequence(settings.seed).generate_state(settings.chains)
    given = data_values(pymc_model)
    chains: list[_Chain] = []
    stopped = ""
    with warnings.catch_warnings():
        # numbers that overflow on a path that is then rejected; Fit.check says what matters
        warnings.simplefilter("ignore")
        steps = compiled_steps(pymc_model, start)
        settings.tell("compiling", 1.0)
        with steps.turn(given):
            point = steps.begin(start)
        for n, seed in enumerate(seeds):
            chains.append(_Chain(settings, n))
            why = chains[-1].run(steps, given, point, int(seed))
            stopped = why or stopped
            if why == "interrupted":
                break
    return _merged(chains), stopped


class _Chain:
    """One chain: its draws, their log densities, and which of them diverged."""

    def __init__(self, settings: Settings, number: int) -> None:
        self.settings, self.number = settings, number
        self.length = 0
        self.draws: dict[str, AnyArray] = {}
        self.logp = np.empty(settings.draws)
        self.diverging = np.zeros(settings.draws, dtype=bool)

    def run(
        self, steps: Steps, given: Mapping[str, AnyArray], point: dict[str, AnyArray], seed: int
    ) -> str:
        """Sample, and say why sampling ended early; what was drawn until then is kept."""
        settings = self.settings
        warmup = max(settings.warmup, LEAST_WARMUP)
        # the limit does not count compiling, which is done: it could not be cut short
        limit = None if settings.time_limit is None else settings.time_limit / settings.chains
        clock = Clock(limit)
        try:
            step = steps.chain(point, settings.target_accept, seed, warmup, settings.draws)
            for i in range(warmup + settings.draws):
                if i > 0 and clock.over:
                    return "time limit"
                if i == warmup:
                    step.stop_tuning()
                with steps.turn(given):
                    point, stats = step.step(point)
                    if i >= warmup:
                        diverging = any(part.get("diverging", False) for part in stats)
                        self._keep(steps.values(point), steps.log_density(point), diverging)
                self._tell(i + 1)
        except KeyboardInterrupt:
            return "interrupted"
        return ""

    def _keep(self, values: dict[str, AnyArray], logp: float, diverging: bool) -> None:
        n = self.length
        if not self.draws:
            size = len(self.logp)
            self.draws = {k: np.empty((size, *v.shape), v.dtype) for k, v in values.items()}
        for name, value in values.items():
            self.draws[name][n] = value
        self.logp[n], self.diverging[n] = logp, diverging
        self.length = n + 1

    def _tell(self, count: int) -> None:
        if count % 100 == 0:
            share = self.number / self.settings.chains
            self.settings.tell("sampling", share, f"chain {self.number + 1}, draw {count}")


def _merged(chains: list[_Chain]) -> xr.DataTree:
    """One tree of all chains that got far, as long as the shortest of them."""
    import xarray as xr

    longest = max(chain.length for chain in chains)
    if longest < 1:
        raise EngineError("NUTS kept no draw. Give more time.")
    chains = [chain for chain in chains if chain.length >= longest / 2]
    n = min(chain.length for chain in chains)
    posterior = {
        name: (
            ("chain", "draw", *(f"{name}_dim_{k}" for k in range(values.ndim - 1))),
            np.stack([chain.draws[name][:n] for chain in chains]),
        )
        for name, values in chains[0].draws.items()
    }
    stats = {
        "logp": (("chain", "draw"), np.stack([chain.logp[:n] for chain in chains])),
        "diverging": (("chain", "draw"), np.stack([chain.diverging[:n] for chain in chains])),
    }
    groups = {"posterior": xr.Dataset(posterior), "sample_stats": xr.Dataset(stats)}
    return xr.DataTree.from_dict(groups)
