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
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult
from annomodels.engines.chain import Chain
from annomodels.engines.checkpoint import identity, open_checkpoint, require_no_checkpoint
from annomodels.engines.collect import collect
from annomodels.engines.interrupts import Interrupts
from annomodels.engines.kept import Kept
from annomodels.engines.partition import cut
from annomodels.engines.partitioned_gibbs import in_memory
from annomodels.engines.settings import Clock, Settings
from annomodels.engines.stages import StagedRun, looks, room_for
from annomodels.engines.starts import random_shares, state_from_shares, vote_shares
from annomodels.errors import NotApplicable
from annomodels.executors.choose import team
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded, encode

if TYPE_CHECKING:
    from annomodels.models.mixtures.state_model import StateModel

__all__ = ["run"]

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
    NotApplicable
        When an executor or a checkpoint is asked for and the model does not know it, or when the
        checkpoint is of another run.
    KeyboardInterrupt
        When interrupted before the first draw.
    """
    _require_family(model, settings)
    codes = encode(data, shared=model.shared, collapse=False)
    relabel = settings.relabel and _may_swap(model, data)
    if settings.executor is not None:
        crew = team(settings.executor, settings.threads)
        parts = crew.parts(len(codes.row), codes.n_rows * codes.n_labels**2)
        source = cut(codes, settings.partitions or parts, data.fingerprint)
        begin = _starts(model, codes, settings)
        return in_memory(cast("ConjugateModel", model), source, settings, crew, begin, relabel)
    with ThreadPoolExecutor(settings.workers) as pool:
        run_ = _Run(model, codes, settings, pool, relabel, data.fingerprint)
        draws, single = room_for(codes.n_rows, codes.n_labels, settings)
        settings.tell("compiling", 0.0)
        run_.chains[0].compile(single)
        if single and run_.traces:
            run_.chains[0].compile_steps(single)
        # the result will need it, and sampling leaves the interpreter idle
        Thread(target=import_module, args=("xarray",), daemon=True).start()
        run_.clock = Clock(settings.time_limit)
        with Interrupts(settings.checkpoint is not None) as run_.interrupts:
            run_.sample(draws, single)
    return collect(model, run_.result[0], codes, run_.attrs)


def _require_family(model: ConjugateModel | StateModel, settings: Settings) -> None:
    if model.by_counts:
        return
    require_no_checkpoint(model.title, "gibbs", settings)
    if settings.executor is not None:
        raise NotApplicable(
            "executor= serves the models whose items have one true class and nothing else "
            f"(pooled to hierarchical), not the {model.title} model. Leave it out."
        )


def _may_swap(model: ConjugateModel | StateModel, data: Annotations) -> bool:
    return model.coder_model.swappable and data.gold is None


def _starts(model: ConjugateModel | StateModel, codes: Encoded, settings: Settings) -> list[State]:
    """Where the chains begin: the first at the votes, the others near them."""
    rng = np.random.default_rng(settings.seed)
    states = []
    for n in range(settings.chains):
        shares = random_shares(codes, rng, votes=0.7) if n else vote_shares(codes)
        states.append(state_from_shares(cast("ConjugateModel", model.starter), codes, shares))
    return states


class _Run(StagedRun):
    """Chains in threads of this process."""

    def __init__(
        self,
        model: ConjugateModel | StateModel,
        codes: Encoded,
        settings: Settings,
        pool: ThreadPoolExecutor,
        relabel: bool,
        fingerprint: str,
    ) -> None:
        belongs = identity(fingerprint, model, "gibbs", settings)
        work = looks(len(codes.row), codes.n_rows, codes.n_labels)
        if model.by_states:
            work += 3 * len(codes.row) * model.n_states(codes.n_labels)
        super().__init__(settings, work, open_checkpoint(settings, belongs))
        self.codes, self.pool = codes, pool
        self.stop = Event()
        self.interrupts = Interrupts(False)
        spare = max(1, settings.workers // settings.chains)
        parts = settings.partitions or (spare if len(codes.row) >= SPLIT_FROM else 1)
        # parts wait for nothing but the processor, so they have threads of their own
        self.parts_pool = ThreadPoolExecutor(parts) if parts > 1 else None
        mapper = self.parts_pool.map if self.parts_pool is not None else map
        keys = np.random.SeedSequence(settings.seed).generate_state(settings.chains, np.uint64)
        states = _starts(model, codes, settings)
        self.chains: Sequence[Any]
        if model.by_states:
            from annomodels.engines.state_chain import StateChain

            self.traces = False
            self.chains = [
                StateChain(cast("StateModel", model), codes, state, int(key), relabel)
                for state, key in zip(states, keys, strict=True)
            ]
        else:
            self.chains = [
                Chain(cast("ConjugateModel", model), codes, state, int(key), relabel, parts, mapper)
                for state, key in zip(states, keys, strict=True)
            ]

    def sample(self, draws: int, single: bool) -> None:
        """Warm up, then run stages until the chains have mixed."""
        super().sample(draws, single)
        if self.parts_pool is not None:
            self.parts_pool.shutdown()

    def slice(self, steps: Sequence[int], thin: int, kept: list[Kept] | None, limit: Any) -> None:
        """Advance the chains, each in a thread."""
        waiting: set[Future[None]] = {
            self.pool.submit(
                chain.advance, steps[n], thin, None if kept is None else kept[n], self.stop
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
                self.interrupts.check()
        except KeyboardInterrupt:
            self.stop.set()
            wait(waiting)
            raise
        finally:
            if not waiting:
                self.stop.clear()

    def refill(self, chain: int, kept: Kept) -> None:
        """Take up again what draws that a checkpoint held say of the items."""
        from annomodels.engines.recount import recount

        recount(self.codes, kept)
