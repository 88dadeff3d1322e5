"""EM from many starts with a census of modes: a quick fit, and a start for NUTS."""

# Parameters are sent to the partitions of the items, and expected counts come back.

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult
from annomodels.engines.acceleration import AS_USUAL, Ascent, Climb, climb_rounds
from annomodels.engines.kept import alike, canonical_order
from annomodels.engines.settings import Clock, Interrupts, Settings
from annomodels.engines.source.disk import LabelsOnDisk, opened
from annomodels.engines.source.jobs import parameters_of, weighed
from annomodels.engines.source.partition import ItemSource, cut
from annomodels.engines.source.spread import Spread
from annomodels.engines.starts import (
    expectation_of,
    gaps_of,
    known_only,
    soft_counts,
    start_states,
)
from annomodels.executors.choose import team
from annomodels.executors.team import Team
from annomodels.models.answering import uses_unanswered
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded, encode
from annomodels.types import Floats

# minimum number of labels per part of data in memory, and maximum number of parts
PART, MOST_PARTS = 100_000, 8
# starts for data in memory; on disk there is one, because a climb takes long
STARTS = 10
# mean distance of class probabilities below which two modes are the same
SAME_MODE = 0.005


@dataclass
class Mode(Ascent):
    """A local maximum."""

    p_truth: Floats  # class probabilities of the patterns, shape [pattern, truth]


def run(model: ConjugateModel, data: Annotations | LabelsOnDisk, settings: Settings) -> RawResult:
    """Climb from the votes and from random starts, and return the best mode."""
    clock = Clock(settings.time_limit)
    codes = None
    if isinstance(data, Annotations):
        codes = encode(data, shared=model.shared, unanswered=uses_unanswered(model))
    # a single local part is processed in this thread
    here = "threads" if codes is None or settings.partitions or _parts(codes) > 1 else None
    crew = team(settings.executor or here, settings.threads)
    try:
        if codes is not None and isinstance(data, Annotations):
            parts = settings.partitions or (crew.places if settings.executor else _parts(codes))
            source = cut(codes, parts)
        elif not isinstance(data, Annotations):
            source = opened(data, model)
        if settings.starts is None:
            settings = replace(settings, starts=STARTS if isinstance(data, Annotations) else 1)
        return _Census(model, source, settings, clock).taken(crew)
    finally:
        if crew is not settings.executor:
            crew.close()


class _Census:
    """Climbs from many starts, and their modes."""

    def __init__(
        self, model: ConjugateModel, source: ItemSource, settings: Settings, clock: Clock
    ) -> None:
        self.model, self.source, self.settings, self.clock = model, source, settings, clock
        self.interrupts = Interrupts(True)
        self.modes: list[Ascent] = []
        self.now: tuple[State, int] | None = None  # state and round of the current climb
        self.stopped, self.passes = "", 0

    def taken(self, crew: Team) -> RawResult:
        """Climb from all starts, and return the best mode."""
        settings, source, model = self.settings, self.source, self.model
        n_starts = max(1, settings.starts or 1)
        settings.tell("starting", 0.0)
        weights = [0.5 * (n % 2) for n in range(1, n_starts)]
        starts = start_states(model, source.opened, settings.seed, weights)
        if source.has_gold and n_starts > 1:  # replaces a random start
            starts[1] = model.start(*soft_counts(source.opened, known_only))
        with Spread(source, crew) as spread, self.interrupts:
            climb_from = partial(climb_rounds, model, expectation_of(spread))
            how = Climb(clock=self.clock, each=self._each)
            try:
                for number, start in enumerate(starts):
                    settings.tell("em", number / n_starts, f"start {number + 1}")
                    self.modes.append(climb_from(start, how))
                    self.now = None
                    if self.clock.over:
                        self.stopped = "time limit"
                        break
            except KeyboardInterrupt:
                self.stopped = "interrupted"
                if not self.modes:
                    if self.now is None:
                        raise
                    # take the current state of the only climb
                    state, turn = self.now
                    how = Climb(clock=self.clock, turn=turn, max_passes=1)
                    self.modes.append(climb_from(state, how))
            if settings.relabel and model.swappable and not source.has_gold:
                for mode in self.modes:
                    order = canonical_order(mode.state, source.volume)
                    mode.state = model.ordered(mode.state, order)
            gaps = gaps_of(spread, [mode.state for mode in self.modes])
            best = max(range(len(self.modes)), key=lambda n: self.modes[n].objective)
            parts = class_probabilities(spread, self.modes[best].state, source.finish)
        settings.tell("em", 1.0)
        mode = self.modes[best]
        values = model.kept_values(mode.state)
        return RawResult(
            posterior={name: value[None, None] for name, value in values.items()},
            lp=np.array([[mode.objective]]),
            stats={"log_likelihood": np.array([[mode.log_likelihood]])},
            attrs={
                "engine": "em",
                "iterations": len(mode.trace),
                "passes": mode.passes,
                "best_start": best,
                "modes": census(self.modes, gaps),
                "seconds": self.clock.seconds,
                "stopped": self.stopped,
                "starts": n_starts,
            },
            **source.gathered(parts),
        )

    def _each(self, state: State, turn: int) -> None:
        self.now, self.passes = (state, turn), self.passes + 1
        share, start = len(self.modes) / max(1, self.settings.starts or 1), len(self.modes) + 1
        self.settings.tell("em", share, f"start {start}, step {self.passes}")
        self.interrupts.check()


def class_probabilities(
    spread: Spread, state: State, finish: Callable[..., Any] | None = None
) -> list[Any]:
    """Return P(truth) of each partition [item, truth], or the result of `finish` on it."""
    # `finish` runs where the partition is, and only its result is sent back
    return spread.each(weighed, parameters_of(state, spread.here), finish)


def climb(
    model: ConjugateModel,
    codes: Encoded,
    state: State,
    how: Climb = AS_USUAL,
    threads: int | None = None,
) -> Mode:
    """Climb to a local maximum of data in memory; passes over many labels use threads."""
    parts = _parts(codes)
    crew = team("threads" if parts > 1 else None, threads)
    try:
        with Spread(cut(codes, parts), crew) as spread:
            found = climb_rounds(model, expectation_of(spread), state, how)
            p_truth = np.concatenate(class_probabilities(spread, found.state))
    finally:
        crew.close()
    return Mode(**vars(found), p_truth=p_truth)


def _parts(codes: Encoded) -> int:
    # depends on the data only, so that every machine adds the same sums
    return max(1, min(MOST_PARTS, len(codes.row) // PART))


def expect(codes: Encoded, state: State) -> tuple[Floats, Floats, Floats, float]:
    """Compute expected counts, class sizes, class probabilities and log likelihood (E-step)."""
    from annomodels.kernels.passes import chances, soft

    given = chances(state.log_prevalence, state.log_confusion)
    return soft(codes.arrays, codes.weight, codes.n_rows, given)


def census(modes: Sequence[Ascent], gaps: Floats) -> list[dict[str, object]]:
    """List modes with different class probabilities, best first, with their share of starts."""
    order = sorted(range(len(modes)), key=lambda n: -modes[n].objective)
    return [
        {
            "lp": modes[group[0]].objective,
            "log_likelihood": modes[group[0]].log_likelihood,
            "share": len(group) / len(modes),
            "from_votes": 0 in group,
            "prevalence": np.exp(modes[group[0]].state.log_prevalence).round(6).tolist(),
        }
        for group in alike(gaps, order, SAME_MODE)
    ]
