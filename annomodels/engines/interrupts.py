"""Ctrl-C and SIGTERM in a run with a checkpoint: noted, and obeyed where the chains stand still."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

__all__ = ["Interrupts"]


class Interrupts:
    """Notes Ctrl-C and SIGTERM within a ``with``; a second one acts at once.

    Outside the main thread nothing is noted, for signals come to the main thread only.

    Parameters
    ----------
    watch
        Whether to note anything.
    """

    def __init__(self, watch: bool) -> None:
        self.watch = watch and threading.current_thread() is threading.main_thread()
        self.noted = False
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if self.watch:
            for number in (signal.SIGINT, signal.SIGTERM):
                self.before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.noted = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self.before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self.before = {}

    def check(self) -> None:
        """Raise KeyboardInterrupt if one was noted."""
        if self.noted:
            raise KeyboardInterrupt
