"""Entry point of the command line: ``annomodels COMMAND ...``."""

from __future__ import annotations

import importlib
import io
import math
import os
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import click

from annomodels.cli import leave_at_once
from annomodels.cli.exits import DONE, INTERRUPTED, explain
from annomodels.cli.keys import list_choices
from annomodels.cli.session import Session, close_quietly, show_text, spell, warn, wrapped
from annomodels.data.widths import size
from annomodels.errors import DataWarning, meant, printable, spelled_by

COMMANDS: dict[str, str] = {
    "run": "Build a gold standard: agreement, fit, tables and report.",
    "check": "Describe a file of labels, what it supports, and which model suits.",
    "agree": "Compute agreement coefficients; fail a build with --fail-if.",
    "gold": "List the gold labels of a saved fit.",
    "coders": "Rate the coders of a saved fit, or its labels.",
    "next": "Choose the labels to ask for next, from a saved fit.",
    "audit": "Draw random items of a saved fit for an expert to judge.",
    "estimate": "Estimate label accuracy from an audit; fail with --fail-if.",
    "compare": "Compare saved fits by their predictions.",
    "coref": "Measure agreement on coreference; write silver chains.",
    "report": "Write the report of a saved fit, or a methods section.",
    "convert": "Convert an export to another layout; list the formats.",
    "datasets": "List the bundled data sets, or write one to a file.",
    "simulate": "Simulate labels from assumptions.",
    "design": "Plan how many coders and labels a study needs.",
}
"""One line of help for each command."""

FILES = {
    "pages": ("run", "report"),
    "labels": ("check", "agree"),
    "tables": ("gold", "coders", "next", "compare"),
    "audits": ("audit", "estimate"),
    "coref": ("coref",),
    "data": ("convert", "datasets"),
    "planning": ("simulate", "design"),
}
"""Commands of each file in ``commands``."""

EPILOG = """\b
Examples:
  annomodels run votes.csv -o out
  annomodels run dataset:anesthesia -o out
  annomodels agree votes.csv --fail-if 'alpha<0.667'

DATA is a file, - for standard input, or dataset:NAME for bundled data. Several
files, or a folder of them, are joined by their items; ana=a.csv names a coder.

Exit codes: 0 done; 1 a gate failed; 2 usage; 3 data cannot be read or understood;
4 written, but the inference cannot be trusted; 5 an optional package is missing;
130 interrupted (what was sampled is saved)."""


def load_command(name: str) -> click.Command:
    from annomodels.cli.options import documented

    file = next(file for file, names in FILES.items() if name in names)
    module = importlib.import_module(f"annomodels.cli.commands.{file}")
    found = (each for each in vars(module).values() if isinstance(each, click.Command))
    command = next(each for each in found if each.name == name)
    command.context_class = Context
    if command.help is None and command.callback is not None:  # python -OO drops docstrings
        command.help = documented(command.callback)
    list_choices(command)
    return command


_AS_IT_IS = "\b"  # marks a paragraph that click does not rewrap


