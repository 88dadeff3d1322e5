"""Blocked Gibbs sampling for models that are conjugate given the truth."""

# Each iteration draws the truth of all items given the parameters, then all parameters given the
# counts. If the items are here in one part, each chain goes through them in a separate thread; if
# there are several parts, here, on disk or on a cluster, the chains take their steps together.
# Random numbers depend on chain, iteration and item only, so neither changes the draws.

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from importlib import import_module
from threading import Event, Thread
from typing import TYPE_CHECKING, cast

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult
from annomodels.engines.chain import Chain
from annomodels.engines.collect import collect, collect_parameters
from annomodels.engines.kept import DrawStore, add_priors
from annomodels.engines.settings import Clock, Interrupts, Settings
from annomodels.engines.stages import StagedRun, chain_keys, cost, room_for
from annomodels.engines.starts import chain_starts, items_here
from annomodels.errors import NotApplicable, Option
from annomodels.models.base import Model
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded, encode

if TYPE_CHECKING:
    from annomodels.engines.source.disk import LabelsOnDisk
    from annomodels.engines.source.partition import Source
    from annomodels.executors.team import Team
    from annomodels.models.mixtures.state_model import StateModel

# labels from which threads that have no chain take a part of the items
SPLIT_FROM = 200_000


def run(
    model: ConjugateModel | StateModel, data: Annotations | LabelsOnDisk, settings: Settings
) -> RawResult:
    """Sample the posterior; chains that have not mixed run on, thinned, up to 16 times as long."""
    if model.by_states:
        return _in_states(cast("StateModel", model), data, settings)
    by_counts, codes = cast("ConjugateModel", model), None
    if isinstance(data, Annotations) and settings.executor is None:
        codes = encode(data, shared=model.shared, collapse=False)
        if _spare(codes, settings) == 1:
            return sample_apart(by_counts, codes, settings)
    from annomodels.executors.choose import team

    crew = team(settings.executor or "threads", settings.threads)
    return sample_parts(by_counts, source_of(model, data, settings, crew, codes), settings, crew)


def source_of(
    model: Model,
    data: Annotations | LabelsOnDisk,
    settings: Settings,
    crew: Team,
    codes: Encoded | None = None,
) -> Source:
    """Return the items in as many parts as there are threads for, or the blocks of a scan."""
    if not isinstance(data, Annotations):
        from annomodels.engines.source.disk import opened

        return opened(data, model)
    codes = codes or encode(data, shared=model.shared, collapse=False)
    parts = _spare(codes, settings)
    if settings.executor is not None and settings.partitions is None:
        parts = crew.parts(len(codes.row), codes.n_rows * codes.n_labels**2)
    from annomodels.engines.source.partition import cut

    return cut(codes, parts, data.fingerprint)


def _in_states(
    model: StateModel, data: Annotations | LabelsOnDisk, settings: Settings
) -> RawResult:
    """Sample a model whose items have states, with all items in one part here."""
    from annomodels.engines.source.partition import cut
    from annomodels.engines.state_rounds import sample_states
    from annomodels.executors.choose import team

    assert isinstance(data, Annotations)
    _require_nothing_else(model, settings)
    source = cut(encode(data, collapse=False), 1, data.fingerprint)
    # the result will need it, and sampling leaves the interpreter idle
    Thread(target=import_module, args=("xarray",), daemon=True).start()
    return sample_states(model, source, settings, team("threads", settings.threads))


def _require_nothing_else(model: Model, settings: Settings) -> None:
    if settings.executor is not None:
        raise NotApplicable(
            f"{Option('executor')} serves the models whose items have one true class and nothing "
            f"else (pooled to hierarchical) and a stack, not the {model.title} model. Leave it out."
        )


def _spare(codes: Encoded, settings: Settings) -> int:
    """Return the number of parts of data in memory for which there are threads without a chain."""
    spare = settings.workers // settings.chains if len(codes.row) >= SPLIT_FROM else 1
    return settings.partitions or max(1, spare)


def _relabels(model: Model, settings: Settings, has_gold: bool) -> bool:
    return settings.relabel and model.coder_model.swappable and not has_gold


def sample_parts(
    model: ConjugateModel, source: Source, settings: Settings, crew: Team
) -> RawResult:
    """Sample with chains that take their steps together, over the parts of a source."""
    from annomodels.engines.rounds import Rounds
    from annomodels.engines.source.spread import Spread
    from annomodels.engines.starts import items_of

    settings.tell("starting", 0.0)
    relabel = _relabels(model, settings, source.has_gold)
    try:
        with Spread(source, crew) as spread, ThreadPoolExecutor(settings.workers) as pool:
            begun = chain_starts(
                model, items_of(spread), settings.seed, settings.chains, relabel=relabel
            )
            run_ = Rounds(model, spread, settings, pool, begun.states, relabel)
            run_.census = begun.modes
            with Interrupts(True) as run_.interrupts:
                run_.sample(*room_for(source.n_rows, source.n_labels, settings))
            kept, _ = run_.result
            parts, gaps = run_.items(kept)
            add_priors(model, kept)
    finally:
        if crew is not settings.executor:
            crew.close()
    of_items = source.gathered(parts)
    return collect_parameters(
        model, kept, source.volume, gaps / source.n_items, run_.attrs, **of_items
    )


def sample_apart(model: ConjugateModel, codes: Encoded, settings: Settings) -> RawResult:
    """Sample with chains that each go through all items, in threads."""
    with ThreadPoolExecutor(settings.workers) as pool:
        run_ = _Threads(model, codes, settings, pool)
        draws, single = room_for(codes.n_rows, codes.n_labels, settings)
        settings.tell("compiling", 0.0)
        run_.chains[0].compile(single)
        if single:
            run_.chains[0].compile_steps(single)
        # the result will need it, and sampling leaves the interpreter idle
        Thread(target=import_module, args=("xarray",), daemon=True).start()
        run_.clock = Clock(settings.time_limit)
        with Interrupts(True) as run_.interrupts:
            run_.sample(draws, single)
    kept, _ = run_.result
    add_priors(model, kept)
    return collect(model, kept, codes, run_.attrs)


class _Threads(StagedRun):
    """Chains in threads of this process, each with all items."""

    def __init__(
        self, model: ConjugateModel, codes: Encoded, settings: Settings, pool: ThreadPoolExecutor
    ) -> None:
        work = cost(len(codes.row), codes.n_rows, codes.n_labels)
        super().__init__(settings, work)
        self.codes, self.pool = codes, pool
        self.stop = Event()
        relabel = _relabels(model, settings, bool((codes.gold >= 0).any()))
        begun = chain_starts(
            model, items_here(codes), settings.seed, settings.chains, relabel=relabel
        )
        self.census = begun.modes
        self.chains: Sequence[Chain] = [
            Chain(model, codes.volume, state, key, relabel, codes)
            for state, key in zip(begun.states, chain_keys(settings), strict=True)
        ]

    def slice(
        self, steps: Sequence[int], thin: int, kept: list[DrawStore] | None, limit: float | None
    ) -> None:
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
