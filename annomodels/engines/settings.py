"""Options of a run, its progress, and its early end by a time limit or a signal."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields
from types import FrameType
from typing import Any, ClassVar

from annomodels.errors import NotApplicable, Option, valid_seed
from annomodels.progress import Progress, silent

MEMORY = 400_000_000
# time between reports of progress, and iterations until the first
SLICE_SECONDS, FIRST_SLICE = 0.4, 20


def _known_to(engine: str, default: Any) -> Any:
    return field(default=default, metadata={"engine": engine})


@dataclass(frozen=True)
class Settings:
    """Options of a run, the same for all engines."""

    chains: int = 4  # number of chains; stored draws and warm-up iterations per chain
    draws: int = 1000
    warmup: int = 500
    seed: int = 1  # seed of all random numbers
    # number of starting points of ``em``, the first at the votes; 10 in memory, 1 on disk
    starts: int | None = _known_to("em", None)
    relabel: bool = True  # whether to bring classes into their canonical order
    # whether Gibbs chains that have not mixed continue, thinned, up to 16 times as long
    extend: bool = _known_to("gibbs", True)
    # maximum work of the run with such an extension, in reads of one label per chain and class: an
    # iteration takes (labels + 20 coders x classes) x classes of these
    patience: float = 4e10
    # seconds after which sampling stops; the result has the draws so far and a note
    time_limit: float | None = None
    threads: int | None = None  # number of threads
    partitions: int | None = None  # number of parts of a pass over the items
    target_accept: float = _known_to("nuts", 0.9)  # target acceptance rate of NUTS
    # maximum bytes of the stored draws; draws of large models are thinned
    memory: int = _known_to("gibbs", MEMORY)
    progress: Progress = silent  # called with stage, fraction done and message
    # where passes over the items run: None for this process, or an executor that
    # :func:`annomodels.executors.choose.team` accepts
    executor: Any = None

    @property
    def workers(self) -> int:
        """Number of threads to use."""
        if self.threads is not None:
            return max(1, self.threads)
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )

    def require_known(self, engine: str) -> None:
        """Refuse sizes of no run, and options that the engine does not know, all in one message."""
        self._require_sizes()
        strange = [
            f"{option.name}= ({option.metadata['engine']})"
            for option in self._changed()
            if option.metadata.get("engine", engine) != engine
        ]
        if strange:
            whose = ", ".join(strange)
            raise NotApplicable(f"The engine {engine!r} does not support {whose}. Leave them out.")

    def require_only(self, known: Sequence[str], what: str) -> None:
        """Refuse sizes of no run, and options that some kind of data does not know."""
        self._require_sizes()
        if strange := [option.name for option in self._changed() if option.name not in known]:
            named = ", ".join(str(Option(name)) for name in strange)
            raise NotApplicable(f"{what} are fitted without {named}: leave out {named}.")

    def _changed(self) -> list[Field[object]]:
        return [option for option in fields(self) if getattr(self, option.name) != option.default]

    def _require_sizes(self) -> None:
        valid_seed(self.seed)
        least = {"chains": 1, "draws": 1, "warmup": 0}
        low = [f"{k}={getattr(self, k)}" for k, n in least.items() if getattr(self, k) < n]
        if low:
            raise NotApplicable(
                f"A run cannot have {' and '.join(low)}: it needs at least one chain and one draw, "
                "and a warmup of 0 or more."
            )

    def require_here(self, title: str) -> None:
        """Raise NotApplicable if a model whose truth is not a class gets an executor."""
        if self.executor is not None:
            raise NotApplicable(
                f"{Option('executor')} is for models of classes, not for the {title} model. Leave "
                "it out."
            )

    def tell(self, stage: str, share: float, message: str = "") -> None:
        """Report the progress of the run."""
        self.progress(stage, min(max(share, 0.0), 1.0), message)


@dataclass
class Clock:
    """Wall time of a run against its limit."""

    limit: float | None = None
    began: float = field(default_factory=lambda: time.perf_counter())

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.began

    @property
    def over(self) -> bool:
        """Return True if the limit is reached."""
        return self.limit is not None and self.seconds >= self.limit


# signals that end a process: Ctrl-C, a scheduler, a closed terminal
SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


# seconds in which a signal may come again: `timeout`, make and others pass on one that the whole
# group of processes has got already
ECHO = 0.2


class Interrupts:
    """Context that records Ctrl-C, SIGTERM and SIGHUP; a second signal acts at once."""

    # outside the main thread nothing is recorded, since only the main thread gets signals

    taken: ClassVar[bool] = False  # whether any instance has recorded a signal in this process
    # recorded signal other than Ctrl-C, which is meant for the process, not for a fit in it
    pending: ClassVar[int] = 0
    answered: ClassVar[bool] = False  # whether this process handles such a signal itself
    last: ClassVar[float] = -math.inf  # when the last signal came

    def __init__(self, watch: bool) -> None:
        self.watch = watch
        self.noted = False
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if self.watch:
            self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def start(self) -> None:
        """Start to record signals; signals that are ignored stay ignored."""
        if self.before or threading.current_thread() is not threading.main_thread():
            return
        if not Interrupts.answered:  # in a session, a fit begins afresh after one that was stopped
            Interrupts.last = -math.inf
        for number in SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:  # for example by nohup
                self.before[number] = signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if Interrupts.is_echo():
            return
        if self.noted:
            self._restore()
            signal.raise_signal(number)
            return
        self.noted = Interrupts.taken = True
        if number != signal.SIGINT:
            Interrupts.pending = number

    @classmethod
    def is_echo(cls) -> bool:
        """Return True if a signal repeats the previous one; record when it came."""
        before, cls.last = cls.last, time.monotonic()
        return cls.last - before < ECHO

    def _restore(self) -> None:
        for number, handler in self.before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self.before = {}

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal was recorded."""
        if self.noted:
            raise KeyboardInterrupt

    @classmethod
    def forget(cls) -> None:
        """Clear the recorded signal."""
        cls.pending = 0

    @classmethod
    def pass_on(cls) -> None:
        """Raise a recorded signal again, unless this process handles it itself."""
        number, cls.pending = cls.pending, 0
        if number and not cls.answered:
            signal.raise_signal(number)


def in_slices(
    advance: Callable[[int, int], None],
    length: int,
    settings: Settings,
    clock: Clock,
    interrupts: Interrupts,
    name: str,
    *,
    thin: int = 1,
    limit: float | None = None,
    seconds: float = SLICE_SECONDS,
) -> tuple[int, str]:
    """Run iterations in slices, at least one; return their number, and why they ended early."""
    # the draws do not depend on the slices
    done, step = 0, max(thin, FIRST_SLICE)
    while done < length:
        since = clock.seconds
        end = min(done + step, length)
        try:
            advance(done, end)
            done = end
            settings.tell(name, done / length, f"keeping 1 draw in {thin}" if thin > 1 else "")
            interrupts.check()
        except KeyboardInterrupt:
            return done, "interrupted"
        if limit is not None and clock.seconds >= limit:
            return done, "time limit"
        pace = seconds / max(clock.seconds - since, 1e-3)
        step = max(1, int(step * min(pace, 4.0)))
    return done, ""
