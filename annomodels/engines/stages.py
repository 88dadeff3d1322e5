"""A run of Gibbs chains in stages: warm-up, then twice as long each time until the chains mix."""

# Subclasses advance the chains: in threads of this process, or over partitions elsewhere.

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from annomodels.data.mixing import mixing, worst
from annomodels.engines.chain import Chain
from annomodels.engines.kept import DrawStore, traced, watched_of
from annomodels.engines.settings import Clock, Interrupts, Settings
from annomodels.errors import EngineError, Option

SLICE_SECONDS = 0.4
FIRST_SLICE = 20
MOST_THIN = 16
GOOD_RHAT, GOOD_ESS = 1.01, 400
FEWEST_DRAWS = 100
# a chain whose labels are less likely than those of the best one by so many nats, and by so many
# standard deviations of the draws, is in a mode that does not count
BEHIND, BEHIND_SPREADS = 30.0, 5.0


def room_for(n_rows: int, n_labels: int, settings: Settings) -> tuple[int, bool]:
    """Return the number of draws that a chain keeps in memory, and if in single precision."""
    bytes_per_draw = n_rows * n_labels * n_labels * 8 * settings.chains
    if bytes_per_draw * settings.draws <= settings.memory:
        return settings.draws, False
    most = int(settings.memory / (bytes_per_draw / 2))
    return max(min(settings.draws, most), min(settings.draws, FEWEST_DRAWS)), True


def cost(n_annotations: int, n_rows: int, n_labels: int) -> int:
    """Return the work of an iteration: a drawn parameter costs 20 reads of a label."""
    return (n_annotations + 20 * n_rows * n_labels) * n_labels


def chain_keys(settings: Settings) -> list[int]:
    """Return the key of all random numbers of each chain."""
    keys = np.random.SeedSequence(settings.seed).generate_state(settings.chains, np.uint64)
    return [int(key) for key in keys]


class StagedRun(ABC):
    """Chains, and the stages they went through."""

    slice_seconds = SLICE_SECONDS

    def __init__(self, settings: Settings, work: int, chains: Sequence[Chain]) -> None:
        self.settings, self.work, self.chains = settings, work, chains
        self.interrupts = Interrupts(False)
        self.clock = Clock(settings.time_limit)
        self.stopped, self.hurried = "", False
        self.stages: list[tuple[list[DrawStore], int]] = []
        # what the census of modes saw, see `annomodels.engines.starts`
        self.census: list[dict[str, Any]] = []
        # chains that were taken out of a mode that does not count
        self.restarted: list[int] = []
        self.stage = 0  # 0 is the warm-up
        self.first_thin = 1

    @abstractmethod
    def slice(
        self, steps: Sequence[int], thin: int, kept: list[DrawStore] | None, limit: float | None
    ) -> None:
        """Advance each chain by some iterations; if interrupted, raise with the chains at rest."""
        # fewer when interrupted, or when `limit` is over

    def sample(self, draws: int, single: bool) -> None:
        """Warm up, then run stages until the chains have mixed."""
        limit = self.settings.time_limit
        kept = None
        # draws of states are not watched before they are kept
        traced = single and self.chains[0].own is None
        if traced:  # as many iterations as draws were asked for, of which memory keeps some
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
        """Attributes of the result about the run."""
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
        """Let chains far behind continue from the best one, once; True if there are any."""
        # what was kept then is only a longer warm-up
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
        """Return True if a stage of twice the length stays within the patience."""
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
        """Advance all chains a slice at a time, so that none runs far ahead; True if complete."""
        length = max(thin, FIRST_SLICE)
        for chain in self.chains:
            # the first iteration of a stage is one that is kept
            chain.iteration += -chain.iteration % thin
        ends = [chain.iteration + iterations for chain in self.chains]
        while True:
            left = [end - chain.iteration for end, chain in zip(ends, self.chains, strict=True)]
            if max(left) <= 0:
                return True
            since = self.clock.seconds
            try:
                self.slice([min(length, n) for n in left], thin, kept, limit)
                left = [end - chain.iteration for end, chain in zip(ends, self.chains, strict=True)]
                done = 1.0 - max(left) / max(iterations, 1)
                self.settings.tell(name, done, f"keeping 1 draw in {thin}" if thin > 1 else "")
            except KeyboardInterrupt:
                self.stopped = "interrupted"
                return False
            if limit is not None and self.clock.seconds >= limit:
                if kept is None:
                    self.hurried = max(left) > 0
                else:
                    self.stopped = "time limit"
                return False
            pace = self.slice_seconds / max(self.clock.seconds - since, 1e-3)
            length = max(1, int(length * min(pace, 4.0)))

    def _mixed(self, kept: list[DrawStore]) -> bool:
        if len(kept) == 1:  # nothing to compare
            return True
        found = traced([part.trace for part in kept])
        if found is not None:
            r, n = worst(*found)
            return bool(np.isnan(r)) or (r < GOOD_RHAT and n >= GOOD_ESS)
        volume = self.chains[0].volume
        by_chain = [  # draws are large, what is watched of them is small
            watched_of(self.chains[0].model, {n: v[None] for n, v in part.arrays.items()}, volume)
            for part in kept
        ]
        r, n = worst(*mixing(np.concatenate(by_chain)))
        return bool(np.isnan(r)) or (
            r < GOOD_RHAT and n >= min(GOOD_ESS, 0.4 * kept[0].room * len(kept))
        )
