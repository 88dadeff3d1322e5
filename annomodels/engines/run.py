"""A run of Gibbs chains over partitions: parameters go out, counts come back."""

# Stages are the warm-up, then samples of doubling length until the chains mix. All chains advance
# together, with one round of calls per iteration: each place draws the states of its items for all
# chains, and the parameters are drawn here. Class probabilities under the stored draws are summed
# where the items are, while the chains run; on a cluster at the end, from the stored parameters.
# The draws equal those of a run in memory, bit for bit, because counts are integers and random
# numbers depend on chain, iteration and item. If calls are remote, chains run in groups: while one
# group waits for answers, the machines work for another. Chains also run in groups if there are
# fewer parts than threads; each thread then has its own chains.

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np

from annomodels.data.mixing import mixing, worst
from annomodels.engines.chain import Chain
from annomodels.engines.item_parameters import PassCounts
from annomodels.engines.kept import DrawStore, traced, watched_of
from annomodels.engines.settings import SLICE_SECONDS, Clock, Interrupts, Settings, in_slices
from annomodels.engines.source.held import OpenBlock
from annomodels.engines.source.itemsums import Stage, with_room
from annomodels.engines.source.jobs import Keeping, items, sampled
from annomodels.engines.source.spread import Spread
from annomodels.errors import EngineError, Option
from annomodels.executors.team import Remote
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.mixtures.state_model import StateModel
from annomodels.types import Floats

# labels * classes processed in one call, which takes about 0.1 s
CALL = 20_000_000
# groups of chains wait for each other after every slice
GROUPED_SLICE_SECONDS = 5.0
MOST_THIN = 16
GOOD_RHAT, GOOD_ESS = 1.01, 400
FEWEST_DRAWS = 100
# a chain whose mean log likelihood is below that of the best one by this many nats plus this many
# standard deviations of the draws is in a negligible mode
BEHIND, BEHIND_SPREADS = 30.0, 5.0


def room_for(n_cells: int, settings: Settings) -> tuple[int, bool]:
    """Return the number of draws that a chain stores, and whether in single precision."""
    bytes_per_draw = n_cells * 8 * settings.chains
    if bytes_per_draw * settings.draws <= settings.memory:
        return settings.draws, False
    most = int(settings.memory / (bytes_per_draw / 2))
    return max(min(settings.draws, most), min(settings.draws, FEWEST_DRAWS)), True


def cost(n_annotations: int, n_rows: int, n_labels: int) -> int:
    """Return the work of an iteration: drawing a parameter costs 20 reads of a label."""
    return (n_annotations + 20 * n_rows * n_labels) * n_labels


def chain_keys(settings: Settings) -> list[int]:
    """Return the random-number key of each chain."""
    keys = np.random.SeedSequence(settings.seed).generate_state(settings.chains, np.uint64)
    return [int(key) for key in keys]


