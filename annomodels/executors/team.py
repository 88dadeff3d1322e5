"""A team: places that run calls, in threads of this process or elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce

from annomodels.types import AnyArray

# minimum number of labels in a part, per count computed from them
LABELS_PER_CELL = 4
# number of calls per thread that may run ahead of the next result
AHEAD = 8

type Call[T] = tuple[int, Callable[..., T], tuple[object, ...]]
Sums = tuple[AnyArray, ...]


class Lost(Exception):
    """The place of a call is gone, or lacks data of the call: call again elsewhere."""


def add(first: Sums, *others: Sums) -> Sums:
    """Add tuples of arrays elementwise, in order."""
    return reduce(lambda a, b: tuple(x + y for x, y in zip(a, b, strict=True)), others, first)


class Team:
    """Places that run calls."""

    # maximum number of parts per place for large data in memory
    pieces: int = 1
    # number of rounds of calls that may be in progress at a time
    rounds: int = 1

    def __init__(self, places: int) -> None:
        self.places = max(1, places)

    def parts(self, n_annotations: int, n_cells: int) -> int:
        """Return the number of parts for data with so many labels and counts."""
        # counts are allocated and added per part, which should take little of the time
        worthwhile = n_annotations // (LABELS_PER_CELL * max(1, n_cells) * self.places)
        return self.places * max(1, min(self.pieces, worthwhile))

    def close(self) -> None:
        """Release resources that this team created; those passed to it stay open."""


class Threads(Team):
    """Threads of this process; nothing is copied."""

    def __init__(self, places: int) -> None:
        super().__init__(places)
        self.pool = ThreadPoolExecutor(self.places) if self.places > 1 else None
        self.pieces = 4 if self.places > 1 else 1

    def map[A, T](self, function: Callable[[A], T], values: Sequence[A]) -> Iterator[T]:
        """Call a function in parallel, and yield the results in order."""
        if self.pool is None or len(values) == 1:
            return map(function, values)
        return self._ahead(self.pool, function, values)

    def _ahead[A, T](
        self, pool: ThreadPoolExecutor, function: Callable[[A], T], values: Sequence[A]
    ) -> Iterator[T]:
        """Call it on a limited number of values ahead: results may be large."""
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
    """Remote places, which may be lost."""

    @abstractmethod
    def outcomes[T](self, calls: Sequence[Call[T]]) -> list[T | Lost]:
        """Run calls (place, function, arguments); the outcome of a lost call is a `Lost`."""

    def total(
        self, calls: Sequence[Call[Sums]]
    ) -> tuple[Sequence[Sums | Lost | None], Sums | None]:
        """Run calls that return tuples of arrays; return outcomes, or the sum if none is lost."""
        found = self.outcomes(calls)
        sums = [outcome for outcome in found if not isinstance(outcome, Lost)]
        return (found, None) if len(sums) < len(found) else ([None] * len(found), add(*sums))

    def share(self, values: object) -> object:
        """Send values for all calls of a round to all places; return the argument for calls."""
        return values

    def deliver(self, place: int, values: object) -> object:
        """Send values for one call to its place, and return the argument for the call."""
        del place
        return values

    def replace(self, place: int) -> None:
        """Move a lost place to another machine."""

    def settle(self) -> list[int]:
        """Move places on crowded machines to new machines, and return them."""
        return []

    def everywhere(self, function: Callable[..., object], *arguments: object) -> None:
        """Run a call at all places, ignoring lost calls."""
        self.outcomes([(place, function, arguments) for place in range(self.places)])
