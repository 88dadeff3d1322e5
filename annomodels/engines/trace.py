"""Every iteration of the few parameters that are watched, where memory keeps few whole draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.mixing import mixing
from annomodels.engines.relabel import canonical_order
from annomodels.models.base import State
from annomodels.models.parameters import busiest_coders, watched_draws
from annomodels.types import AnyArray, Floats

if TYPE_CHECKING:
    from annomodels.models.base import Model
    from annomodels.models.conjugate import ConjugateModel


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
        self.coders = busiest_coders(volume[: model.n_coders(len(volume))])
        self.rows = model.rows_of(self.coders, len(volume))
        self.volume = volume[self.rows]
        self.values: Floats = np.empty((0, 0))
        self.n = 0

    def note(self, state: State) -> None:
        """Add the parameters of one iteration."""
        few = State(state.log_prevalence, state.log_confusion[self.rows], state.population)
        if self.relabel:
            order = canonical_order(few, self.volume)
            if (order != np.arange(len(order))).any():
                few = self.model.ordered(few, order)
        draws = {name: v[None, None] for name, v in self.model.pymc_start(few).items()}
        self.put(watched_of(self.model, draws, self.volume)[0])

    def put(self, values: Floats) -> None:
        """Add rows [iteration, parameter]."""
        if not self.n:
            self.values = np.empty((self.room, values.shape[1]))
        self.values[self.n : self.n + len(values)] = values
        self.n += len(values)


def watched_of(model: Model, posterior: dict[str, AnyArray], volume: Floats) -> Floats:
    """Draws [chain, draw, column] of what is watched, from the draws that chains keep."""
    shown = model.separated(posterior)
    declared = model.parameters(shown["prevalence"].shape[-1])
    return watched_draws(declared, shown, volume[: model.n_coders(len(volume))])


def traced(found: Sequence[Trace | None]) -> tuple[Floats, Floats] | None:
    """R-hat and bulk effective sample size of each watched column; None without traces."""
    traces = [trace for trace in found if trace is not None]
    n = min((trace.n for trace in traces), default=0)
    if not n:
        return None
    return mixing(np.stack([trace.values[:n] for trace in traces]))
