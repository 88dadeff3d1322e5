"""One Gibbs chain: truth given parameters, parameters given counts, and the stored draws."""

from __future__ import annotations

from copy import deepcopy
from typing import cast

import numpy as np

from annomodels.engines.item_parameters import ItemParameters, PassCounts
from annomodels.engines.kept import DrawStore, Trace, canonical_order
from annomodels.engines.source.held import OpenBlock
from annomodels.engines.source.itemsums import ItemSums, Stage
from annomodels.engines.source.jobs import Parameters, parameters_of
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.mixtures.state_model import StateModel, coders_of
from annomodels.types import AnyArray, Floats, Places

# warm-up iterations between checks for swapped classes, if items have states
MIRROR_EVERY = 10


class Chain:
    """Gibbs chain without the items: callers pass over them, or supply a block of them."""

    def __init__(
        self,
        model: ConjugateModel | StateModel,
        volume: Floats,
        state: State,
        key: int,
        relabel: bool,
    ) -> None:
        self.model, self.volume, self.state = model, volume, state
        self.coders = cast("ConjugateModel", coders_of(model))
        n_rows, n_labels = state.log_confusion.shape[:2]
        # item-level parameters, if items have states
        self.own: ItemParameters | None = None
        if self.coders is not model:
            self.own = ItemParameters(cast("StateModel", model), n_rows, n_labels)
        self.key = np.uint64(key)
        self.relabel = relabel
        self.iteration = 0
        self.identity = np.arange(len(state.log_prevalence))
        self.ordered = -1, self.identity  # iteration, and its class order
        self.single = False  # whether to store draws in single precision

    @property
    def kept_cells(self) -> int:
        """Size of the confusion matrices stored per draw."""
        # with item states, matrices of true and of perceived classes are stored
        return self.state.log_confusion.size * (1 if self.own is None else 2)

    def room(self, draws: int, single: bool) -> DrawStore:
        """Allocate a store for draws."""
        kept = DrawStore(draws, single)
        kept.make_room(self.values())
        return kept

    def trace(self, room: int) -> Trace:
        """Allocate a trace of the monitored parameters."""
        return Trace(self.coders, self.volume, self.relabel, room)

    def follow(self, other: Chain) -> None:
        """Continue from the state of another chain, with different random numbers."""
        self.state = deepcopy(other.state)
        if self.own is not None and other.own is not None:
            self.own.values = deepcopy(other.own.values)

    def order(self) -> AnyArray:
        """Return the new position of each class in stored draws."""
        if self.relabel and self.own is None and self.ordered[0] != self.iteration:
            self.ordered = self.iteration, canonical_order(self.state, self.volume)
        return self.ordered[1]

    def values(self) -> dict[str, AnyArray]:
        """Return the variables of a result that are stored per draw."""
        values: dict[str, AnyArray] = self.coders.kept_values(self.state)
        if self.own is None:
            return values
        return self.model.result_values({**values, **deepcopy(self.own.values)})

    def passing(self, here: bool) -> Parameters:
        """Return the parameters in the form for a local pass, or for sending."""
        if self.own is not None:
            return self.own.given(self.state)
        return parameters_of(self.state, here)

    def take(
        self,
        kept: DrawStore | None,
        counts: AnyArray,
        counted: PassCounts,
        log_likelihood: float,
        warming: bool,
    ) -> None:
        """Complete an iteration after its pass: store the parameters, then draw new ones."""
        state, own = self.state, self.own
        if kept is not None:
            self._keep(kept, log_likelihood)
        by_class = counted.sizes if own is None else own.by_class(counted.sizes)
        whole = counts.astype(np.int64).reshape(state.log_confusion.shape)
        self.coders.draw(whole, by_class, state, self.key, self.iteration)  # type: ignore[arg-type]
        if own is not None:
            own.draw(counted, int(self.key), self.iteration)
            if self.relabel and warming and self.iteration % MIRROR_EVERY == 0:
                order = canonical_order(state, self.volume)
                if (order != self.identity).any():
                    self.state = self.coders.ordered(state, order)
        self.iteration += 1

    def _keep(self, kept: DrawStore, log_likelihood: float) -> None:
        """Store the parameters; without item states, by the same kernel as `run`."""
        if self.own is not None:
            kept.add(self.values(), log_likelihood, log_likelihood, moved=False)
            return
        from annomodels.kernels.iterations import store

        order, state, source = self.order(), self.state, self.coders.source(self.state)
        store(kept.n, order, state.log_prevalence, state.log_confusion, source, *self._places(kept))
        kept.note(log_likelihood, log_likelihood, bool((order != self.identity).any()))

    def run(
        self, block: OpenBlock, end: int, thin: int, kept: DrawStore | None, sums: ItemSums | None
    ) -> None:
        """Run iterations up to `end` over all items, which are in one local block."""
        # Every thin-th draw is stored and added to the item sums. Item states have parameters
        # that are drawn between the passes, so their chains run single iterations.
        from annomodels.kernels.iterations import iterate

        (starts, cell, gold), _ = block.open()
        if kept is None or sums is None:
            kept, thin = self.room(0, self.single), 0
            sums = ItemSums(0, len(self.identity), Stage(0, 1))
        # 32-bit counts halve the use of the cache, and passes take 75 % of the time
        whole = np.int32 if len(cell) <= np.iinfo(np.int32).max else np.int64
        counts = np.zeros(self.state.log_confusion.shape, dtype=whole)
        sizes, places = np.zeros(len(self.identity), dtype=np.int64), self._places(kept)
        while True:  # iterate also returns early if classes may have swapped
            state, prior = self.state, self.coders.priors(self.state)
            self.iteration = iterate(
                starts, cell, gold, *prior, state.log_prevalence, state.log_confusion, self.key,
                self.iteration, end, thin, self.volume, self.relabel, self.order(), counts, sizes,
                sums.places, kept.book, *places,
            )  # fmt: skip
            if self.iteration >= end:
                break
        sums.hold(kept.n)

    def _places(self, kept: DrawStore) -> tuple[tuple[AnyArray, ...], Places]:
        """Return the arrays for draws: those of all models, and those of the row source."""
        held = kept.arrays
        confusion = held["confusion"]
        if confusion.ndim == 3:  # one matrix for all coders
            confusion = confusion[:, None]
        common = (held["prevalence"], confusion, kept.log_likelihood, kept.lp)
        return common, self.coders.draw_places(held, kept.lp.astype(kept.dtype))
