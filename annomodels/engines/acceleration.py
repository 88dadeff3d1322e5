"""EM with SQUAREM: extrapolate from two steps, and accept the result if the objective rises."""

# With the parameters as log-ratios x and one EM step M, SQUAREM extrapolates to x - 2 a r + a^2 v,
# where r = M(x) - x, v = M(M(x)) - M(x) - r and a = -|r| / |v|. A point that lowers the objective
# is rejected. So the objective never falls, and the modes are those of plain EM (Varadhan and
# Roland 2008, doi:10.1111/j.1467-9469.2007.00585.x).

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

# from a state to expected counts [row, label, truth], class sizes [truth] and log likelihood
Expectation = Callable[[State], tuple[Floats, Floats, float]]

ROUNDS = 3
# plain EM steps before the first extrapolation: shorter climbs need none
FIRST_STEPS = 8
# maximum length of an extrapolation, in steps, and its growth when one of this length is accepted
FIRST_LIMIT, GROWTH = 4.0, 4.0


@dataclass
class Ascent:
    """Result of a climb."""

    state: State  # parameters at the end
    objective: float  # log likelihood plus log prior, on the log-ratio scale
    log_likelihood: float  # log likelihood with the truth summed out
    trace: list[float]  # objective of each accepted state
    # number of passes over the items in all rounds, including rejected extrapolations
    passes: int


@dataclass
class _Point:
    """A state and the statistics of its pass."""

    state: State
    counts: Any
    sizes: Any
    log_likelihood: float
    objective: float


@dataclass(frozen=True)
class Climb:
    """Options of a climb."""

    tolerance: float = 1e-11  # minimum relative gain in the objective per step
    max_passes: int = 5000
    clock: Clock | None = None
    accelerate: bool = True
    turn: int = 0  # first round
    # called with the state and the round after each step
    each: Callable[[State, int], None] | None = None


AS_USUAL = Climb()


def ascend(
    model: ConjugateModel, expectation: Expectation, state: State, how: Climb = AS_USUAL
) -> Ascent:
    """Climb from a state to a local maximum, with the population of the model fixed."""
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
    before: State | None = None  # state one EM step earlier
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
    """Climb; if the model has a population, set it from the expected counts and climb again."""
    # the population is fixed while EM climbs (empirical Bayes)
    found = ascend(model, expectation, state, how)
    passes = found.passes
    for turn in range(how.turn + 1, ROUNDS if state.population else 1):
        state = model.start(*expectation(found.state)[:2])
        found = ascend(model, expectation, state, replace(how, turn=turn))
        passes += found.passes
    return replace(found, passes=passes)


def _require_number(point: _Point) -> None:
    if not np.isfinite(point.objective):
        raise EngineError("EM found labels that are impossible under its parameters.")


def _leap(
    model: ConjugateModel, first: State, second: State, third: State, limit: float
) -> tuple[State, float]:
    """Return the state extrapolated from three successive ones, and the length in steps."""
    x, y, z = model.free(first), model.free(second), model.free(third)
    # zero probabilities stay zero
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
    """Return the Euclidean norm without BLAS, whose threads would delay those of a pass."""
    return float(np.sqrt(np.square(values).sum()))
