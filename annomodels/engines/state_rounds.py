"""Chains of a state model that step together over the parts of the items."""

# Memory is the case of one part, which threads go through for their own chains. Sums over items are
# computed where these lie. If a machine is lost with them, the run is repeated; its draws are the
# same.

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, cast

import numpy as np

from annomodels.data.schema import RawResult
from annomodels.engines.collect import collect_parameters, fields_of_states
from annomodels.engines.kept import MOST_STATES
from annomodels.engines.rounds import Rounds
from annomodels.engines.settings import Clock, Interrupts, Settings
from annomodels.engines.source.partition import Source
from annomodels.engines.source.spread import ATTEMPTS, Spread
from annomodels.engines.source.statemeans import StateMeans, means_of
from annomodels.engines.source.states import Forgotten, Keeping, Passing, states_drawn
from annomodels.engines.stages import cost, room_for
from annomodels.engines.starts import chain_starts, items_of
from annomodels.engines.state_chain import StateChain
from annomodels.executors.team import Team
from annomodels.models.base import State
from annomodels.models.mixtures.state_model import StateModel
from annomodels.types import Floats


def sample_states(model: StateModel, source: Source, settings: Settings, crew: Team) -> RawResult:
    """Sample a state model, over the parts of a source in memory."""

    def run(spread: Spread) -> RawResult:
        run_ = sampled(model, spread, settings)
        kept, _ = run_.result
        parts, gaps = run_.collected()
        of_items = fields_of_states(parts, sorted(run_.chains[0].layout.values))
        return collect_parameters(
            model, kept, source.volume, gaps / source.n_items, run_.attrs, **of_items
        )

    return repeated(run, source, crew, settings)


def repeated(
    run: Callable[[Spread], RawResult], source: Source, crew: Team, settings: Settings
) -> RawResult:
    """Do a run whose sums lie with a team, again where some of them were lost."""
    try:
        for attempt in range(ATTEMPTS):
            try:
                with Spread(source, crew) as spread:
                    return run(spread)
            except Forgotten:
                if attempt == ATTEMPTS - 1:
                    raise
                settings.tell("items", 0.0, "a machine was lost; once more")
        raise AssertionError
    finally:
        if crew is not settings.executor:
            crew.close()


def sampled(model: StateModel, spread: Spread, settings: Settings) -> StateRounds:
    """Run the chains of a state model."""
    source = spread.source
    relabel = settings.relabel and model.coder_model.swappable and not source.has_gold
    settings.tell("starting", 0.0)
    begun = chain_starts(
        model.starter, items_of(spread), settings.seed, settings.chains, relabel=relabel
    )
    with ThreadPoolExecutor(settings.workers) as pool:
        run = StateRounds(model, spread, settings, pool, begun.states, relabel)
        run.census = begun.modes
        draws, single = room_for(run.chains[0].kept_rows, source.n_labels, settings)
        settings.tell("compiling", 0.0)
        run.begin()
        run.clock = Clock(settings.time_limit)
        with Interrupts(True) as run.interrupts:
            run.sample(draws, single)
    return run


class StateRounds(Rounds):
    """Chains of a state model that take their steps together; see :class:`Rounds`."""

    traces = False
    model: StateModel

    def work_of(self, model: StateModel, source: Source) -> int:
        """Return the work of an iteration."""
        states: int = 3 * source.n_annotations * model.n_states(source.n_labels)
        return cost(source.n_annotations, source.n_rows, source.n_labels) + states

    def chain(self, state: State, key: int, relabel: bool) -> StateChain:
        """Return a chain that begins at a state."""
        volume = self.spread.source.volume
        return StateChain(self.model, volume, state, key, relabel)

    def room_for_draws(self, chain: Any, kept: Any) -> None:
        """Leave that to the first draw."""

    def begin(self, single: bool = False) -> None:
        """Have the loops compiled, or loaded."""
        del single  # which its loops do not know
        first = self.chains[0]
        self.spread.sum(states_drawn, [first.passing()], [first.key], 0, None, counted=True)

    def steps(
        self, group: list[int], thin: int, kept: list[Any] | None, ends: Sequence[int]
    ) -> None:
        """Take one step with some chains: the loops of states do no more in a call."""
        self.step(group, thin, kept)

    def _keeping(self, chains: list[int], room: Any) -> Keeping:
        """Describe how the next draw of some chains is kept."""
        first, source = cast("StateChain", self.chains[chains[0]]), self.spread.source
        states = source.n_items * len(first.layout.base) <= MOST_STATES
        return Keeping(self.stage, room.n, int(room.book[4]), chains, states)

    def step(self, group: list[int], thin: int, kept: list[Any] | None) -> None:
        """Take a step with some chains."""
        iteration = min(self.chains[n].iteration for n in group)
        behind = [n for n in group if self.chains[n].iteration == iteration]
        keep = kept is not None and iteration % thin == 0
        chains = [cast("StateChain", self.chains[n]) for n in behind]
        keeping = None
        if keep and kept is not None:
            keeping = self._keeping(behind, kept[behind[0]])
        parameters = [self._passing(chain) for chain in chains]
        keys = [self.keys[n] for n in behind]
        *numbers, found = self.spread.sum(
            states_drawn, parameters, keys, iteration, keeping, counted=True
        )
        for place, chain in enumerate(chains):
            chain.count(*(values[place] for values in numbers))

        def take(place: int) -> None:
            room = kept[behind[place]] if keep and kept is not None else None
            chains[place].take(room, float(found[place]), kept is None)

        apply = map if self.by_turns else self.pool.map
        list(apply(take, range(len(chains))))

    def _passing(self, chain: StateChain) -> Passing:
        """Return the parameters of a pass, as they are sent."""
        found = chain.passing()
        return replace(found, filled=found.table()) if self.spread.team.here else found

    def collected(self) -> tuple[list[StateMeans], Floats]:
        """Collect what the draws say of the items, and the distances of the chains."""
        kept, thin = self.result
        # the last stage may have been cut short, and then the one before it counts
        whole = thin == self.first_thin * 2 ** (self.stage - 1)
        stage = self.stage if whole else self.stage - 1
        n = min(part.n for part in kept)
        found = self.spread.each(means_of, len(self.chains), stage, n)
        return found, np.sum([part.gaps for part in found], axis=0)
