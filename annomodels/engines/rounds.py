"""Gibbs chains that step together over partitions: parameters go out, counts come back."""

# All chains take a step together, one round of calls per iteration: every place draws the truth of
# its items for all chains, and the parameters are drawn here. Class probabilities under the kept
# draws are summed where the items lie. Draws are those of a run in memory, bit for bit, since
# counts are whole numbers and random numbers belong to chain, iteration and item. Sums that were
# lost with a machine are computed again from the kept parameters. If calls travel, the chains go in
# groups: while the answers of one are on their way, the machines work for another. So they do if
# there are fewer parts than threads, each of which then has its own chains.

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np

from annomodels.engines.chain import Chain
from annomodels.engines.item_parameters import Counted
from annomodels.engines.kept import DrawStore
from annomodels.engines.settings import Settings
from annomodels.engines.source.held import Block
from annomodels.engines.source.itemsums import Stage
from annomodels.engines.source.jobs import Batch, Keeping, items, missing, recounted, sampled
from annomodels.engines.source.spread import Spread
from annomodels.engines.stages import StagedRun, chain_keys, cost
from annomodels.errors import EngineError
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.mixtures.state_model import StateModel
from annomodels.types import Floats

# numbers of P(state) to keep for the items
MOST_STATES = 50_000_000
RECOUNTS = 10
# labels * classes that go through one call, about a tenth of a second
CALL = 20_000_000
# bytes of parameters that are sent at a time to be counted again
RECOUNT_BYTES = 32_000_000
# groups of chains wait for each other after every slice
GROUPED_SLICE_SECONDS = 5.0


