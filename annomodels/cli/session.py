"""Verbosity of a call, spelling of options, lines and progress on stderr, wrapped."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

import click

from annomodels.cli.keys import KeyOption
from annomodels.data.widths import size
from annomodels.errors import Option, Verb
from annomodels.progress import Reporter

# control characters that move or color a terminal, or ring its bell; names are untrusted
_CONTROL = {n: f"\\x{n:02x}" for n in (*range(9), *range(11, 32), *range(127, 160))}

_OTHERS = ("run", "agree", "coref", "next")  # commands whose options appear in messages of others


@dataclass
class Session:
    """The command as typed, with -q, -v and --debug."""

    command: str = ""
    quiet: bool = False
    verbose: bool = False
    debug: bool = False
    group: click.Group | None = None
    live: Callable[[], None] | None = None
    """Takes a drawn bar off the screen, while there is one."""
    loaded: str = ""
    """Saved fit that the command reads."""
    saved: str = ""
    """Folder with a fit that was kept when the rest of a run failed."""

    @property
    def verb(self) -> str:
        """Name of the command, such as ``run``."""
        return next(iter(self.command.split()[1:2]), "")

    def pause(self) -> None:
        """Make the next output start on a new line."""
        if self.live is not None:
            self.live()


def current() -> Session:
    context = click.get_current_context(silent=True)
    found = context.find_object(Session) if context else None
    return found or Session()


def note(text: str) -> None:
    """Print a note on stderr, unless --quiet."""
    if not current().quiet:
        _echo(text, err=True)


def say_notes(notes: Iterable[str]) -> None:
    """Print the notes on a result on stderr, unless --quiet."""
    for text in notes:
        note(f"note: {text}")


def detail(text: str) -> None:
    """Print a detail on stderr, only with --verbose."""
    if current().verbose:
        _echo(text, err=True)


def say(text: str) -> None:
    """Print requested prose on stdout."""
    _echo(text)


def warn(text: str) -> None:
    """Print a warning, even with --quiet."""
    _marked("warning", text, "yellow")


def say_error(text: str) -> None:
    """Print the error that ended the command."""
    _marked("error", text, "red")


def failed(text: str) -> None:
    """Print a failed quality gate, which is a result, not a warning."""
    _marked("FAILED", text, "red", " ")


def _marked(word: str, text: str, colour: str, sign: str = ": ") -> None:
    if not os.environ.get("NO_COLOR") and sys.stderr.isatty():
        word = click.style(word, fg=colour, bold=True)
    _echo(f"{word}{sign}{text}", err=True)


def spell(named: Option | Verb) -> str:
    """Spell an option or call in a message, preferably as an option of this command.

    >>> spell(Verb("am.compare", "annomodels compare")), spell(Option("prob", 0.9))
    ('annomodels compare', 'prob=0.9')
    """
    if isinstance(named, Verb):
        return named.command
    option, value = _option(named.name), named.value
    if option is None:
        return named.python
    key = option.spelled if isinstance(option, KeyOption) else None
    flag = key or option.opts[-1]
    if isinstance(value, bool):
        return flag if value else f"no {flag}"
    if value in (None, ...):
        return flag
    between = "=" if key else " "
    if value == [...]:
        return f"{flag}{between}A,B,..."
    text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return f"{flag}{between}{shlex.quote(text)}"


def _option(name: str) -> click.Option | None:
    """Return an option of the running command, or else of another command."""
    for command in _commands():
        for option in command.params:
            if isinstance(option, click.Option) and option.name == name:
                return option
    return None


def _commands() -> Iterator[click.Command]:
    """Yield the running command, then others, imported only if needed."""
    context, group = click.get_current_context(silent=True), current().group
    if context is not None:
        yield context.command
    for name in _OTHERS if group else ():
        command = group.get_command(click.Context(group), name) if group else None
        if command is not None:
            yield command


def show_text(text: str) -> None:
    """Print text on stdout; on a terminal, escape control characters."""
    click.echo(visible(text) if sys.stdout.isatty() else text, nl=False)


def _echo(text: str, *, err: bool = False) -> None:
    """Write on a new line, wrapped to the width of a terminal."""
    current().pause()
    stream = sys.stderr if err else sys.stdout
    text = visible(text)
    if stream.isatty():
        text = paragraphs(text, width_of(stream))
    try:
        click.echo(text, err=err)
    except OSError:  # notes that cannot be written do not end a run
        if not err:
            raise
        close_quietly(stream)


def close_quietly(stream: TextIO) -> None:
    """Discard buffered output, so that Python prints no error at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(devnull, stream.fileno())
    except (OSError, ValueError):
        return
    finally:
        os.close(devnull)


def visible(text: str) -> str:
    """Escape control characters that would affect a terminal."""
    return text.translate(_CONTROL)


class Stages(Reporter):
    """Progress reporter of a command: silent with --quiet, hidden while lines are written."""

    def __init__(self) -> None:
        super().__init__(quiet=current().quiet)
        current().live = self.pause

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        current().live = None


# a word, or text that is copied whole: in backticks, an installation, a call with options
_WORD = re.compile(
    r"[^\s`]*`[^`\n]+`[^\s`]*|pip install (?:--upgrade )?\S+"
    r"|annomodels(?: [a-z]+)?(?: --[\w-]+)+\S*|\S+"
)
# prefix of a line: spaces, a bullet or number, a label such as "where:"
_LEAD = re.compile(r"\s*(?:(?:[*•-]|\d+\.|where:|fix:|note:|warning:|error:)\s+)*")
NARROWEST = 20
USUAL = 120  # width of an output that is not a terminal
UNSAID = 80  # width of a terminal that does not report it


def width_of(stream: TextIO) -> int:
    """Return the width of the terminal of a stream; $COLUMNS overrides it."""
    if not stream.isatty():
        return USUAL
    told = os.environ.get("COLUMNS", "")
    try:
        columns = int(told) if told.isdecimal() else os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return max(columns, NARROWEST) if columns else UNSAID


def wrapped(text: str, width: int) -> list[str]:
    """Break text into lines of at most `width` columns, between words only.

    A wider word, or command in backticks, gets a separate line.

    >>> wrapped("say `do this` and go on", 12)
    ['say', '`do this`', 'and go on']
    >>> wrapped("then pip install x, and annomodels run --help.", 24)
    ['then pip install x, and', 'annomodels run --help.']
    """
    lines: list[str] = []
    for word in _WORD.findall(text):
        if lines and size(lines[-1]) + 1 + size(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def paragraphs(text: str, width: int) -> str:
    r"""Wrap each line of a message; align continuation lines with the text, not its label.

    >>> print(paragraphs("error: No file.\n  fix:   Check the path and the name.", 24))
    error: No file.
      fix:   Check the path
             and the name.
    """
    width = max(width, NARROWEST)
    out = []
    for line in text.split("\n"):
        if size(line) <= width:
            out.append(line)
            continue
        lead = _LEAD.match(line)[0]  # type: ignore[index]
        hang = min(len(lead), 9) if lead.strip() else len(lead)
        first, *rest = wrapped(line[len(lead) :], width - len(lead)) or [""]
        # continuation lines may be longer than the first if they are indented less
        rest = wrapped(" ".join(rest), width - hang)
        out.append(lead + first)
        out += [" " * hang + part for part in rest]
    return "\n".join(out)
