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
from annomodels.engines.kept import DrawStore
from annomodels.engines.settings import Settings
from annomodels.engines.source.jobs import (
    Batch,
    Keeping,
    items,
    missing,
    parameters_of,
    recounted,
    sampled,
)
from annomodels.engines.source.partition import Source
from annomodels.engines.source.spread import Spread
from annomodels.engines.stages import StagedRun, chain_keys, cost
from annomodels.errors import EngineError
from annomodels.models.base import State
from annomodels.types import Floats

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
        model: Any,
        spread: Spread,
        settings: Settings,
        pool: ThreadPoolExecutor,
        starts: Sequence[State],
        relabel: bool,
    ) -> None:
        source = spread.source
        super().__init__(settings, self.work_of(model, source))
        self.model, self.spread, self.pool = model, spread, pool
        self.keys = chain_keys(settings)
        self.chains: list[Any] = [
            self.chain(state, key, relabel) for state, key in zip(starts, self.keys, strict=True)
        ]
        self.groups = _groups(len(self.chains), spread)
        if len(self.groups) > 1 and not spread.team.here:
            self.slice_seconds = GROUPED_SLICE_SECONDS
        # threads that have chains of their own draw their parameters too
        own = len(self.groups) > 1 and spread.team.here
        self.by_turns = own or settings.workers == 1

    def work_of(self, model: Any, source: Source) -> int:
        """Return the work of an iteration."""
        return cost(source.n_annotations, source.n_rows, source.n_labels)

    def chain(self, state: State, key: int, relabel: bool) -> Any:
        """Return a chain that begins at a state."""
        return Chain(self.model, self.spread.source.volume, state, key, relabel)

    def room_for_draws(self, chain: Any, kept: Any) -> None:
        """Make room for draws where passes over the items may write them."""
        kept.make_room(self.model.pymc_start(chain.state))

    def slice(
        self, steps: Sequence[int], thin: int, kept: list[DrawStore] | None, limit: float | None
    ) -> None:
        """Take some steps, the chains of a group together."""
        for n, chain in enumerate(self.chains):
            if kept is not None:
                self.room_for_draws(chain, kept[n])
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
        self, group: list[int], thin: int, kept: list[Any] | None, ends: Sequence[int]
    ) -> None:
        """Take one or more steps with some chains, none of which goes beyond its end."""
        block = self.spread.block
        traced = kept is not None and kept[group[0]].trace is not None
        if block is None or not self.spread.alone or traced:
            self.step(group, thin, kept)
            return
        at_once = max(1, CALL // (self.spread.source.n_annotations * self.spread.source.n_labels))
        for n in group:
            chain, room = self.chains[n], None if kept is None else kept[n]
            sums = None if room is None else block.sums_of(n, self.stage, int(room.book[4]))
            chain.run(block, min(ends[n], chain.iteration + at_once), thin, room, sums)

    def begin(self, single: bool = False) -> None:
        """Have the loops compiled, or loaded, by doing nothing with them."""
        for chain in self.chains:
            chain.single = single
        if self.spread.block is not None and self.spread.alone:
            self.chains[0].run(self.spread.block, 0, 1, None, None)

    def step(self, group: list[int], thin: int, kept: list[Any] | None) -> None:
        """Take a step with some chains."""
        # a run that was interrupted elsewhere may have left chains at different iterations: those
        # behind catch up, and what their draws say of the items is counted at the end
        iteration = min(self.chains[n].iteration for n in group)
        behind = [n for n in group if self.chains[n].iteration == iteration]
        keep = kept is not None and iteration % thin == 0
        keeping = None
        if keep and kept is not None and behind == group:
            orders = [self.chains[n].order() for n in group]
            first = kept[group[0]]
            keeping = Keeping(self.stage, first.n, int(first.book[4]), orders, group)
        states = [self.chains[n].state for n in behind]
        parameters = [parameters_of(state, self.spread.team.here) for state in states]
        keys = [self.keys[n] for n in behind]
        counts, sizes, found = self.spread.sum(
            sampled, parameters, keys, iteration, keeping, counted=True
        )

        def take(place: int) -> None:
            n = behind[place]
            room = None if kept is None else kept[n]
            if room is not None and room.trace is not None:
                room.trace.note(self.chains[n].state)
            self.chains[n].take(
                room if keep else None, counts[place], sizes[place], float(found[place])
            )

        apply = map if self.by_turns else self.pool.map
        list(apply(take, range(len(behind))))

    def items(self, kept: list[DrawStore]) -> tuple[list[Any], Floats]:
        """Collect the results of each partition, and the distances of the chains over all items."""
        finish = self.spread.source.finish
        n, length = min(part.n for part in kept), int(kept[0].book[4])
        # the last stage may have been cut short, and then the one before it counts
        whole = self.stages[-1][1] == self.first_thin * 2 ** (self.stage - 1)
        stage = self.stage if whole else self.stage - 1
        where = len(self.chains), stage, length, n
        for _ in range(RECOUNTS):
            lacking = {
                (c, b)
                for part in self.spread.each(missing, *where)
                for c, batches in enumerate(part)
                for b in batches
            }
            self._recount(kept, sorted(lacking), stage, length, n)
            answers = self.spread.each(items, *where, finish)
            results = [answer for answer in answers if answer is not None]
            if len(results) == len(answers):
                self.settings.tell("items", 1.0)
                gaps = np.sum([gap for _, gap in results], axis=0)
                return [value for value, _ in results], gaps
        raise EngineError("Parts of the data were lost again and again; the cluster does not last.")

    def _recount(
        self, kept: list[DrawStore], lacking: list[tuple[int, int]], stage: int, length: int, n: int
    ) -> None:
        """Send batches of kept parameters to where the sums lack them, some at a time."""
        if not lacking:
            return
        size = length * kept[0].arrays["confusion"][0].nbytes
        at_once = max(1, RECOUNT_BYTES // size)
        for lo in range(0, len(lacking), at_once):
            self.settings.tell("items", lo / len(lacking), "counting again what was lost")
            some = [_batch(kept[c], c, b, length, n) for c, b in lacking[lo : lo + at_once]]
            self.spread.each(recounted, stage, length, some)


def _groups(chains: int, spread: Spread) -> list[list[int]]:
    """Group the chains whose rounds are on the way together; files are read once per group."""
    # if a round would leave threads without a part for a good share of the time, there are as many
    # groups as threads
    parts, team = spread.source.partitions, spread.team
    streamed = any(getattr(part, "streamed", False) for part in parts)
    if team.here and len(parts) % team.places and len(parts) < 2 * team.places:
        n = min(team.places, chains)
    else:
        n = 1 if streamed else min(team.rounds, chains)
    return [[int(c) for c in group] for group in np.array_split(np.arange(chains), n)]


def _batch(kept: DrawStore, chain: int, number: int, length: int, n: int) -> Batch:
    """Parameters of a batch of draws."""
    lo, hi = number * length, min((number + 1) * length, n)
    return Batch(chain, lo, kept.arrays["prevalence"][lo:hi], kept.arrays["confusion"][lo:hi])
