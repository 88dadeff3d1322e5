"""EM over partitions that lie elsewhere: parameters go out, expected counts come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.engines.acceleration import Ascent, climb_rounds
from annomodels.engines.jobs import Finish, distances, expected, parameters_of, weighed
from annomodels.engines.spread import Spread
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel

__all__ = ["class_probabilities", "climb_source", "mode_distances"]

Floats = NDArray[np.float64]


def climb_source(model: ConjugateModel, spread: Spread, state: State, **options: Any) -> Ascent:
    """Climb to a local maximum over partitions.

    The path is that of a climb in memory but for the order in which numbers are added.

    Parameters
    ----------
    model
        A model with conjugate parameters.
    spread
        The data, spread over a team.
    state
        Where to begin.
    **options
        Those of :func:`annomodels.engines.acceleration.climb_rounds`.
    """

    def expectation(state: State) -> tuple[Floats, Floats, float]:
        counts, sizes, found = spread.sum(expected, parameters_of(state, spread.team.here))
        return counts, sizes, float(found)

    return climb_rounds(model, expectation, state, **options)


def class_probabilities(spread: Spread, state: State, finish: Finish = None) -> list[Any]:
    """Class probabilities of each partition's items [item, truth], or what `finish` makes of them.

    Parameters
    ----------
    spread
        The data, spread over a team.
    state
        The parameters.
    finish
        Called with partition and class probabilities where the partition lies; its result is what
        comes back.
    """
    return spread.each(weighed, parameters_of(state, spread.team.here), finish)


def mode_distances(spread: Spread, states: Sequence[State]) -> Floats:
    """Mean total variation distance of what states say of the items, shape [state, state].

    Parameters
    ----------
    spread
        The data, spread over a team.
    states
        The parameters.
    """
    if len(states) < 2:
        return np.zeros((len(states), len(states)))
    known = [parameters_of(state, spread.team.here) for state in states]
    (gaps,) = spread.sum(distances, known)
    return np.asarray(gaps / spread.source.n_items)
