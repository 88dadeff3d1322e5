"""EM from many starts with a census of modes: a first look, and a start for NUTS."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult
from annomodels.engines.acceleration import Ascent, climb_rounds
from annomodels.engines.checkpoint import identity
from annomodels.engines.climb_log import ClimbLog
from annomodels.engines.partition import cut
from annomodels.engines.partitioned_em import class_probabilities, climb_source
from annomodels.engines.relabel import canonical_order
from annomodels.engines.settings import Clock, Settings
from annomodels.engines.spread import Spread
from annomodels.engines.starts import random_shares, state_from_shares, vote_shares
from annomodels.executors.choose import team
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded, encode

__all__ = ["Mode", "climb", "run"]

Floats = NDArray[np.float64]
Mapper = Callable[..., Iterable[Any]]
# labels of a part of a pass, and most parts
PART, MOST_PARTS = 100_000, 8


@dataclass
class Mode:
    """A local maximum.

    Parameters
    ----------
    state
        The parameters there.
    objective
        Log likelihood plus the log prior on the scale of log-ratios.
    log_likelihood
        Log likelihood with the truth summed out.
    p_truth
        Class probabilities of the patterns, shape [pattern, truth].
    trace
        Objective by iteration since the population was last set.
    start
        Number of the start that led here; 0 is the votes.
    passes
        Number of passes over the items in all rounds.
    """

    state: State
    objective: float
    log_likelihood: float
    p_truth: Floats
    trace: list[float]
    start: int = 0
    passes: int = 0


def expect(
    codes: Encoded, state: State, mapper: Mapper = map, items: bool = True
) -> tuple[Floats, Floats, Floats, float]:
    """E-step: expected counts, sizes, class probabilities and the log likelihood.

    Parameters
    ----------
    codes, state
        Data and parameters.
    mapper
        Maps a function over parts of the items; the built-in ``map`` or a pool's.
    items
        Whether the class probabilities are wanted; else they are empty.
    """
    from annomodels.kernels.passes import soft_pass
    from annomodels.kernels.products import chances

    k = codes.n_labels
    arrays, weight = codes.arrays, codes.weight
    p_truth = np.empty((codes.n_patterns if items else 0, k))
    given = chances(state.log_prevalence, state.log_confusion)

    def part(edges: tuple[int, int]) -> tuple[Floats, Floats, float]:
        counts, sizes = np.zeros((codes.n_rows, k, k)), np.zeros(k)
        found = soft_pass(
            *arrays, weight, given, *edges, counts, sizes, p_truth
        )  # fmt: skip
        return counts, sizes, float(found)

    found = list(mapper(part, _parts(codes)))
    counts, sizes, log_likelihood = found[0]
    for more in found[1:]:
        counts += more[0]
        sizes += more[1]
        log_likelihood += more[2]
    return counts, sizes, p_truth, log_likelihood


def _parts(codes: Encoded) -> list[tuple[int, int]]:
    """First and last items of parts with about as many labels.

    How many depends on the data alone, so that the same sums are added on every machine.
    """
    n = len(codes.row)
    parts = max(1, min(MOST_PARTS, n // PART))
    edges = np.searchsorted(codes.starts, np.linspace(0, n, parts + 1)).tolist()
    edges[0], edges[-1] = 0, codes.n_patterns
    return list(pairwise(edges))


def climb(
    model: ConjugateModel,
    codes: Encoded,
    state: State,
    *,
    tolerance: float = 1e-11,
    max_iterations: int = 5000,
    clock: Clock | None = None,
    accelerate: bool = True,
    turn: int = 0,
    each: Callable[[State, int], None] | None = None,
    threads: int | None = None,
) -> Mode:
    """Iterate E and M to a local maximum, with leaps where that is slow.

    The population of a hierarchical model is held while EM climbs and set anew from the expected
    counts between rounds (empirical Bayes). Passes over many labels use `threads` threads, without
    it as many as there are cores.

    Raises
    ------
    EngineError
        When the likelihood is not a number.
    """
    with ThreadPoolExecutor(Settings(threads=threads).workers) as pool:
        mapper: Mapper = pool.map if len(codes.row) >= 2 * PART else map
        found = climb_rounds(
            model,
            lambda state: _without_items(codes, state, mapper),
            state,
            tolerance=tolerance,
            max_passes=max_iterations,
            clock=clock,
            accelerate=accelerate,
            turn=turn,
            each=each,
        )
        return _mode(found, expect(codes, found.state, mapper)[2])


def _mode(found: Ascent, p_truth: Floats) -> Mode:
    return Mode(
        found.state,
        found.objective,
        found.log_likelihood,
        p_truth,
        found.trace,
        passes=found.passes,
    )


def _without_items(codes: Encoded, state: State, mapper: Mapper) -> tuple[Floats, Floats, float]:
    counts, sizes, _, log_likelihood = expect(codes, state, mapper, items=False)
    return counts, sizes, log_likelihood


def run(model: ConjugateModel, data: Annotations, settings: Settings) -> RawResult:
    """Climb from the votes and from random starts; the best mode is the result.

    Parameters
    ----------
    model
        A model with conjugate parameters.
    data
        The annotations.
    settings
        The options of the run.

    Returns
    -------
    RawResult
        One chain with one draw; ``attrs["modes"]`` is the census.
    """
    clock = Clock(settings.time_limit)
    codes = encode(data, shared=model.shared)
    volume = codes.volume
    rng = np.random.default_rng(settings.seed)
    relabel = settings.relabel and model.swappable and data.gold is None
    log = ClimbLog(settings, identity(data.fingerprint, model, "em", settings))
    modes: list[Mode] = []
    stopped = ""
    with ExitStack() as stack:
        climber = _climber(model, codes, settings, clock, stack)
        stack.enter_context(log)
        try:
            for start in range(max(1, settings.starts)):
                settings.tell("em", start / settings.starts, f"start {start + 1}")
                shares = (
                    random_shares(codes, rng, votes=0.5 * (start % 2))
                    if start
                    else vote_shares(codes)
                )
                state, turn = log.begin(start, state_from_shares(model, codes, shares))
                mode = climber(state, turn, log.each)
                log.finish(mode.state)
                modes.append(_canonical(model, mode, volume, relabel))
                modes[-1].start = start
                if clock.over:
                    stopped = "time limit"
                    break
        except KeyboardInterrupt:
            if not modes:
                raise
            stopped = "interrupted"
    settings.tell("em", 1.0)
    best = max(modes, key=lambda mode: mode.objective)
    return _result(model, codes, best, modes, clock, stopped, settings)


Climber = Callable[[State, int, Callable[[State, int], None]], Mode]


def _climber(
    model: ConjugateModel, codes: Encoded, settings: Settings, clock: Clock, stack: ExitStack
) -> Climber:
    """How to climb: here, or with the executor that the options name."""
    if settings.executor is None:
        return lambda state, turn, each: climb(
            model, codes, state, clock=clock, turn=turn, each=each, threads=settings.threads
        )
    crew = team(settings.executor, settings.threads)
    if crew is not settings.executor:
        stack.callback(crew.close)
    spread = stack.enter_context(Spread(cut(codes, settings.partitions or crew.places), crew))

    def far(state: State, turn: int, each: Callable[[State, int], None]) -> Mode:
        found = climb_source(model, spread, state, clock=clock, turn=turn, each=each)
        return _mode(found, np.concatenate(class_probabilities(spread, found.state)))

    return far


def _canonical(model: ConjugateModel, mode: Mode, volume: Floats, relabel: bool) -> Mode:
    if relabel:
        order = canonical_order(mode.state, volume)
        mode.state = model.ordered(mode.state, order)
        mode.p_truth = mode.p_truth[:, np.argsort(order)]
    return mode


def _result(
    model: ConjugateModel,
    codes: Encoded,
    best: Mode,
    modes: list[Mode],
    clock: Clock,
    stopped: str,
    settings: Settings,
) -> RawResult:
    from annomodels.kernels.products import entropies

    p = best.p_truth[codes.inverse]
    posterior = {name: values[None, None] for name, values in model.pymc_start(best.state).items()}
    return RawResult(
        posterior=posterior,
        lp=np.array([[best.objective]]),
        p_truth=p,
        p_truth_mcse=np.full_like(p, np.nan),
        conditional_entropy=entropies(p),
        stats={"log_likelihood": np.array([[best.log_likelihood]])},
        attrs={
            "engine": "em",
            "iterations": len(best.trace),
            "passes": best.passes,
            "best_start": best.start,
            "modes": census(modes, codes.weight),
            "seconds": clock.seconds,
            "stopped": stopped,
            "starts": settings.starts,
        },
    )


def census(modes: list[Mode], weight: Floats, distance: float = 0.005) -> list[dict[str, Any]]:
    """Modes that differ in what they say of the items, best first, with the share of the starts.

    Two modes are one when their class probabilities differ by less than `distance` on average.
    """
    found: list[tuple[Mode, list[int]]] = []
    for mode in sorted(modes, key=lambda mode: -mode.objective):
        for known, starts in found:
            gap = 0.5 * np.abs(known.p_truth - mode.p_truth).sum(axis=1)
            if gap @ weight < distance * weight.sum():
                starts.append(mode.start)
                break
        else:
            found.append((mode, [mode.start]))
    return [
        {
            "lp": mode.objective,
            "log_likelihood": mode.log_likelihood,
            "share": len(starts) / len(modes),
            "from_votes": 0 in starts,
            "prevalence": np.exp(mode.state.log_prevalence).round(6).tolist(),
        }
        for mode, starts in found
    ]
