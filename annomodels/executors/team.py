"""A team: places that carry out calls, threads of this process or elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce

from annomodels.types import AnyArray

# labels that a part has at the least for each count that is made of them
LABELS_PER_CELL = 4
# calls of a thread that may be made, or waited for, before those whose turn it is
AHEAD = 8

type Call[T] = tuple[int, Callable[..., T], tuple[object, ...]]
Sums = tuple[AnyArray, ...]


class Lost(Exception):
    """The place of a call is gone, or lacks what the call needs: call again elsewhere."""


def add(first: Sums, *others: Sums) -> Sums:
    """Add tuples of arrays, place by place and in order."""
    return reduce(lambda a, b: tuple(x + y for x, y in zip(a, b, strict=True)), others, first)


class Team:
    """Places that carry out calls."""

    # parts that data in memory are cut into for each place, if they are large
    pieces: int = 1
    # rounds of calls that may be on the way at a time
    rounds: int = 1

    def __init__(self, places: int) -> None:
        self.places = max(1, places)

    def parts(self, n_annotations: int, n_cells: int) -> int:
        """Return the number of parts for a number of labels and of counts."""
        # counts are set up and added for each part, which is to take a small share of the time
        worthwhile = n_annotations // (LABELS_PER_CELL * max(1, n_cells) * self.places)
        return self.places * max(1, min(self.pieces, worthwhile))

    def close(self) -> None:
        """Let go of what this team began; what it was lent stays open."""


class Threads(Team):
    """Threads of this process; nothing is copied."""

    def __init__(self, places: int) -> None:
        super().__init__(places)
        self.pool = ThreadPoolExecutor(self.places) if self.places > 1 else None
        self.pieces = 4 if self.places > 1 else 1

    def map[A, T](self, function: Callable[[A], T], values: Sequence[A]) -> Iterator[T]:
        """Call a function side by side, and give what it returns in order."""
        if self.pool is None or len(values) == 1:
            return map(function, values)
        return self._ahead(self.pool, function, values)

    def _ahead[A, T](
        self, pool: ThreadPoolExecutor, function: Callable[[A], T], values: Sequence[A]
    ) -> Iterator[T]:
        """Call it on some values before their turn: what it returns may be large."""
        waiting: deque[Future[T]] = deque()
        try:
            for value in values:
                waiting.append(pool.submit(function, value))
                if len(waiting) > AHEAD * self.places:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def close(self) -> None:
        """End the threads."""
        if self.pool is not None:
            self.pool.shutdown()


class Remote(Team, ABC):
    """Places elsewhere, which may be lost."""

    @abstractmethod
    def outcomes[T](self, calls: Sequence[Call[T]]) -> list[T | Lost]:
        """Carry out calls (place, function, arguments); a lost one gives its `Lost`."""

    def total(
        self, calls: Sequence[Call[Sums]]
    ) -> tuple[Sequence[Sums | Lost | None], Sums | None]:
        """Carry out calls that give tuples of arrays; outcomes, or the sum if none is lost."""
        found = self.outcomes(calls)
        sums = [outcome for outcome in found if not isinstance(outcome, Lost)]
        return (found, None) if len(sums) < len(found) else ([None] * len(found), add(*sums))

    def share(self, values: object) -> object:
        """Bring values that all calls of a round need to all places; give what to call with."""
        return values

    def deliver(self, place: int, values: object) -> object:
        """Bring values that one call needs to its place; give what to call with."""
        del place
        return values

    def replace(self, place: int) -> None:
        """Find a new home for a place that was lost."""

    def settle(self) -> list[int]:
        """Move places that share a home to homes that have come since; gives those places."""
        return []

    def everywhere(self, function: Callable[..., object], *arguments: object) -> None:
        """Carry out a call at all places that there are, as well as that can be done."""
        self.outcomes([(place, function, arguments) for place in range(self.places)])
