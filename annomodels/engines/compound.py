"""PyMC's own sampler, for models in which something discrete is left that NUTS cannot move."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.engines.settings import Clock, Settings
from annomodels.errors import EngineError

__all__ = ["sample_compound"]

Floats = NDArray[Any]


def sample_compound(
    pymc_model: Any, start: dict[str, Floats], settings: Settings
) -> tuple[Any, str]:
    """Sample by a compound step: NUTS for what is continuous, Gibbs-Metropolis for the rest.

    Chains run one after the other; with a time limit each has its share of it.

    Parameters
    ----------
    pymc_model
        The model.
    start
        Values of the free variables to start from.
    settings
        The options of the run.

    Returns
    -------
    tree, stopped
        Draws and statistics under the names that nutpie gives them, and why sampling ended early
        (empty if it did not).

    Raises
    ------
    EngineError
        When the time limit ends before the first draw.
    """
    import pymc as pm

    seeds = np.random.SeedSequence(settings.seed).generate_state(settings.chains)
    limit = None if settings.time_limit is None else settings.time_limit / settings.chains
    chains: list[Any] = []
    stopped = ""
    talk = logging.getLogger("pymc")
    level = talk.level
    talk.setLevel(logging.ERROR)  # whether chains are long enough is for Fit.check to say
    try:
        for n, seed in enumerate(seeds):
            heard = _Listener(settings, n, limit)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                chains.append(
                    pm.sample(
                        draws=settings.draws, tune=max(settings.warmup, 300), chains=1, cores=1,
                        random_seed=int(seed), initvals=start, progressbar=False, callback=heard,
                        target_accept=settings.target_accept, model=pymc_model,
                        compute_convergence_checks=False,
                    )
                )  # fmt: skip
            if heard.clock is not None and heard.clock.over:
                stopped = "time limit"
            elif chains[-1]["posterior"].sizes["draw"] < settings.draws:
                stopped = "interrupted"
                break
    except ValueError as error:
        if "Not enough samples" in str(error):
            raise EngineError("NUTS kept no draw. Give more time.") from error
        raise
    finally:
        talk.setLevel(level)
    return _merged(chains), stopped


class _Listener:
    """Hears of every draw: tells how far a chain is, and ends it when its time is over."""

    def __init__(self, settings: Settings, chain: int, limit: float | None) -> None:
        self.settings, self.chain, self.limit = settings, chain, limit
        self.clock: Clock | None = None
        self.count = 0

    def __call__(self, **_: Any) -> None:
        # compiling does not count against the limit: it cannot be cut short
        self.clock = self.clock or Clock(self.limit)
        self.count += 1
        if self.count % 100 == 0:
            share = self.chain / self.settings.chains
            self.settings.tell("sampling", share, f"chain {self.chain + 1}, draw {self.count}")
        if self.clock.over:
            raise KeyboardInterrupt


def _merged(chains: list[Any]) -> Any:
    """One tree of all chains, as long as the shortest, with nutpie's name of the density."""
    import xarray as xr

    length = min(chain["posterior"].sizes["draw"] for chain in chains)
    groups = {}
    for group in ("posterior", "sample_stats"):
        found = [chain[group].to_dataset().isel(draw=slice(length)) for chain in chains]
        each = [part.assign_coords(chain=[n]) for n, part in enumerate(found)]
        groups[group] = xr.concat(each, dim="chain", join="override", combine_attrs="drop")
    groups["sample_stats"] = groups["sample_stats"].rename(lp="logp")
    return xr.DataTree.from_dict(groups)
