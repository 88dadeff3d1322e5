"""Where a census of modes stands, for its checkpoint: modes that were reached, and the climb."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from annomodels.engines.checkpoint import open_checkpoint, state_arrays
from annomodels.engines.interrupts import Interrupts
from annomodels.engines.settings import Settings
from annomodels.models.base import State

__all__ = ["ClimbLog"]

LAST_ROUND = 2


class ClimbLog:
    """Keeps the checkpoint of a run of EM.

    A climb that goes on may leap from other points than one that was not interrupted; it ends in
    the same mode.

    Parameters
    ----------
    settings
        The options of the run.
    belongs
        What the run must have in common with a checkpoint.
    """

    def __init__(self, settings: Settings, belongs: dict[str, Any]) -> None:
        self.checkpoint = open_checkpoint(settings, belongs)
        self.saved = self.checkpoint.saved
        self.interrupts = Interrupts(settings.checkpoint is not None)
        self.done: list[State] = []
        self.start = 0
        self.now: tuple[State, int] | None = None

    def __enter__(self) -> ClimbLog:
        self.interrupts.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.interrupts.__exit__()

    def begin(self, start: int, state: State) -> tuple[State, int]:
        """Give the state and the round to begin a start with: the saved ones if there are any."""
        self.start = start
        if self.saved is None:
            return state, 0
        if start < int(self.saved.place["done"]):
            return self.saved.state(start), LAST_ROUND if state.population else 0
        saved, self.saved = self.saved, None
        if saved.place["turn"] is None:
            return state, 0
        return saved.state("now"), int(saved.place["turn"])

    def each(self, state: State, turn: int) -> None:
        """Note where the climb stands; writes when it is time, and stops when interrupted."""
        self.now = state, turn
        if self.checkpoint.due or self.interrupts.noted:
            self._write()
        self.interrupts.check()

    def finish(self, state: State) -> None:
        """Note that a climb has ended."""
        self.done.append(state)
        self.now = None
        if self.checkpoint.due:
            self._write()

    def _write(self) -> None:
        arrays: dict[str, NDArray[Any]] = {}
        for n, state in enumerate(self.done):
            arrays |= state_arrays(n, state)
        if self.now is not None:
            arrays |= state_arrays("now", self.now[0])
        turn = None if self.now is None else self.now[1]
        self.checkpoint.put({"done": len(self.done), "turn": turn}, arrays)
