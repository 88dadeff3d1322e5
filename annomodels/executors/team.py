"""A team: places that run calls, in threads of this process or elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce
from typing import Any

from annomodels.types import AnyArray

# minimum number of labels in a part, per count computed from them
LABELS_PER_CELL = 4
# number of calls per thread that may run ahead of the next result
AHEAD = 8

Sums = tuple[AnyArray, ...]


def add(first: Sums, *others: Sums) -> Sums:
    """Add tuples of arrays elementwise, in order."""
    return reduce(lambda a, b: tuple(x + y for x, y in zip(a, b, strict=True)), others, first)


class Team:
    """Places that run calls."""

    # maximum number of parts per place for large data in memory
    pieces: int = 1

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
    """Remote places, whose results stay there until they are asked for."""

    # number of rounds of calls that may be in progress at a time
    rounds: int = 1

    @abstractmethod
    def submit(self, function: Callable[..., object], *arguments: object) -> Any:
        """Call a function elsewhere, and return a promise; arguments may be promises."""
        # a result that is lost with its place is computed again, so functions change no argument

    @abstractmethod
    def values(self, promises: Sequence[Any]) -> list[Any]:
        """Wait for results and fetch them."""

    def total(self, promises: Sequence[Any]) -> Sums:
        """Add results that are tuples of arrays."""
        return add(*self.values(promises))

    def share(self, values: object) -> object:
        """Return the argument for calls at all places, a promise if it is large."""
        return values