class Rounds(StagedRun):
    """Chains that take their steps together."""

    def __init__(
        self,
        model: ConjugateModel | StateModel,
        spread: Spread,
        settings: Settings,
        pool: ThreadPoolExecutor,
        starts: Sequence[State],
        relabel: bool,
    ) -> None:
        source = spread.source
        n_given, n_labels, n_states = source.n_annotations, source.n_labels, 0
        if model.by_states:
            n_states = model.n_states(n_labels)
        work = cost(n_given, source.n_rows, n_labels) + 3 * n_given * n_states
        keys = chain_keys(settings)
        chains = [
            Chain(model, source.volume, state, key, relabel)
            for state, key in zip(starts, keys, strict=True)
        ]
        super().__init__(settings, work, chains)
        self.model, self.spread, self.pool = model, spread, pool
        # whether P(state) of the items has room
        few = source.n_items * n_states <= MOST_STATES
        own = chains[0].own
        self.summed = (n_states if few else 0, 0 if own is None else len(own.names))
        self.groups = _groups(len(chains), spread)
        if len(self.groups) > 1 and not spread.here:
            self.slice_seconds = GROUPED_SLICE_SECONDS
        # threads that have chains of their own draw their parameters too
        apart = len(self.groups) > 1 and spread.here
        self.by_turns = apart or settings.workers == 1

    def of_stage(self, number: int, length: int) -> Stage:
        """Return what is summed over the draws of a stage."""
        return Stage(number, length, *self.summed)

    def slice(
        self, steps: Sequence[int], thin: int, kept: list[DrawStore] | None, limit: float | None
    ) -> None:
        """Take some steps, the chains of a group together."""
        ends = [chain.iteration + n for chain, n in zip(self.chains, steps, strict=True)]
        stop = Event()

        def advance(group: list[int]) -> None:
            while any(self.chains[n].iteration < ends[n] for n in group) and not stop.is_set():
                self.steps(group, thin, kept, ends)
                if self.interrupts.noted or (limit is not None and self.clock.seconds >= limit):
                    stop.set()

        self.interrupts.check()
        if not self.spread.complete:  # so that data are sent once
            self.step(list(range(len(self.chains))), thin, kept)
        if len(self.groups) == 1:
            advance(self.groups[0])
        else:
            self._overlap(advance, stop)
            last = max(chain.iteration for chain in self.chains)
            for group in self.groups:
                while min(self.chains[n].iteration for n in group) < last:
                    self.step(group, thin, kept)
        self.interrupts.check()

    def _overlap(self, advance: Callable[[list[int]], None], stop: Event) -> None:
        """Advance the groups side by side; the chains stand still when this is over."""
        with ThreadPoolExecutor(len(self.groups)) as pool:
            running = [pool.submit(advance, group) for group in self.groups]
            try:
                for future in running:
                    future.result()
            finally:
                stop.set()

    def steps(
        self, group: list[int], thin: int, kept: list[DrawStore] | None, ends: Sequence[int]
    ) -> None:
        """Take one or more steps with some chains, none of which goes beyond its end."""
        traced = kept is not None and kept[group[0]].trace is not None
        block = self.block_of_many
        if block is None or traced:
            self.step(group, thin, kept)
            return
        at_once = max(1, CALL // (self.spread.source.n_annotations * self.spread.source.n_labels))
        for n in group:
            chain, room = self.chains[n], None if kept is None else kept[n]
            sums = None
            if room is not None:
                sums = block.sums_of(n, self.of_stage(self.stage, room.length))
            chain.run(block, min(ends[n], chain.iteration + at_once), thin, room, sums)

    @property
    def block_of_many(self) -> Block | None:
        """All items, where a call may take many steps of a chain."""
        one = self.spread.alone and self.chains[0].own is None
        return self.spread.block(0) if one else None

    def begin(self, single: bool = False) -> None:
        """Have the loops compiled, or loaded, by doing nothing with them, or by one pass."""
        first, block = self.chains[0], self.block_of_many
        for chain in self.chains:
            chain.single = single
        if block is not None:
            first.run(block, 0, 1, None, None)
        elif self.spread.alone:
            self.spread.sum(sampled, [first.passing(True)], [first.key], 0, None)

    def step(self, group: list[int], thin: int, kept: list[DrawStore] | None) -> None:
        """Take a step with some chains."""
        # a run that was interrupted elsewhere may have left chains at different iterations: those
        # behind catch up, and what their draws say of the items is counted at the end
        iteration = min(self.chains[n].iteration for n in group)
        behind = [n for n in group if self.chains[n].iteration == iteration]
        keep = kept is not None and iteration % thin == 0
        keeping = None
        if keep and kept is not None and behind == group:
            first, orders = kept[group[0]], [self.chains[n].order() for n in group]
            keeping = Keeping(self.of_stage(self.stage, first.length), first.n, orders, group)
        parameters = [self.chains[n].passing(self.spread.here) for n in behind]
        keys = [self.chains[n].key for n in behind]
        counts, *counted, found = self.spread.sum(sampled, parameters, keys, iteration, keeping)

        def take(place: int) -> None:
            n = behind[place]
            chain, room = self.chains[n], None if kept is None else kept[n]
            if room is not None and room.trace is not None:
                room.trace.note(chain.state)
            more = Counted(*(values[place] for values in counted))
            warming, log_likelihood = room is None, float(found[place])
            chain.take(room if keep else None, counts[place], more, log_likelihood, warming)

        apply = map if self.by_turns else self.pool.map
        list(apply(take, range(len(behind))))

    def items(self, kept: list[DrawStore]) -> tuple[list[Any], Floats]:
        """Collect the results of each partition, and the distances of the chains over all items."""
        finish = self.spread.source.finish
        n = min(part.n for part in kept)
        # the last stage may have been cut short, and then the one before it counts
        whole = self.stages[-1][1] == self.first_thin * 2 ** (self.stage - 1)
        stage = self.of_stage(self.stage if whole else self.stage - 1, kept[0].length)
        where = len(self.chains), stage, n
        for _ in range(RECOUNTS):
            lacking = {
                (c, b)
                for part in self.spread.each(missing, *where)
                for c, batches in enumerate(part)
                for b in batches
            }
            self._recount(kept, sorted(lacking), stage, n)
            answers = self.spread.each(items, *where, finish)
            results = [answer for answer in answers if answer is not None]
            if len(results) == len(answers):
                self.settings.tell("items", 1.0)
                gaps = np.sum([gap for _, gap in results], axis=0)
                return [value for value, _ in results], gaps
        raise EngineError("Parts of the data were lost again and again; the cluster does not last.")

    def _recount(
        self, kept: list[DrawStore], lacking: list[tuple[int, int]], stage: Stage, n: int
    ) -> None:
        """Send batches of kept parameters to where the sums lack them, some at a time."""
        if not lacking:
            return
        size = stage.length * kept[0].arrays["confusion"][0].nbytes
        at_once = max(1, RECOUNT_BYTES // size)
        for lo in range(0, len(lacking), at_once):
            self.settings.tell("items", lo / len(lacking), "counting again what was lost")
            some = [self._batch(kept[c], c, b, n) for c, b in lacking[lo : lo + at_once]]
            self.spread.each(recounted, self.model, stage, some)

    def _batch(self, kept: DrawStore, chain: int, number: int, n: int) -> Batch:
        """Parameters of a batch of draws."""
        lo, hi = number * kept.length, min((number + 1) * kept.length, n)
        # the rows of a coder are all that an item is seen through if it is of a class
        names = ("prevalence", "confusion") if self.chains[0].own is None else tuple(kept.arrays)
        return Batch(chain, lo, {name: kept.arrays[name][lo:hi] for name in names})


def _groups(chains: int, spread: Spread) -> list[list[int]]:
    """Group the chains whose rounds are on the way together; files are read once per group."""
    # if a round would leave threads without a part for a good share of the time, there are as many
    # groups as threads
    parts, team = spread.source.partitions, spread.team
    streamed = any(part.streamed for part in parts)
    if spread.here and len(parts) % team.places and len(parts) < 2 * team.places:
        n = min(team.places, chains)
    else:
        n = 1 if streamed else min(team.rounds, chains)
    return [[int(c) for c in group] for group in np.array_split(np.arange(chains), n)]