class Run:
    """Chains that advance together, and their stages."""

    def __init__(
        self,
        model: ConjugateModel | StateModel,
        spread: Spread,
        settings: Settings,
        pool: ThreadPoolExecutor,
        starts: Sequence[State],
        relabel: bool,
    ) -> None:
        self.model, self.spread, self.settings, self.pool = model, spread, settings, pool
        source, here = spread.source, spread.here
        self.chains = [
            Chain(model, source.volume, state, key, relabel)
            for state, key in zip(starts, chain_keys(settings), strict=True)
        ]
        own = self.chains[0].own
        n_states = 0 if own is None else len(own.layout.base)
        # work per iteration
        self.work = cost(source.n_annotations, source.n_rows, source.n_labels)
        self.work += 3 * source.n_annotations * n_states
        # sizes of the sums over draws besides P(truth): P(state) and state values
        n_values = 0 if own is None else len(own.names)
        self.summed = with_room(n_states, source.n_items), n_values
        self.groups = _groups(len(self.chains), spread)
        apart = len(self.groups) > 1
        self.slice_seconds = GROUPED_SLICE_SECONDS if apart and not here else SLICE_SECONDS
        # a thread with its own chains draws their parameters, too
        self.by_turns = (apart and here) or settings.workers == 1
        self.interrupts = Interrupts(False)
        self.clock = Clock(settings.time_limit)
        self.stopped, self.hurried = "", False
        self.stages: list[tuple[list[DrawStore], int]] = []
        # modes of the census, see `annomodels.engines.starts`
        self.census: list[dict[str, Any]] = []
        # chains that were restarted from a negligible mode
        self.restarted: list[int] = []
        self.stage = 0  # 0 is the warm-up
        self.first_thin = 1

    # -- stages ---------------------------------------------------------------------------------

    def sample(self, draws: int, single: bool) -> None:
        """Warm up, then run stages until the chains have mixed."""
        limit = self.settings.time_limit
        kept = None
        # with item states, only stored draws are monitored
        traced = single and self.chains[0].own is None
        if traced:  # as many iterations as requested draws, of which memory holds some
            self.first_thin = -(-self.settings.draws // draws)
        thin = self.first_thin
        half = None if limit is None else limit / 2
        self._stage(self.settings.warmup, 1, None, "warm-up", half)
        self.stage = 1
        while not self.stopped:
            kept = [chain.room(draws, single) for chain in self.chains]
            if traced:
                for part, chain in zip(kept, self.chains, strict=True):
                    part.trace = chain.trace(draws * thin)
            complete = self._stage(draws * thin, thin, kept, "sampling", limit)
            enough = min(part.n for part in kept) >= (draws if self.stages else 1)
            if enough:
                self.stages = [(kept, thin)]
            if not complete:
                break
            if not self._restart(kept) and (not self._worth_more(thin) or self._mixed(kept)):
                break
            thin *= 2
            self.stage += 1

    @property
    def result(self) -> tuple[list[DrawStore], int]:
        """Draws of the last good stage, and its thinning."""
        if not self.stages:
            if self.stopped == "interrupted":
                raise KeyboardInterrupt
            raise EngineError(
                f"The time limit of {self.settings.time_limit:g} s ended before the first draw. "
                f"Give more time, or use {Option('engine', 'em')}."
            )
        return self.stages[-1]

    @property
    def attrs(self) -> dict[str, object]:
        """Attributes of the result that describe the run."""
        return {
            "engine": "gibbs",
            "thin": self.result[1],
            "iterations": self.chains[0].iteration,
            "seconds": self.clock.seconds,
            "census": self.census,
            "restarted": self.restarted,
            "stopped": self.stopped or ("time limit" if self.hurried else ""),
        }

    def _restart(self, kept: list[DrawStore]) -> bool:
        """Restart chains that are far behind from the best one, once; return True if any."""
        # the draws so far then count as warm-up
        if self.restarted or not self.settings.extend:
            return False
        means = np.array([part.log_likelihood[: part.n].mean() for part in kept])
        spread = max(float(part.log_likelihood[: part.n].std()) for part in kept)
        best = int(means.argmax())
        far = means < means[best] - BEHIND - BEHIND_SPREADS * spread
        for n in map(int, np.flatnonzero(far)):
            self.chains[n].follow(self.chains[best])
            self.restarted.append(n)
        return bool(self.restarted)

    def _worth_more(self, thin: int) -> bool:
        """Return True if a stage of twice the length stays within `Settings.patience`."""
        done = self.work * sum(chain.iteration for chain in self.chains)
        return (
            self.settings.extend
            and thin < MOST_THIN * self.first_thin
            and 3 * done <= self.settings.patience
        )

    def _stage(
        self,
        iterations: int,
        thin: int,
        kept: list[DrawStore] | None,
        name: str,
        limit: float | None,
    ) -> bool:
        """Advance all chains in slices, so that none runs far ahead; return True if complete."""
        for chain in self.chains:
            # a stage starts with an iteration that is stored
            chain.iteration += -chain.iteration % thin
        begun = [chain.iteration for chain in self.chains]

        def left(end: int) -> list[int]:
            pairs = zip(begun, self.chains, strict=True)
            return [first + end - chain.iteration for first, chain in pairs]

        _, why = in_slices(
            lambda _, end: self.slice(left(end), thin, kept, limit), iterations, self.settings,
            self.clock, self.interrupts, name, thin=thin, limit=limit, seconds=self.slice_seconds,
        )  # fmt: skip
        if why == "time limit" and kept is None:
            self.hurried = max(left(iterations)) > 0
        else:
            self.stopped = why
        return not why

    def _mixed(self, kept: list[DrawStore]) -> bool:
        if len(kept) == 1:  # nothing to compare
            return True
        found = traced([part.trace for part in kept])
        if found is not None:
            r, n = worst(*found)
            return bool(np.isnan(r)) or (r < GOOD_RHAT and n >= GOOD_ESS)
        volume = self.chains[0].volume
        by_chain = [  # draws are large, their monitored columns are small
            watched_of(self.chains[0].model, {n: v[None] for n, v in part.arrays.items()}, volume)
            for part in kept
        ]
        r, n = worst(*mixing(np.concatenate(by_chain)))
        return bool(np.isnan(r)) or (
            r < GOOD_RHAT and n >= min(GOOD_ESS, 0.4 * kept[0].room * len(kept))
        )

    # -- steps ----------------------------------------------------------------------------------

    def of_stage(self, number: int, length: int) -> Stage:
        """Return the description of the sums over the draws of a stage."""
        return Stage(number, length, *self.summed)

    def slice(
        self, steps: Sequence[int], thin: int, kept: list[DrawStore] | None, limit: float | None
    ) -> None:
        """Run some iterations, fewer if interrupted or if `limit` is reached."""
        ends = [chain.iteration + n for chain, n in zip(self.chains, steps, strict=True)]
        stop = Event()

        def advance(group: list[int]) -> None:
            while any(self.chains[n].iteration < ends[n] for n in group) and not stop.is_set():
                self.steps(group, thin, kept, ends)
                if self.interrupts.noted or (limit is not None and self.clock.seconds >= limit):
                    stop.set()

        if len(self.groups) == 1:
            advance(self.groups[0])
        else:
            self._overlap(advance, stop)
            last = max(chain.iteration for chain in self.chains)
            for group in self.groups:
                while min(self.chains[n].iteration for n in group) < last:
                    self.step(group, thin, kept)

    def _overlap(self, advance: Callable[[list[int]], None], stop: Event) -> None:
        """Advance the groups in parallel; no chain runs after the return."""
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
        """Run one or more iterations of some chains, none beyond its end."""
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
    def block_of_many(self) -> OpenBlock | None:
        """Block of all items, if a call can run many iterations of a chain."""
        one = self.spread.alone and self.chains[0].own is None
        return self.spread.block(0) if one else None

    def begin(self, single: bool = False) -> None:
        """Compile or load the loops by an empty run or one pass."""
        first, block = self.chains[0], self.block_of_many
        for chain in self.chains:
            chain.single = single
        if block is not None:
            first.run(block, 0, 1, None, None)
        elif self.spread.alone:
            self.spread.sum(sampled, [first.passing(True)], [first.key], 0, None)

    def step(self, group: list[int], thin: int, kept: list[DrawStore] | None) -> None:
        """Run one iteration of some chains."""
        # An interrupted run may have left chains at different iterations: those behind catch up,
        # and the item statistics of their draws are counted at the end.
        iteration = min(self.chains[n].iteration for n in group)
        behind = [n for n in group if self.chains[n].iteration == iteration]
        keep = kept is not None and iteration % thin == 0
        keeping = None
        if keep and kept is not None and behind == group and self.spread.here:
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
            more = PassCounts(*(values[place] for values in counted))
            warming, log_likelihood = room is None, float(found[place])
            chain.take(room if keep else None, counts[place], more, log_likelihood, warming)

        apply = map if self.by_turns else self.pool.map
        list(apply(take, range(len(behind))))

    def items(self, kept: list[DrawStore]) -> tuple[list[Any], Floats]:
        """Return the results of each partition, and the distances of the chains over all items."""
        finish = self.spread.source.finish
        n = min(part.n for part in kept)
        # if the last stage was cut short, the one before it counts
        whole = self.stages[-1][1] == self.first_thin * 2 ** (self.stage - 1)
        stage = self.of_stage(self.stage if whole else self.stage - 1, kept[0].length)
        # without item states, P(truth) depends on prevalence and confusion only
        names = ("prevalence", "confusion") if self.chains[0].own is None else kept[0].arrays
        draws = [{name: part.arrays[name][:n] for name in names} for part in kept]
        self.settings.tell("items", 0.0)
        found = self.spread.each(items, self.model, stage, draws, finish)
        self.settings.tell("items", 1.0)
        return [value for value, _ in found], np.sum([gap for _, gap in found], axis=0)


def _groups(chains: int, spread: Spread) -> list[list[int]]:
    """Group chains whose rounds run together; files are read once per group."""
    # if rounds would leave threads idle for much of the time, there are as many groups as threads
    parts, team = spread.source.partitions, spread.team
    streamed = any(part.streamed for part in parts)
    if spread.here and len(parts) % team.places and len(parts) < 2 * team.places:
        n = min(team.places, chains)
    else:
        rounds = team.rounds if isinstance(team, Remote) else 1
        n = 1 if streamed else min(rounds, chains)
    return [[int(c) for c in group] for group in np.array_split(np.arange(chains), n)]
