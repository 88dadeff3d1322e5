"""Options of runs that are spread or written down: --executor, --dask, --checkpoint, --resume."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

__all__ = ["spread_options", "spreading"]

KEY = "annomodels.spread"
EXECUTORS = ("threads", "processes")

Command = Callable[..., Any]


def spread_options(command: Command) -> Command:
    """Add the options; :func:`spreading` gives what they say."""

    def remember(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value:
            ctx.meta.setdefault(KEY, {})[parameter.name] = value

    def place(ctx: click.Context, parameter: click.Parameter, text: str | None) -> None:
        if text is not None and re.fullmatch(r"local(:[1-9]\d*)?|\w+://\S+", text) is None:
            wrong = f"{text!r} is no cluster; write tcp://HOST:PORT, local or local:4."
            raise click.BadParameter(wrong, param=parameter)
        remember(ctx, parameter, text)

    options = (
        click.option(
            "--executor",
            type=click.Choice(EXECUTORS),
            expose_value=False,
            callback=remember,
            help="Where passes over the labels are carried out; the draws stay the same.",
        ),
        click.option(
            "--dask",
            metavar="ADDRESS",
            expose_value=False,
            callback=place,
            help="Spread over a Dask cluster: tcp://HOST:PORT, or local:4 for four processes.",
        ),
        click.option(
            "--checkpoint",
            metavar="FILE",
            expose_value=False,
            callback=remember,
            help="Write the run down every minute and when it is interrupted.",
        ),
        click.option(
            "--resume",
            is_flag=True,
            expose_value=False,
            callback=remember,
            help="Go on from the checkpoint if it is there; the draws stay the same.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def spreading() -> Iterator[dict[str, Any]]:
    """Give what the options add to a call of ``fit``; a cluster is there as long as it is needed.

    Raises
    ------
    EngineError
        When there is no cluster at the address.
    MissingDependency
        When Dask is not installed.
    """
    context = click.get_current_context(silent=True)
    chosen: dict[str, Any] = dict(context.meta.get(KEY, {})) if context else {}
    address = chosen.pop("dask", None)
    if address is None:
        yield chosen
        return
    if "executor" in chosen:
        raise click.UsageError("--executor and --dask cannot both be used.")
    with _client(address) as client:
        yield {**chosen, "executor": client}


@contextmanager
def _client(address: str) -> Iterator[Any]:
    from annomodels.errors import EngineError, MissingDependency

    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingDependency(
            "--dask needs Dask. Install it: pip install 'annomodels[dask]'"
        ) from error
    if not address.startswith("local"):
        try:
            client = Client(address, timeout="20s", set_as_default=False)
        except OSError as error:
            raise EngineError(
                f"There is no Dask scheduler at {address}. Start one with `dask scheduler`, or "
                "give its address."
            ) from error
        with client:
            yield client
        return
    number = int(address.partition(":")[2] or 0) or None
    cluster = LocalCluster(
        n_workers=number,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs="ERROR",
    )
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client
