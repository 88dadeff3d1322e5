"""Entry point of the command line: ``annomodels COMMAND ...``."""

from __future__ import annotations

import io
import os
import shlex
import sys
import warnings
from collections.abc import Sequence

import click

from annomodels.cli.exits import DONE, explain
from annomodels.cli.lazy import LazyGroup
from annomodels.cli.session import Session, warn
from annomodels.errors import printable

__all__ = ["cli", "main"]

EPILOG = """\b
Examples:
  annomodels run votes.csv -o out
  annomodels run dataset:anesthesia -o out
  annomodels agree votes.csv --fail-if 'alpha<0.667'

DATA is a file, - for standard input, or dataset:NAME for bundled data.

\b
Exit codes: 0 done; 1 a gate failed; 2 usage; 3 data cannot be read or understood;
4 written, but the inference is not to be trusted; 5 an optional package is missing;
130 interrupted (what was sampled is saved)."""


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from annomodels import __version__

        click.echo(f"annomodels {__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Show the version and exit.",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """From labels to gold standards, coder quality and ambiguous items, with intervals."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code.

    Parameters
    ----------
    args
        The words after the program's name; those of the process by default.

    Returns
    -------
    int
        0 done; 1 a gate failed; 2 usage; 3 data cannot be read or understood; 4 written, but the
        inference is not to be trusted; 5 an optional package is missing; 70 a defect; 130
        interrupted.
    """
    words = list(sys.argv[1:] if args is None else args)
    if "_ANNOMODELS_COMPLETE" in os.environ:
        cli.main(words, prog_name="annomodels")
    session = Session(command=printable(shlex.join(["annomodels", *words])))
    _accept_any_text()
    with warnings.catch_warnings():
        _tame_warnings(session)
        try:
            code = _run(words, session)
            sys.stdout.flush()
            return code
        except (Exception, KeyboardInterrupt) as error:
            if _is_closed_pipe(error):
                _close_quietly()
                return DONE
            code = explain(error, session)
            _drop_unwritten()
            return code


def _run(words: list[str], session: Session) -> int:
    try:
        with cli.make_context("annomodels", words, obj=session) as context:
            cli.invoke(context)
    except click.exceptions.Exit as finished:
        return finished.exit_code
    return DONE


def _tame_warnings(session: Session) -> None:
    """Show warnings of this package as one line, those of others only with --debug."""
    from annomodels.errors import DataWarning, InferenceWarning

    plain = warnings.showwarning

    def show(message: object, category: type[Warning], *rest: object) -> None:
        if issubclass(category, (DataWarning, InferenceWarning)):
            warn(str(message))
        elif session.debug:
            plain(message, category, *rest)  # type: ignore[arg-type]

    warnings.showwarning = show  # type: ignore[assignment]


def _accept_any_text() -> None:
    """Write signs that the terminal's encoding lacks as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _is_closed_pipe(error: BaseException | None) -> bool:
    """Whether a closed pipe is at the bottom of an error that another library wrapped."""
    while error is not None:
        if isinstance(error, BrokenPipeError):
            return True
        error = error.__cause__
    return False


def _close_quietly() -> None:
    """Send what is still buffered nowhere, so that Python says nothing at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(devnull, sys.stdout.fileno())
    except (OSError, ValueError):
        return
    finally:
        os.close(devnull)


def _drop_unwritten() -> None:
    """After an error on stdout (a full disk, say), keep Python from failing again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        _close_quietly()
