"""Stored draws of a chain, in the canonical order of the classes."""

# Classes may swap, so draws are relabeled into the order in which most labels are right. If memory
# holds few complete draws, the monitored parameters are recorded in every iteration.

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.mixing import mixing
from annomodels.models.answering import result_draws
from annomodels.models.base import State
from annomodels.models.parameters import busiest_coders, watched_draws
from annomodels.types import AnyArray, Floats, Ints

if TYPE_CHECKING:
    from annomodels.models.base import Model
    from annomodels.models.conjugate import ConjugateModel
    from annomodels.models.mixtures.state_model import StateModel

BATCHES = 20
# maximum size of the draws whose densities are computed at a time
CELLS = 1_000_000


class DrawStore:
    """Draws of the parameters of one chain and stage."""

    def __init__(self, draws: int, single: bool) -> None:
        self.room = draws
        self.dtype = np.float32 if single else np.float64
        self.arrays: dict[str, AnyArray] = {}
        # monitored parameters of all iterations, if few draws are stored
        self.trace: Trace | None = None
        self.log_likelihood = np.zeros(draws)
        self.lp = np.zeros(draws)
        # number of draws, number of relabeled draws, and draws per batch of item statistics
        self.book = np.array([0, 0, max(1, draws // BATCHES)])

    @property
    def n(self) -> int:
        """Number of stored draws."""
        return int(self.book[0])

    @property
    def relabelled(self) -> int:
        """Number of draws whose classes were reordered."""
        return int(self.book[1])

    @property
    def length(self) -> int:
        """Number of draws in a batch."""
        return int(self.book[2])

    def make_room(self, variables: dict[str, AnyArray]) -> None:
        """Allocate arrays for draws of these variables."""
        if not self.arrays:
            for name, values in variables.items():
                self.arrays[name] = np.empty((self.room, *np.shape(values)), dtype=self.dtype)

    def add(
        self, variables: dict[str, AnyArray], log_likelihood: float, lp: float, moved: bool
    ) -> None:
        """Store one draw."""
        self.make_room(variables)
        for name, values in variables.items():
            self.arrays[name][self.n] = values
        self.note(log_likelihood, lp, moved)

    def note(self, log_likelihood: float, lp: float, moved: bool) -> None:
        """Complete a draw whose parameters are already stored."""
        self.log_likelihood[self.n] = log_likelihood
        self.lp[self.n] = lp
        self.book[:2] += 1, moved


def add_priors(model: ConjugateModel | StateModel, kept: Iterable[DrawStore]) -> None:
    """Add the log prior densities of the draws to their log densities."""
    for part in kept:
        size = sum(values[:1].size for values in part.arrays.values())
        step = max(1, CELLS // size)
        for lo in range(0, part.n, step):
            some = slice(lo, min(lo + step, part.n))
            least = np.finfo(part.dtype).tiny  # replaces probabilities rounded to 0
            values = {n: np.maximum(v[some], least).astype(float) for n, v in part.arrays.items()}
            part.lp[some] += model.log_prior(values)


class Trace:
    """Monitored parameters of one chain, from every iteration of a stage."""

    # 100 stored draws cannot show whether a chain has mixed: R-hat of independent draws would be
    # 1.02 by chance. So monitored parameters are recorded between them, too.

    def __init__(self, model: ConjugateModel, volume: Floats, relabel: bool, room: int) -> None:
        self.model, self.relabel, self.room = model, relabel, room
        self.rows = busiest_coders(volume)
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
        draws = {name: v[None, None] for name, v in self.model.kept_values(few).items()}
        values = watched_of(self.model, draws, self.volume)[0]
        if not self.n:
            self.values = np.empty((self.room, values.shape[1]))
        self.values[self.n : self.n + len(values)] = values
        self.n += len(values)


def watched_of(model: Model, posterior: dict[str, AnyArray], volume: Floats) -> Floats:
    """Return the draws [chain, draw, column] of the monitored parameters."""
    shown = result_draws(model, posterior)
    declared = model.parameters(shown["prevalence"].shape[-1])
    return watched_draws(declared, shown, volume)


def traced(found: Sequence[Trace | None]) -> tuple[Floats, Floats] | None:
    """Return R-hat and bulk ESS of each monitored column; None without traces."""
    traces = [trace for trace in found if trace is not None]
    n = min((trace.n for trace in traces), default=0)
    if not n:
        return None
    return mixing(np.stack([trace.values[:n] for trace in traces]))


def joint_table(state: State, volume: Floats) -> Floats:
    """Return P(truth, label) of a label chosen at random, shape [truth, label]."""
    votes = np.exp(state.log_confusion[:, : len(state.log_prevalence)])
    rows = np.tensordot(volume, votes, axes=1)
    return np.asarray((rows * np.exp(state.log_prevalence)).T)


def canonical_order(state: State, volume: Floats) -> Ints:
    """Return the new position of each class that maximizes the proportion of right labels."""
    # two classes need only the mirror test, more need an optimal assignment
    from annomodels.kernels.products import diagonal_leads

    k = len(state.log_prevalence)
    if diagonal_leads(state.log_prevalence, state.log_confusion, volume):
        return np.arange(k)
    from scipy.optimize import linear_sum_assignment

    table = joint_table(state, volume)
    truth, label = linear_sum_assignment(-table)
    order = np.empty(k, dtype=np.int64)
    order[truth] = label
    if table[truth, label].sum() <= np.trace(table) * (1 + 1e-9):
        return np.arange(k)
    return order


def total_gaps(p_truth: Sequence[Floats] | Floats, weight: Floats | float = 1.0) -> Floats:
    """Sum the total variation distances of class probabilities over items, for all pairs."""
    n = len(p_truth)
    gaps = np.zeros((n, n))
    for a in range(n):
        for b in range(a):
            gap = np.abs(p_truth[a] - p_truth[b]).sum(axis=1)
            # not a BLAS product, whose threads would delay those of a pass
            gaps[a, b] = gaps[b, a] = 0.5 * float((weight * gap).sum())
    return gaps


def alike(gaps: Floats, order: Iterable[int], distance: float) -> list[list[int]]:
    """Group numbers in this order, each within `distance` of the first of its group."""
    groups: list[list[int]] = []
    for n in order:
        known = next((group for group in groups if gaps[n, group[0]] < distance), None)
        if known is None:
            groups.append([n])
        else:
            known.append(n)
    return groups
