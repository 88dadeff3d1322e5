"""Processes of this machine, each with a memory of its own."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor

from annomodels.executors.team import Call, Lost, Team


class Processes(Team):
    """Processes of this machine, each a place that keeps what it was given."""

    # a script that uses them begins with ``if __name__ == "__main__":``, since they read it too

    rounds = 2

    def __init__(self, places: int) -> None:
        super().__init__(places)
        methods = multiprocessing.get_all_start_methods()
        # a fork of a process with threads may hang, so they come from a server without any
        method = "forkserver" if "forkserver" in methods else "spawn"
        self.context = multiprocessing.get_context(method)
        self.pools = [self._pool() for _ in range(self.places)]

    def _pool(self) -> ProcessPoolExecutor:
        # one process each: a call must find what an earlier call left
        return ProcessPoolExecutor(1, mp_context=self.context, initializer=_ignore_interrupts)

    def outcomes[T](self, calls: Sequence[Call[T]]) -> list[T | Lost]:
        """Carry out calls side by side."""
        waiting: list[Future[T] | Lost] = []
        for place, function, arguments in calls:
            try:
                waiting.append(self.pools[place].submit(function, *arguments))
            except BrokenExecutor as error:
                waiting.append(Lost(str(error)))
        found: list[T | Lost] = []
        for each in waiting:
            try:
                found.append(each if isinstance(each, Lost) else each.result())
            except Lost as lost:
                found.append(lost)
            except BrokenExecutor as error:
                found.append(Lost(str(error)))
        return found

    def replace(self, place: int) -> None:
        """Start a new process if the old one has ended."""
        try:
            self.pools[place].submit(int).result()
        except BrokenExecutor:
            self.pools[place].shutdown(wait=False)
            self.pools[place] = self._pool()

    def close(self) -> None:
        """End the processes."""
        for pool in self.pools:
            pool.shutdown(cancel_futures=True)


def _ignore_interrupts() -> None:
    """Ctrl-C is for the process that waits for the others; it ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
