"""Blocked Gibbs sampling for models that are conjugate given the truth.

Each iteration draws the truth of all items given the parameters, then all parameters given the
counts. Chains run in threads; a pass over many items is split into parts. Random numbers depend on
chain, iteration and item only, so neither changes the draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from importlib import import_module
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.annotations import Annotations
from annomodels.engines.chain import Chain
from annomodels.engines.collect import collect
from annomodels.engines.diagnostics import mixing
from annomodels.engines.kept import Kept
from annomodels.engines.settings import Clock, Settings
from annomodels.engines.starts import random_shares, state_from_shares, vote_shares
from annomodels.engines.state_chain import StateChain
from annomodels.errors import EngineError
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded, encode
from annomodels.models.mixture import StateModel
from annomodels.schema import RawResult

__all__ = ["run"]

SLICE_SECONDS = 0.4
FIRST_SLICE = 20
MOST_THIN = 16
GOOD_RHAT, GOOD_ESS = 1.01, 400
FEWEST_DRAWS = 100
SPLIT_FROM = 200_000


def run(model: ConjugateModel | StateModel, data: Annotations, settings: Settings) -> RawResult:
    """Sample the posterior.

    Chains that have not mixed by their last kept draw run on: what was kept becomes warm-up, the
    next stage is twice as long and keeps every second iteration, and so on up to 16 times.

    Parameters
    ----------
    model
        A model with conjugate parameters.
    data
        The annotations.
    settings
        The options of the run.

    Raises
    ------
    EngineError
        When the time limit leaves no draw.
    KeyboardInterrupt
        When interrupted before the first draw.
    """
    codes = encode(data, shared=model.shared, collapse=False)
    draws, single = _room(codes, settings)
    with ThreadPoolExecutor(settings.workers) as pool:
        run_ = _Run(model, codes, settings, pool, relabel=_may_swap(model, data))
        settings.tell("compiling", 0.0)
        run_.chains[0].compile(single)
        # the result will need it, and sampling leaves the interpreter idle
        Thread(target=import_module, args=("xarray",), daemon=True).start()
        run_.clock = Clock(settings.time_limit)
        run_.sample(draws, single)
    if not run_.stages:
        if run_.stopped == "interrupted":
            raise KeyboardInterrupt
        raise EngineError(
            f"The time limit of {settings.time_limit:g} s ended before the first draw. "
            "Give more time, or use engine='em'."
        )
    kept, thin = run_.stages[-1]
    attrs: dict[str, Any] = {
        "engine": "gibbs",
        "thin": thin,
        "iterations": run_.chains[0].iteration,
        "seconds": run_.clock.seconds,
        "stopped": run_.stopped,
    }
    return collect(kept, codes, attrs)


def _may_swap(model: ConjugateModel | StateModel, data: Annotations) -> bool:
    coders = model.coders if isinstance(model, StateModel) else model
    return coders.swappable and data.gold is None


def _room(codes: Encoded, settings: Settings) -> tuple[int, bool]:
    """How many draws a chain keeps within the memory, and whether in single precision."""
    k = codes.n_labels
    bytes_per_draw = codes.n_rows * k * k * 8 * settings.chains
    if bytes_per_draw * settings.draws <= settings.memory:
        return settings.draws, False
    most = int(settings.memory / (bytes_per_draw / 2))
    return max(min(settings.draws, most), min(settings.draws, FEWEST_DRAWS)), True


class _Run:
    """Chains, and the stages they went through."""

    def __init__(
        self,
        model: ConjugateModel | StateModel,
        codes: Encoded,
        settings: Settings,
        pool: ThreadPoolExecutor,
        relabel: bool,
    ) -> None:
        self.codes, self.settings, self.pool = codes, settings, pool
        self.clock = Clock(settings.time_limit)
        self.stop = Event()
        self.stopped = ""
        self.stages: list[tuple[list[Kept], int]] = []
        spare = max(1, settings.workers // settings.chains)
        parts = settings.partitions or (spare if len(codes.row) >= SPLIT_FROM else 1)
        # parts wait for nothing but the processor, so they have threads of their own
        self.parts_pool = ThreadPoolExecutor(parts) if parts > 1 else None
        mapper = self.parts_pool.map if self.parts_pool is not None else map
        keys = np.random.SeedSequence(settings.seed).generate_state(settings.chains, np.uint64)
        rng = np.random.default_rng(settings.seed)
        relabel = settings.relabel and relabel
        self.chains: Sequence[Any]
        coders = model.starter if isinstance(model, StateModel) else model
        states = []
        for n in range(settings.chains):
            shares = random_shares(codes, rng, votes=0.7) if n else vote_shares(codes)
            states.append(state_from_shares(coders, codes, shares))
        if isinstance(model, StateModel):
            self.chains = [
                StateChain(model, codes, state, int(key), relabel)
                for state, key in zip(states, keys, strict=True)
            ]
        else:
            self.chains = [
                Chain(model, codes, state, int(key), relabel, parts, mapper)
                for state, key in zip(states, keys, strict=True)
            ]

    def sample(self, draws: int, single: bool) -> None:
        """Warm up, then run stages until the chains have mixed."""
        settings = self.settings
        limit = settings.time_limit
        self._stage(settings.warmup, 1, None, "warm-up", None if limit is None else limit / 2)
        thin = 1
        while not self.stopped:
            kept = [chain.room(draws, single) for chain in self.chains]
            complete = self._stage(draws * thin, thin, kept, "sampling", limit)
            enough = min(part.n for part in kept) >= (draws if self.stages else 1)
            if enough:
                self.stages = [(kept, thin)]
            if not complete or not self._worth_more(thin) or self._mixed(kept):
                break
            thin *= 2
        if self.parts_pool is not None:
            self.parts_pool.shutdown()

    def _worth_more(self, thin: int) -> bool:
        """Whether a stage of twice the length may follow: it would end within the patience."""
        return (
            self.settings.extend
            and thin < MOST_THIN
            and 3 * self.clock.seconds <= max(self.settings.patience, self.settings.time_limit or 0)
        )

    def _stage(
        self, iterations: int, thin: int, kept: list[Kept] | None, name: str, limit: float | None
    ) -> bool:
        """Advance all chains together, a slice at a time, so that none runs far ahead.

        Gives whether the stage was carried out wholly.
        """
        length, begun = max(thin, FIRST_SLICE), 0
        for chain in self.chains:
            # the first iteration of a stage is one that is kept
            chain.iteration += -chain.iteration % thin
        while begun < iterations:
            length = min(length, iterations - begun)
            since = self.clock.seconds
            waiting: set[Future[None]] = {
                self.pool.submit(
                    chain.advance, length, thin, None if kept is None else kept[n], self.stop
                )
                for n, chain in enumerate(self.chains)
            }
            try:
                while waiting:
                    done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                    if limit is not None and self.clock.seconds >= limit:
                        self.stop.set()
                    for future in done:
                        future.result()
                begun += length
                self.settings.tell(name, begun / iterations, f"thin {thin}")
            except KeyboardInterrupt:
                self.stop.set()
                wait(waiting)
                self.stopped = "interrupted"
                return False
            if limit is not None and self.clock.seconds >= limit:
                self.stop.clear()
                if kept is not None:
                    self.stopped = "time limit"
                return False
            pace = SLICE_SECONDS / max(self.clock.seconds - since, 1e-3)
            length = max(1, int(length * min(pace, 4.0)))
        return True

    def _mixed(self, kept: list[Kept]) -> bool:
        posterior: dict[str, NDArray[Any]] = {
            name: np.stack([part.arrays[name] for part in kept]) for name in kept[0].arrays
        }
        r, n = mixing(posterior, self.chains[0].volume)
        return bool(np.isnan(r)) or (
            r < GOOD_RHAT and n >= min(GOOD_ESS, 0.4 * kept[0].room * len(kept))
        )
