"""Choice of a team by the option ``executor``: ``"threads"`` or a Dask client."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeGuard

from annomodels.errors import NotApplicable, Option
from annomodels.executors.team import Team, Threads

if TYPE_CHECKING:
    from distributed import Client


def team(executor: object, places: int | None = None) -> Team:
    """Return the team of an ``executor=`` argument."""
    if executor is None:
        return Threads(1)
    if isinstance(executor, Team):
        return executor
    if executor == "threads":
        return Threads(places or _cores())
    if is_dask(executor):
        from annomodels.executors.dask import DaskTeam

        return DaskTeam(executor)
    raise NotApplicable(
        f"{Option('executor', executor)} is unknown. Use 'threads' or a Dask client."
    )


def is_dask(executor: object) -> TypeGuard[Client]:
    """Return True if it is a Dask client, without importing Dask."""
    return all(callable(getattr(executor, name, None)) for name in ("scatter", "gather", "submit"))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
