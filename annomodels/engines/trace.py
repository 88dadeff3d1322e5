"""Every iteration of the few parameters that are watched, where memory keeps few whole draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.engines.diagnostics import BUSIEST, ess, monitors, rhat
from annomodels.engines.relabel import canonical_order
from annomodels.models.confusion import State

if TYPE_CHECKING:
    from annomodels.models.conjugate import ConjugateModel

__all__ = ["Trace", "watched"]

Floats = NDArray[np.float64]


class Trace:
    """Watched parameters of one chain, from every iteration of a stage.

    A hundred kept draws cannot tell a chain that has mixed from one that has not: R-hat of
    independent draws would be 1.02 by chance. So what is watched is noted between them too.

    Parameters
    ----------
    model
        Says what the parameters are called.
    volume
        Share of the labels that each confusion matrix gave, shape [row].
    relabel
        Whether classes are brought into their canonical order.
    room
        Number of iterations to make room for.
    """

    def __init__(self, model: ConjugateModel, volume: Floats, relabel: bool, room: int) -> None:
        self.model, self.relabel, self.room = model, relabel, room
        self.busiest = np.argsort(-volume, kind="stable")[:BUSIEST]
        self.volume = volume[self.busiest]
        self.values: Floats = np.empty((0, 0))
        self.n = 0

    def note(self, state: State) -> None:
        """Add the parameters of one iteration."""
        few = State(state.log_prevalence, state.log_confusion[self.busiest], state.population)
        if self.relabel:
            order = canonical_order(few, self.volume)
            if (order != np.arange(len(order))).any():
                few = few.ordered(order)
        draws = {name: v[None, None] for name, v in self.model.pymc_start(few).items()}
        self.put(monitors(draws, self.volume)[0])

    def put(self, values: Floats) -> None:
        """Add rows [iteration, parameter]."""
        if not self.n:
            self.values = np.empty((self.room, values.shape[1]))
        self.values[self.n : self.n + len(values)] = values
        self.n += len(values)


def watched(found: Sequence[Trace | None]) -> tuple[Floats, Floats] | None:
    """R-hat and bulk effective sample size of each watched parameter; None without traces."""
    traces = [trace for trace in found if trace is not None]
    n = min((trace.n for trace in traces), default=0)
    if not n:
        return None
    draws = np.stack([trace.values[:n] for trace in traces])
    return rhat(draws), ess(draws)
