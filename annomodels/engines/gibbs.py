"""Blocked Gibbs sampling for models that are conjugate given the truth."""

# Each iteration draws the truth of all items given the parameters, then all parameters given the
# counts. If the items are in one local part, one call runs many iterations of a chain; otherwise
# the chains advance together. Random numbers depend on chain, iteration and item only, so both
# ways give the same draws.

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, cast

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult
from annomodels.engines.collect import collect_parameters, fields_of_states
from annomodels.engines.kept import add_priors
from annomodels.engines.run import Run, room_for
from annomodels.engines.settings import Clock, Interrupts, Settings
from annomodels.engines.starts import chain_starts
from annomodels.errors import NotApplicable, Option
from annomodels.models.answering import uses_unanswered
from annomodels.models.base import Model
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded, encode
from annomodels.models.mixtures.state_model import coders_of

if TYPE_CHECKING:
    from annomodels.engines.source.disk import LabelsOnDisk
    from annomodels.engines.source.partition import ItemSource
    from annomodels.executors.team import Team
    from annomodels.models.mixtures.state_model import StateModel

# number of labels from which spare threads process parts of the items
SPLIT_FROM = 200_000


def run(
    model: ConjugateModel | StateModel, data: Annotations | LabelsOnDisk, settings: Settings
) -> RawResult:
    """Sample the posterior; chains that have not mixed continue, up to 16 times as long."""
    from annomodels.executors.choose import team

    if coders_of(model) is not model:
        settings = _all_here(model, settings)
    crew = team(settings.executor or "threads", settings.threads)
    return sample(model, source_of(model, data, settings, crew), settings, crew)


def source_of(
    model: Model,
    data: Annotations | LabelsOnDisk,
    settings: Settings,
    crew: Team,
) -> ItemSource:
    """Return the items in one part per available thread, or the blocks of a scan."""
    if not isinstance(data, Annotations):
        from annomodels.engines.source.disk import opened

        return opened(data, model)
    unanswered = uses_unanswered(model)
    codes = encode(data, shared=model.shared, collapse=False, unanswered=unanswered)
    parts = _spare(codes, settings)
    if settings.executor is not None and settings.partitions is None:
        parts = crew.parts(len(codes.row), codes.n_rows * codes.n_codes * codes.n_labels)
    from annomodels.engines.source.partition import cut

    return cut(codes, parts)


def _all_here(model: Model, settings: Settings) -> Settings:
    """Return settings for a model of item states, which needs one local part."""
    if settings.executor is not None:
        raise NotApplicable(
            f"{Option('executor')} is only for a stack and for models whose items have one true "
            f"class and nothing else (pooled to hierarchical), not for the {model.title} model. "
            "Leave it out."
        )
    return replace(settings, partitions=1)


def _spare(codes: Encoded, settings: Settings) -> int:
    """Return the number of parts of data in memory: the threads per chain."""
    spare = settings.workers // settings.chains if len(codes.row) >= SPLIT_FROM else 1
    return settings.partitions or max(1, spare)


def sample(
    model: ConjugateModel | StateModel, source: ItemSource, settings: Settings, crew: Team
) -> RawResult:
    """Sample a model on the partitions of a source."""
    from annomodels.engines.source.spread import Spread

    settings.tell("starting", 0.0)
    coders = cast("ConjugateModel", coders_of(model))
    relabel = settings.relabel and coders.swappable and not source.has_gold
    try:
        with Spread(source, crew) as spread, ThreadPoolExecutor(settings.workers) as pool:
            begun = chain_starts(coders, spread, settings.seed, settings.chains, relabel=relabel)
            run_ = Run(model, spread, settings, pool, begun.states, relabel)
            run_.census = begun.modes
            settings.tell("compiling", 0.0)
            draws, single = room_for(run_.chains[0].kept_cells, settings)
            run_.begin(single)
            # preloaded for the result, while sampling leaves the interpreter idle
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
    own = run_.chains[0].own
    if own is not None:
        of_items |= fields_of_states(parts, own.names, np.arange(source.n_items))
    gaps /= source.n_items
    return collect_parameters(model, kept, source.volume, gaps, run_.attrs, **of_items)
