"""Fit a scan: blocks through the partitioned engines, P(truth) to disk, draws to a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from annomodels.data.names import label_text
from annomodels.data.schema import RawResult, conform
from annomodels.engines.acceleration import Ascent
from annomodels.engines.checkpoint import identity
from annomodels.engines.climb_log import ClimbLog
from annomodels.engines.collect import collect_parameters
from annomodels.engines.partitioned_em import (
    class_probabilities,
    climb_source,
    mode_distances,
)
from annomodels.engines.partitioned_gibbs import sample_source
from annomodels.engines.relabel import canonical_order
from annomodels.engines.settings import Clock, Settings
from annomodels.engines.spread import Spread
from annomodels.errors import NotApplicable
from annomodels.executors.choose import team
from annomodels.executors.team import Team
from annomodels.models.base import Model, State
from annomodels.models.catalog import with_no_answers
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.fittable import require_learnable
from annomodels.scale.keeper import Keeper
from annomodels.scale.scanned import Scanned
from annomodels.scale.starts import start_states
from annomodels.scale.truths import WriteTruth, Written

__all__ = ["fit_scanned"]

GIBBS_VOTES = 0.7
# mean distance of class probabilities below which two solutions are one
SAME_MODE = 0.005


def fit_scanned(
    data: Scanned, model: Model, name: str, settings: Settings
) -> tuple[Model, Any, Path, Keeper]:
    """Fit a model to labels on disk, block by block.

    Parameters
    ----------
    data
        The scan.
    model
        A model whose items have one true class and nothing else (pooled to hierarchical).
    name
        The engine, gibbs or em.
    settings
        The options; without an executor, as many threads are used as there are cores.

    Returns
    -------
    tuple
        The model as it was fitted, the tree of results, the folder with P(truth), and what keeps
        that folder.

    Raises
    ------
    NotApplicable
        When the model or the engine needs the labels in memory.
    AnnotationError
        When there is one label or one coder only, so that nothing can be learnt.
    """
    if not model.by_counts or name not in ("gibbs", "em"):
        raise NotApplicable(
            f"The {model.title} model with the engine {name!r} needs the labels in memory. Use a "
            "model from pooled to hierarchical with gibbs or em, or fit "
            "am.scan(...).to_annotations()."
        )
    require_learnable(data.labels, data.n_coders, data.shared_items > 0, data.source)
    shell = data.shell()
    silent = bool(data.unanswered.any())
    model = model.bound(shell)
    model = with_no_answers(model, shell) if silent else model.reported
    keeper = Keeper()
    for folder in ("truth", "scratch"):
        (keeper.folder / folder).mkdir()
    if settings.executor is None:
        settings = replace(settings, executor="threads")
    crew = team(settings.executor, settings.workers)
    labels = tuple(label_text(name) for name in data.labels)
    write = WriteTruth(str(data.folder), str(keeper.folder / "truth"), labels)
    try:
        run = _gibbs if name == "gibbs" else _em
        result, written = run(
            cast("ConjugateModel", model),
            data,
            settings,
            crew,
            write,
            str(keeper.folder / "scratch"),
        )
    finally:
        if crew is not settings.executor:
            crew.close()
    result.posterior, fitted = model.separated(result.posterior), model.reported
    chains, draws = result.lp.shape
    result.attrs = {
        "chains": chains,
        "draws": draws,
        "warmup": settings.warmup,
        "thin": 1,
        "swapped_chains": [],
        "relabelled_share": 0.0,
        "rhat_max": float("nan"),
        "ess_min": float("nan"),
        "command": "",
        **result.attrs,
        "seed": settings.seed,
        "data_fingerprint": data.fingerprint,
        "blocks": len(data.blocks),
        "expected_errors": sum(part.expected_errors for part in written),
    }
    tree = conform(result, shell, fitted)
    return fitted, tree, keeper.folder / "truth", keeper


def _no_items(n_labels: int) -> dict[str, Any]:
    """Fields of a result that concern items, of none."""
    return {
        "p_truth": np.zeros((0, n_labels)),
        "p_truth_mcse": np.zeros((0, n_labels)),
        "conditional_entropy": np.zeros(0),
    }


def _gibbs(
    model: ConjugateModel,
    data: Scanned,
    settings: Settings,
    crew: Team,
    write: WriteTruth,
    scratch: str,
) -> tuple[RawResult, list[Written]]:
    source = data.sources(model.shared, scratch, model.shadows)
    relabel = settings.relabel and model.swappable and not source.has_gold
    settings.tell("starting", 0.0)
    starts = start_states(model, source, settings.seed, [GIBBS_VOTES] * (settings.chains - 1))
    found = sample_source(model, source, settings, crew, starts, relabel, write)
    result = collect_parameters(
        model, found.kept, source.volume, found.gaps, found.attrs, **_no_items(data.n_labels)
    )
    return result, found.parts


def _em(
    model: ConjugateModel,
    data: Scanned,
    settings: Settings,
    crew: Team,
    write: WriteTruth,
    scratch: str,
) -> tuple[RawResult, list[Written]]:
    source = data.sources(model.shared, scratch, model.shadows)
    clock = Clock(settings.time_limit)
    relabel = settings.relabel and model.swappable and not source.has_gold
    settings.tell("starting", 0.0)
    weights = [0.5 * (n % 2) for n in range(1, settings.starts)]
    starts = start_states(model, source, settings.seed, weights)
    log = ClimbLog(settings, identity(source.fingerprint, model, "em", settings))
    modes: list[Ascent] = []
    stopped, passes = "", 0

    def each(state: State, turn: int) -> None:
        nonlocal passes
        passes += 1
        settings.tell("em", len(modes) / len(starts), f"start {len(modes) + 1}, step {passes}")
        log.each(state, turn)

    with Spread(source, crew) as spread, log:
        try:
            for n, start in enumerate(starts):
                state, turn = log.begin(n, start)
                modes.append(climb_source(model, spread, state, clock=clock, turn=turn, each=each))
                log.finish(modes[-1].state)
                if clock.over:
                    stopped = "time limit"
                    break
        except KeyboardInterrupt:
            stopped = "interrupted"
            if not modes and log.now is None:
                raise
            if not modes and log.now is not None:  # the climb goes no further than this
                options = {"turn": log.now[1], "max_passes": 1}
                modes.append(climb_source(model, spread, log.now[0], **options))
        if relabel:
            for mode in modes:
                mode.state = model.ordered(mode.state, canonical_order(mode.state, source.volume))
        gaps = mode_distances(spread, [mode.state for mode in modes])
        best = max(range(len(modes)), key=lambda n: modes[n].objective)
        written = class_probabilities(spread, modes[best].state, write)
    settings.tell("em", 1.0)
    found = modes[best]
    posterior = {name: values[None, None] for name, values in model.pymc_start(found.state).items()}
    result = RawResult(
        posterior=posterior,
        lp=np.array([[found.objective]]),
        stats={"log_likelihood": np.array([[found.log_likelihood]])},
        attrs={
            "engine": "em",
            "iterations": len(found.trace),
            "passes": found.passes,
            "best_start": best,
            "modes": _census(modes, gaps),
            "seconds": clock.seconds,
            "stopped": stopped,
            "starts": settings.starts,
        },
        **_no_items(data.n_labels),
    )
    return result, written


def _census(modes: Sequence[Ascent], gaps: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Modes that differ in what they say of the items, as ``engines.em.census`` tells them."""
    groups: list[list[int]] = []
    for n in sorted(range(len(modes)), key=lambda n: -modes[n].objective):
        known = next((group for group in groups if gaps[n, group[0]] < SAME_MODE), None)
        if known is None:
            groups.append([n])
        else:
            known.append(n)
    return [
        {
            "lp": modes[group[0]].objective,
            "log_likelihood": modes[group[0]].log_likelihood,
            "share": len(group) / len(modes),
            "from_votes": 0 in group,
            "prevalence": np.exp(modes[group[0]].state.log_prevalence).round(6).tolist(),
        }
        for group in groups
    ]