class Formatter(click.HelpFormatter):
    """Help formatter that breaks lines at spaces only, so names and examples stay intact."""

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        paragraphs = []
        for paragraph in text.split("\n\n"):
            lines = paragraph.strip("\n").split("\n")
            if lines[0].strip() == _AS_IT_IS:
                lines = lines[1:]
            else:
                lines = wrapped(paragraph, self.width - self.current_indent)
            paragraphs.append("\n".join(indent + line for line in lines))
        self.write("\n\n".join(paragraphs) + "\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str | None]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        most = min(col_max, self.width * 2 // 5)
        first = min(max((size(name) for name, _ in rows), default=0), most) + col_spacing
        room = self.width - self.current_indent - first
        for name, text in rows:
            lines = wrapped(text or "", room)
            head = " " * self.current_indent + name
            if size(name) <= first - col_spacing:
                head += " " * (first - size(name)) + (lines.pop(0) if lines else "")
            self.write(head.rstrip() + "\n")
            for line in lines:
                self.write(" " * (self.current_indent + first) + line + "\n")


class Context(click.Context):
    """Context whose help keeps hyphenated names intact."""

    formatter_class = Formatter


class LazyGroup(click.Group):
    """Group that writes its help from :data:`COMMANDS` without importing commands."""

    context_class = Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or raise an error that suggests similar names."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            hint = meant(name, COMMANDS, show=str) or f"Use one of {', '.join(COMMANDS)}."
            raise click.UsageError(f"Unknown command {name!r}. {hint.rstrip()}", ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, and explain the position of options if one precedes the command."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            text = f"{error.format_message()} Put options after the command."
            raise click.UsageError(text, ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.option(
    "-v", "--verbose", is_flag=True, help="With --version: check packages, cores and caches."
)
@click.pass_context
def cli(ctx: click.Context, version: bool, verbose: bool) -> None:
    """From labels to gold standards, coder quality and ambiguous items, with intervals."""
    if version:
        from annomodels import __version__

        show_text(f"annomodels {__version__}\n")
        if not verbose:
            ctx.exit()
        from annomodels.cli.installed import examined

        ctx.exit(examined())
    if verbose:
        raise click.UsageError("Put options after the command.", ctx)
    if ctx.invoked_subcommand is None:
        show_text(f"{ctx.get_help()}\n")


def main(args: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if args is None else args)
    if "_ANNOMODELS_COMPLETE" in os.environ:
        cli.main(words, prog_name="annomodels")
    session = Session(command=printable(shlex.join(["annomodels", *words])), group=cli)
    _open_streams()
    _accept_any_text()
    with warnings.catch_warnings(), _heeding_interrupts(session), spelled_by(spell):
        _tame_warnings(session)
        try:
            code = _run(words, session)
            sys.stdout.flush()
            return code
        except (Exception, KeyboardInterrupt) as error:
            if _is_closed_pipe(error):
                close_quietly(sys.stdout)
                return DONE
            # a library may have run text (dataclasses do) when the signal came: Python notes that
            # the text was interrupted, and ends with the signal unless other text is run
            exec("")
            return explain(error, session)
        finally:
            _drop_unwritten()


def _run(words: list[str], session: Session) -> int:
    try:
        with cli.make_context("annomodels", words, obj=session) as context:
            return cli.invoke(context) or DONE
    except click.exceptions.Exit as finished:
        return finished.exit_code


@contextmanager
def _heeding_interrupts(session: Session) -> Iterator[None]:
    """Handle interrupts: the first raises an exception, the second ends the process at once."""
    # A sampler handles the first itself, and keeps its draws.
    from annomodels.engines.settings import SIGNALS, Interrupts

    before: dict[int, Any] = {}
    noted = over = Interrupts.taken = False
    answered, Interrupts.answered = Interrupts.answered, True
    Interrupts.last = -math.inf

    def take(number: int, frame: object) -> None:
        nonlocal noted
        if over or Interrupts.is_echo():
            return
        if noted or Interrupts.taken:
            from annomodels.cli.places import leave_all

            leave_all()
            explain(KeyboardInterrupt(), session)
            os._exit(INTERRUPTED)
        noted = True
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for number in map(int, SIGNALS):
            was = signal.getsignal(number)
            # a shell may have set it to be ignored
            if was in (signal.SIG_DFL, signal.default_int_handler, leave_at_once):
                before[number] = signal.signal(number, take)
    try:
        yield
    finally:
        over = True
        Interrupts.answered = answered
        for number, handler in before.items():  # a late Ctrl-C must not disturb the exit
            done = noted or handler == leave_at_once
            signal.signal(number, signal.SIG_IGN if done else handler)


def _tame_warnings(session: Session) -> None:
    """Show warnings of this package on one line, other warnings only with --debug."""
    plain = warnings.showwarning

    def show(message: object, category: type[Warning], *rest: object) -> None:
        if issubclass(category, DataWarning):
            warn(str(message))
        elif session.debug:
            plain(message, category, *rest)  # type: ignore[arg-type]

    warnings.showwarning = show  # type: ignore[assignment]


def _accept_any_text() -> None:
    """Escape characters that the terminal's encoding lacks instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _is_closed_pipe(error: BaseException | None) -> bool:
    """Return True if a closed pipe caused an error, even if a library wrapped it."""
    while error is not None:
        if isinstance(error, BrokenPipeError):
            return True
        error = error.__cause__
    return False


def _drop_unwritten() -> None:
    """After an error on a stream (such as a full disk), keep Python from failing again at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            close_quietly(stream)


def _open_streams() -> None:
    """Replace streams that were closed before this process started by the null device."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        with suppress(OSError):  # later files must not reuse the descriptor of the stream
            while os.open(os.devnull, os.O_RDWR) < number:
                pass
        mode = "w" if number else "r"
        setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 to the exit
