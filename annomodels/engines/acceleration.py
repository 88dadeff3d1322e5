"""EM with leaps: two steps show where a slow climb leads, and a leap is taken if it goes up."""

# With the parameters as log-ratios x and one EM step M, SQUAREM leaps to x - 2 a r + a^2 v with r =
# M(x) - x, v = M(M(x)) - M(x) - r and a = -|r| / |v|. A leap that does not go up is not taken, so
# the objective never falls, and the modes are those of plain EM (Varadhan and Roland 2008,
# doi:10.1111/j.1467-9469.2007.00585.x).

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annomodels.engines.settings import Clock
from annomodels.errors import EngineError
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.types import Floats

# expected counts [row, label, truth], sizes [truth] and log likelihood of a state
Expectation = Callable[[State], tuple[Floats, Floats, float]]

ROUNDS = 3
# plain steps before the first leap: a climb that ends within them needs no help
FIRST_STEPS = 8
# how far a leap may go, in steps, and how that grows when leaps of this length go up
FIRST_LIMIT, GROWTH = 4.0, 4.0


@dataclass
class Ascent:
    """End of a climb."""

    state: State  # the parameters there
    objective: float  # log likelihood plus the log prior on the scale of log-ratios
    log_likelihood: float  # log likelihood with the truth summed out
    trace: list[float]  # objective of every state that was accepted
    # number of passes over the items, with those whose leap was not taken, in all rounds
    passes: int


@dataclass
class _Point:
    """A state and what a pass says of it."""

    state: State
    counts: Any
    sizes: Any
    log_likelihood: float
    objective: float


@dataclass(frozen=True)
class Climb:
    """How to climb, and who is told."""

    tolerance: float = 1e-11  # share of the objective that a step gains at the least
    max_passes: int = 5000
    clock: Clock | None = None
    accelerate: bool = True
    turn: int = 0  # the round to begin with
    # called with the state and the round after each step
    each: Callable[[State, int], None] | None = None


AS_USUAL = Climb()


def ascend(
    model: ConjugateModel, expectation: Expectation, state: State, how: Climb = AS_USUAL
) -> Ascent:
    """Climb from a state to a local maximum, the population of the model held."""
    passes = 0

    def point(state: State) -> _Point:
        nonlocal passes
        passes += 1
        counts, sizes, log_likelihood = expectation(state)
        return _Point(
            state, counts, sizes, log_likelihood, log_likelihood + model.log_penalty(state)
        )

    def step(here: _Point) -> State:
        return model.maximise(here.counts, here.sizes, here.state)

    here, limit = point(state), FIRST_LIMIT
    _require_number(here)
    trace = [here.objective]
    before: State | None = None  # the state an EM step before this one
    while passes < how.max_passes and not (how.clock is not None and how.clock.over):
        following = step(here)
        if how.accelerate and before is not None and passes >= FIRST_STEPS:
            leap, length = _leap(model, before, here.state, following, limit)
            there = point(leap)
            if np.isfinite(there.objective) and there.objective >= here.objective:
                limit *= GROWTH if length >= limit else 1.0
                here, before = there, None
                trace.append(here.objective)
                continue
            limit = max(FIRST_LIMIT, limit / GROWTH)
            if passes >= how.max_passes:
                break
        there = point(following)
        _require_number(there)
        gain, here, before = there.objective - here.objective, there, here.state
        trace.append(here.objective)
        if how.each is not None:
            how.each(here.state, how.turn)
        if gain < how.tolerance * (1 + abs(here.objective)):
            break
    return Ascent(here.state, here.objective, here.log_likelihood, trace, passes)


def climb_rounds(
    model: ConjugateModel, expectation: Expectation, state: State, how: Climb = AS_USUAL
) -> Ascent:
    """Climb, and if the model has a population, set it from the expected counts and climb again."""
    # the population is held while EM climbs (empirical Bayes)
    found = ascend(model, expectation, state, how)
    passes = found.passes
    for turn in range(how.turn + 1, ROUNDS if state.population else 1):
        state = model.start(*expectation(found.state)[:2])
        found = ascend(model, expectation, state, replace(how, turn=turn))
        passes += found.passes
    return replace(found, passes=passes)


def _require_number(point: _Point) -> None:
    if not np.isfinite(point.objective):
        raise EngineError("EM met labels that are impossible under its parameters.")


def _leap(
    model: ConjugateModel, first: State, second: State, third: State, limit: float
) -> tuple[State, float]:
    """Return where three successive states lead, and how many steps away that is."""
    x, y, z = model.free(first), model.free(second), model.free(third)
    # shares that are zero stay zero
    finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    with np.errstate(invalid="ignore"):
        r = np.where(finite, y - x, 0.0)
        v = np.where(finite, z - y, 0.0) - r
    curve = _norm(v)
    length = _norm(r) / curve if curve > 0 else limit
    length = min(max(length, 1.0), limit)
    leap = np.where(finite, x, 0.0) + 2.0 * length * r + length**2 * v
    return model.from_free(np.where(finite, leap, z), third), length


def _norm(values: Floats) -> float:
    """Euclidean norm, without the threads of a library that those of a pass would wait for."""
    return float(np.sqrt(np.square(values).sum()))
