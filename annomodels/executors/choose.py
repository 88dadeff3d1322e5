"""From what people write, ``executor="threads"`` or a Dask client, to a team."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeGuard

from annomodels.errors import NotApplicable, Option
from annomodels.executors.team import Borrowed, Serial, Team, Threads, size_of

if TYPE_CHECKING:
    from distributed import Client


def team(executor: object, places: int | None = None) -> Team:
    """Return the team that an ``executor=`` names."""
    cores = places or _cores()
    if executor is None or executor == "serial":
        return Serial()
    if isinstance(executor, Team):
        return executor
    if executor == "threads":  # one thread is this one
        return Threads(cores) if cores > 1 else Serial()
    if executor == "processes":
        from annomodels.executors.processes import Processes

        return Processes(cores)
    if is_dask(executor):
        from annomodels.executors.dask import DaskTeam

        return DaskTeam(executor)
    if not isinstance(executor, str) and (
        callable(getattr(executor, "submit", None)) or callable(getattr(executor, "map", None))
    ):
        return Borrowed(executor, places or size_of(executor))
    raise NotApplicable(
        f"{Option('executor', executor)} is not known. Give 'threads', 'processes', a Dask client, "
        "or an object with submit or map."
    )


def spread_map[P, R](
    executor: object,
    function: Callable[[P], R],
    pieces: Iterable[P],
    places: int | None = None,
) -> list[R]:
    """Apply a function to independent pieces of work, wherever an ``executor=`` says."""
    crew = team(executor, places)
    try:
        return crew.map(function, pieces)
    finally:
        if crew is not executor:
            crew.close()


def keeps(executor: object) -> bool:
    """Return True if places of an ``executor=`` keep what calls leave there; starts none."""
    if executor is None or isinstance(executor, str) or is_dask(executor):
        return True
    return executor.keeps if isinstance(executor, Team) else Borrowed(executor, 1).keeps


def is_dask(executor: object) -> TypeGuard[Client]:
    """Return True if it is a Dask client, found out without loading Dask."""
    return all(callable(getattr(executor, name, None)) for name in ("scatter", "gather", "submit"))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
