"""One Gibbs chain: truth given parameters, parameters given counts, and what is kept of them."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from annomodels.engines.kept import DrawStore, Trace, canonical_order
from annomodels.engines.source.held import Block
from annomodels.engines.source.itemsums import ItemSums
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.types import AnyArray, Floats, Places


class Chain:
    """Gibbs chain, without the items: others pass over them and count, or give it a block."""

    def __init__(
        self, model: ConjugateModel, volume: Floats, state: State, key: int, relabel: bool
    ) -> None:
        self.model, self.volume, self.state = model, volume, state
        self.key = np.uint64(key)
        self.relabel = relabel
        self.iteration = 0
        self.identity = np.arange(len(state.log_prevalence))
        self.ordered = -1, self.identity  # iteration, and the order of the classes in it
        self.single = False  # whether draws are kept in single precision

    def room(self, draws: int, single: bool) -> DrawStore:
        """Make room for some draws."""
        return DrawStore(0, len(self.identity), draws, single)

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

    def run(
        self, block: Block, end: int, thin: int, kept: DrawStore | None, sums: ItemSums | None
    ) -> None:
        """Take steps up to iteration `end` over all items, which are in one block here."""
        # every thin-th is kept, and what it says of the items is added to sums
        from annomodels.kernels.iterations import iterate

        (starts, cell, gold), _ = block.open()
        target, items = kept, None if sums is None else sums.places
        if target is None or items is None:
            target = self.room(0, self.single)
            thin, items = 0, target.sums
        target.make_room(self.model.pymc_start(self.state))
        # half the memory is half the cache: passes with 32 bits take three quarters of the time
        whole = np.int32 if len(cell) <= np.iinfo(np.int32).max else np.int64
        counts = np.zeros(self.state.log_confusion.shape, dtype=whole)
        sizes, places = np.zeros(len(self.identity), dtype=np.int64), self._places(target)
        while True:  # until the end, or until classes may have been swapped
            state, prior = self.state, self.model.priors(self.state)
            self.iteration = iterate(
                starts, cell, gold, *prior, state.log_prevalence, state.log_confusion, self.key,
                self.iteration, end, thin, self.volume, self.relabel, self.order(), counts, sizes,
                items, target.book, *places,
            )  # fmt: skip
            if self.iteration >= end:
                break
        if sums is not None:
            sums.hold(target.n)

    def _places(self, kept: DrawStore) -> tuple[tuple[AnyArray, ...], Places]:
        """Return where an iteration writes draws: of all models, and of the source of the rows."""
        held = kept.arrays
        confusion = held["confusion"]
        if confusion.ndim == 3:  # one matrix for all coders
            confusion = confusion[:, None]
        common = (held["prevalence"], confusion, kept.log_likelihood, kept.lp)
        return common, self.model.draw_places(held, kept.lp.astype(kept.dtype))
