"""Blocked Gibbs sampling for models that are conjugate given the truth."""

# Each iteration draws the truth of all items given the parameters, then all parameters given the
# counts. If the items are here in one part, a call takes many steps of a chain; else the chains
# take their steps together. Random numbers depend on chain, iteration and item only, so neither
# changes the draws.

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, cast

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult
from annomodels.engines.collect import collect_parameters
from annomodels.engines.kept import add_priors
from annomodels.engines.settings import Clock, Interrupts, Settings
from annomodels.engines.stages import room_for
from annomodels.engines.starts import chain_starts
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
    from annomodels.executors.choose import team

    crew = team(settings.executor or "threads", settings.threads)
    source = source_of(model, data, settings, crew)
    return sample_counts(cast("ConjugateModel", model), source, settings, crew)


def source_of(
    model: Model,
    data: Annotations | LabelsOnDisk,
    settings: Settings,
    crew: Team,
) -> Source:
    """Return the items in as many parts as there are threads for, or the blocks of a scan."""
    if not isinstance(data, Annotations):
        from annomodels.engines.source.disk import opened

        return opened(data, model)
    codes = encode(data, shared=model.shared, collapse=False)
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


def sample_counts(
    model: ConjugateModel, source: Source, settings: Settings, crew: Team
) -> RawResult:
    """Sample a model by counts, over the parts of a source."""
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
            settings.tell("compiling", 0.0)
            draws, single = room_for(source.n_rows, source.n_labels, settings)
            run_.begin(single)
            # the result will need it, and sampling leaves the interpreter idle
            Thread(target=import_module, args=("xarray",), daemon=True).start()
            run_.clock = Clock(settings.time_limit)
            with Interrupts(True) as run_.interrupts:
                run_.sample(draws, single)
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
