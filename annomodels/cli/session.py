"""How talkative this call is, and the lines that go to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

import click

from annomodels.cli.screen.wrapping import paragraphs, width_of


@dataclass
class Session:
    """What was typed, and what -q, -v and --debug asked for."""

    command: str = ""
    quiet: bool = False
    verbose: bool = False
    debug: bool = False
    group: click.Group | None = None
    live: Callable[[], None] | None = None
    """Takes a drawn bar off the screen, while there is one."""

    def pause(self) -> None:
        """See that what is written next begins a line of its own."""
        if self.live is not None:
            self.live()


def current() -> Session:
    """Give the session of the command that is running."""
    context = click.get_current_context(silent=True)
    found = context.find_object(Session) if context else None
    return found or Session()


def note(text: str) -> None:
    """Say something worth knowing, unless --quiet."""
    if not current().quiet:
        _echo(text, err=True)


def detail(text: str) -> None:
    """Say something only --verbose wants to know."""
    if current().verbose:
        _echo(text, err=True)


def say(text: str) -> None:
    """Say on stdout what was asked for, where it is prose."""
    _echo(text)


def warn(text: str) -> None:
    """Say something one must know, even with --quiet."""
    _marked("warning", text, "yellow")


def say_error(text: str, session: Session) -> None:
    """Say what went wrong, when the command is over."""
    _marked("error", here(text, session), "red")


def _marked(word: str, text: str, colour: str) -> None:
    if not os.environ.get("NO_COLOR") and sys.stderr.isatty():
        word = click.style(word, fg=colour, bold=True)
    _echo(f"{word}: {text}", err=True)


def here(text: str, session: Session | None = None) -> str:
    """Spell the options that a message names as those of this command, else of any other."""
    group = (session or current()).group
    if group is None or not any(sign in text for sign in ("=", "am.", "annomodels.", "()")):
        return text
    from annomodels.cli.screen.spelling import keywords, spelled

    context = click.get_current_context(silent=True)
    nobody = click.Context(group)
    flags = _flags(context.command) if context else {}
    if not keywords(text) <= set(flags):
        for name in ("run", "agree", "coref", "next"):
            other = group.get_command(nobody, name)
            flags = (_flags(other) if other else {}) | flags
    return spelled(text, flags, group.list_commands(nobody))


def _flags(command: click.Command) -> dict[str, str]:
    """Give the flag of each option of a command, by its keyword."""
    options = [option for option in command.params if isinstance(option, click.Option)]
    return {option.name: option.opts[-1] for option in options if option.name}


def _echo(text: str, *, err: bool = False) -> None:
    """Write on a line of its own; on a terminal, in lines that it can hold."""
    current().pause()
    stream = sys.stderr if err else sys.stdout
    text = here(text)
    if stream.isatty():
        text = paragraphs(text, width_of(stream))
    click.echo(text, err=err)


def plural(n: int, word: str, many: str = "") -> str:
    """Count with its noun.

    Examples
    --------
    >>> plural(1, "item"), plural(1200, "item"), plural(2, "class", "classes")
    ('1 item', '1,200 items', '2 classes')
    """
    return f"{n:,} {word if n == 1 else many or word + 's'}"
