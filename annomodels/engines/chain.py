"""One Gibbs chain: truth given parameters, parameters given counts, and what is kept of them."""

from __future__ import annotations

from copy import deepcopy
from threading import Event

import numpy as np

from annomodels.engines.kept import DrawStore, Trace, canonical_order
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded
from annomodels.types import AnyArray, Floats, Places

# labels * classes that go through one call, about a tenth of a second
CALL = 20_000_000


class Chain:
    """Gibbs chain that draws parameters from counts it is given, or from its own items."""

    def __init__(
        self,
        model: ConjugateModel,
        volume: Floats,
        state: State,
        key: int,
        relabel: bool,
        codes: Encoded | None = None,
    ) -> None:
        self.model, self.volume, self.state, self.codes = model, volume, state, codes
        self.key = np.uint64(key)
        self.relabel = relabel
        self.iteration = 0
        self.identity = np.arange(len(state.log_prevalence))
        self.ordered = -1, self.identity  # iteration, and the order of the classes in it
        if codes is not None:
            self._own(codes)

    def _own(self, codes: Encoded) -> None:
        """Make room for counts of items that are here."""
        k = codes.n_labels
        # half the memory is half the cache: passes with 32 bits take three quarters of the time
        whole = np.int32 if len(codes.row) <= np.iinfo(np.int32).max else np.int64
        self.counts: AnyArray = np.zeros((codes.n_rows, k, k), dtype=whole)
        self.sizes: AnyArray = np.zeros(k, dtype=np.int64)
        self.at_once = max(1, CALL // (len(codes.row) * k))
        self.nowhere = self._no_room(False)

    def _no_room(self, single: bool) -> DrawStore:
        """Return what an iteration that keeps nothing gets in place of room for draws."""
        kept = DrawStore(0, len(self.identity), 0, single)
        kept.make_room(self.model.pymc_start(self.state))
        return kept

    def room(self, draws: int, single: bool) -> DrawStore:
        """Make room for some draws, and for what they say of the chain's own items."""
        items = 0 if self.codes is None else self.codes.n_patterns
        return DrawStore(items, len(self.identity), draws, single)

    def trace(self, room: int) -> Trace:
        """Make room for what is watched of some iterations."""
        return Trace(self.model, self.volume, self.relabel, room)

    def follow(self, other: Chain) -> None:
        """Go on from where another chain is, with random numbers of its own."""
        self.state = deepcopy(other.state)

    def order(self) -> AnyArray:
        """Return the new place of each class in draws that are kept."""
        if self.relabel and self.ordered[0] != self.iteration:
            self.ordered = self.iteration, canonical_order(self.state, self.volume)
        return self.ordered[1]

    def take(
        self, kept: DrawStore | None, counts: AnyArray, sizes: AnyArray, log_likelihood: float
    ) -> None:
        """Complete an iteration after its pass: keep the parameters, then draw new ones."""
        if kept is not None:
            order = self.order()
            self._store(order, kept)
            kept.note(log_likelihood, log_likelihood, bool((order != self.identity).any()))
        whole = counts.astype(np.int64)
        self.model.draw(whole, sizes, self.state, self.key, self.iteration)  # type: ignore[arg-type]
        self.iteration += 1

    def _store(self, order: AnyArray, kept: DrawStore) -> None:
        """Write the parameters by the same lines as many iterations in one call do."""
        from annomodels.kernels.iterations import store

        state, source = self.state, self.model.source(self.state)
        store(kept.n, order, state.log_prevalence, state.log_confusion, source, *self._places(kept))

    # -- with items of its own ----------------------------------------------------------------

    def advance(self, iterations: int, thin: int, kept: DrawStore | None, stop: Event) -> None:
        """Run some iterations, keeping every `thin`-th in `kept`."""
        end = self.iteration + iterations
        if kept is not None:
            kept.make_room(self.model.pymc_start(self.state))
        while self.iteration < end and not stop.is_set():
            if kept is None or kept.trace is None:
                self._many(min(end, self.iteration + self.at_once), thin, kept)
            else:
                kept.trace.note(self.state)
                self._one(kept if self.iteration % thin == 0 else None)

    def compile(self, single: bool) -> None:
        """Have the loops compiled, or loaded, by doing nothing with them."""
        self.nowhere = self._no_room(single)
        self._many(self.iteration, 1, None)

    def compile_steps(self, single: bool) -> None:
        """Do the same for iterations one by one: take a step from a copy of the state."""
        state, self.state = self.state, deepcopy(self.state)
        room = DrawStore(0, len(self.identity), 1, single)
        room.make_room(self.model.pymc_start(self.state))
        self._store(self.identity, room)
        self._one(None)
        self.state, self.iteration = state, self.iteration - 1

    def _many(self, end: int, thin: int, kept: DrawStore | None) -> None:
        """Run up to iteration `end` in one call, or until classes may have been swapped."""
        from annomodels.kernels.iterations import iterate

        assert self.codes is not None
        state, prior = self.state, self.model.priors(self.state)
        target = self.nowhere if kept is None else kept
        self.iteration = iterate(
            *self.codes.arrays, *prior, state.log_prevalence, state.log_confusion, self.key,
            self.iteration, end, 0 if kept is None else thin, self.volume, self.relabel,
            self.order(), self.counts, self.sizes, target.sums, target.book, *self._places(target),
        )  # fmt: skip

    def _one(self, kept: DrawStore | None) -> None:
        """Run one iteration."""
        from annomodels.kernels.passes import chances, classes_drawn, sums_of

        assert self.codes is not None
        self.counts.fill(0)
        self.sizes.fill(0)
        sums = None if kept is None else sums_of(kept.batch, kept.entropy, self.order())
        found = classes_drawn(
            self.codes.arrays, chances(self.state.log_prevalence, self.state.log_confusion),
            self.key, self.iteration, self.counts, self.sizes, sums,
        )  # fmt: skip
        self.take(kept, self.counts, self.sizes, found)

    def _places(self, kept: DrawStore) -> tuple[tuple[AnyArray, ...], Places]:
        """Return where an iteration writes draws: of all models, and of the source of the rows."""
        held = kept.arrays
        confusion = held["confusion"]
        if confusion.ndim == 3:  # one matrix for all coders
            confusion = confusion[:, None]
        common = (held["prevalence"], confusion, kept.log_likelihood, kept.lp)
        return common, self.model.draw_places(held, kept.lp.astype(kept.dtype))
