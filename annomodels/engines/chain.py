"""One Gibbs chain: truth given parameters, parameters given counts, and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.engines.kept import Kept
from annomodels.engines.relabel import canonical_order
from annomodels.engines.trace import Trace
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded

__all__ = ["Chain"]

Mapper = Callable[[Callable[[int], float], Iterable[int]], Iterable[float]]
# labels * classes that go through one call, about a tenth of a second
CALL = 20_000_000


class Chain:
    """A Gibbs chain that can be advanced a slice at a time.

    Parameters
    ----------
    model
        Says how counts become parameters.
    codes
        The items, not collapsed.
    state
        Where to begin; changed in place.
    key
        Key of all random numbers of the chain.
    relabel
        Whether kept draws are brought into the canonical order of the classes.
    partitions
        Number of parts a pass is split into.
    mapper
        Maps a function over the parts; the built-in ``map`` or a pool's.
    """

    def __init__(
        self,
        model: ConjugateModel,
        codes: Encoded,
        state: State,
        key: int,
        relabel: bool,
        partitions: int,
        mapper: Mapper,
    ) -> None:
        self.model, self.codes, self.state = model, codes, state
        self.key = np.uint64(key)
        self.relabel = relabel
        self.mapper = mapper
        self.iteration = 0
        self.volume = codes.volume
        edges = np.searchsorted(
            codes.starts, np.linspace(0, codes.starts[-1], partitions + 1), side="left"
        )
        edges[0], edges[-1] = 0, codes.n_patterns
        self.edges = [int(edge) for edge in edges]
        k = codes.n_labels
        # half the memory is half the cache: passes with 32 bits take three quarters of the time
        whole = np.int32 if len(codes.row) <= np.iinfo(np.int32).max else np.int64
        self.counts: NDArray[Any] = np.zeros((partitions, codes.n_rows, k, k), dtype=whole)
        self.sizes: NDArray[Any] = np.zeros((partitions, k), dtype=np.int64)
        self.identity = np.arange(k)
        self.at_once = max(1, CALL // (len(codes.row) * k))
        # what an iteration that keeps nothing is given in place of room for draws
        self.nowhere = Kept(_empty(codes), 0, single=False)
        self.nowhere.make_room(model.pymc_start(state))

    def advance(self, iterations: int, thin: int, kept: Kept | None, stop: Event) -> None:
        """Run some iterations, keeping every `thin`-th in `kept`."""
        end = self.iteration + iterations
        if kept is not None:
            kept.make_room(self.model.pymc_start(self.state))
        while self.iteration < end and not stop.is_set():
            if len(self.edges) == 2 and (kept is None or kept.trace is None):
                self._many(min(end, self.iteration + self.at_once), thin, kept)
            else:
                self._one(kept, self.iteration % thin == 0)

    def room(self, draws: int, single: bool) -> Kept:
        """Make room for some draws."""
        return Kept(self.codes, draws, single)

    def compile(self, single: bool) -> None:
        """Have the loops compiled, or loaded, by doing nothing with them."""
        self.nowhere = Kept(self.nowhere.codes, 0, single)
        self.nowhere.make_room(self.model.pymc_start(self.state))
        self._many(self.iteration, 1, None)

    def compile_steps(self, single: bool) -> None:
        """Do the same for iterations one by one: take a step from a copy of the state."""
        state, self.state = self.state, deepcopy(self.state)
        room = Kept(self.nowhere.codes, 1, single)
        room.make_room(self.model.pymc_start(self.state))
        self._store(self.identity, room)
        self.model.log_prior(self.state)
        self._one(None, False)
        self.state, self.iteration = state, self.iteration - 1

    def _many(self, end: int, thin: int, kept: Kept | None) -> None:
        """Run up to iteration `end` in one call, or until classes may have been swapped."""
        from annomodels.kernels.iterations import iterate

        state, prior = self.state, self.model.priors(self.state)
        target = self.nowhere if kept is None else kept
        self.iteration = iterate(
            *self.codes.arrays, *prior, state.log_prevalence, state.log_confusion, self.key,
            self.iteration, end, 0 if kept is None else thin, self.volume, self.relabel,
            self._order(), self.counts[0], self.sizes[0], target.sums, target.book,
            *self._places(target),
        )  # fmt: skip

    def trace(self, room: int) -> Trace:
        """Make room for what is watched of some iterations."""
        return Trace(self.model, self.volume, self.relabel, room)

    def _one(self, kept: Kept | None, keep: bool) -> None:
        """Run one iteration with its pass split into parts."""
        if kept is not None and kept.trace is not None:
            kept.trace.note(self.state)
        kept = kept if keep else None
        order = self.identity if kept is None else self._order()
        log_likelihood = self._pass(order, kept)
        if kept is not None:
            self._store(order, kept)
            lp = log_likelihood + self.model.log_prior(self.state)
            kept.note(log_likelihood, lp, bool((order != self.identity).any()))
        counts, sizes = self._totals()
        self.model.draw(counts, sizes, self.state, self.key, self.iteration)  # type: ignore[arg-type]
        self.iteration += 1

    def _totals(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Sum counts and class sizes over the parts."""
        return self.counts.sum(axis=0), self.sizes.sum(axis=0)

    def _store(self, order: NDArray[Any], kept: Kept) -> None:
        """Write the parameters by the same lines as many iterations in one call do."""
        from annomodels.kernels.iterations import store

        state, source = self.state, self.model.source(self.state)
        store(kept.n, order, state.log_prevalence, state.log_confusion, source, *self._places(kept))

    def _places(self, kept: Kept) -> tuple[Any, Any]:
        """Where an iteration writes draws: of all models, and of what the rows come from."""
        held = kept.arrays
        confusion = held["confusion"]
        if confusion.ndim == 3:  # one matrix for all coders
            confusion = confusion[:, None]
        common = (held["prevalence"], confusion, kept.log_likelihood, kept.lp)
        return common, self.model.draw_places(held, kept.lp.astype(kept.dtype))

    def _order(self) -> NDArray[Any]:
        return canonical_order(self.state, self.volume) if self.relabel else self.identity

    def _pass(self, order: NDArray[Any], kept: Kept | None) -> float:
        """Draw the truth of all items in parts; gives the log likelihood of the parameters."""
        from annomodels.kernels.passes import sampled_pass
        from annomodels.kernels.products import chances

        self.counts.fill(0)
        self.sizes.fill(0)
        target = self.nowhere if kept is None else kept
        given = chances(self.state.log_prevalence, self.state.log_confusion)

        def part(n: int) -> float:
            return float(
                sampled_pass(
                    *self.codes.arrays, given, self.key, self.iteration, order, kept is not None,
                    self.edges[n], self.edges[n + 1], self.counts[n], self.sizes[n],
                    target.batch, target.entropy,
                )
            )  # fmt: skip

        return sum(self.mapper(part, range(len(self.edges) - 1)))


def _empty(codes: Encoded) -> Encoded:
    """No items, of the same kind."""
    none = codes.gold[:0]
    return replace(codes, starts=codes.starts[:1], row=none, label=none, gold=none, inverse=none)
