"""How talkative this call is, and the lines that go to stderr."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

import click


@dataclass
class Session:
    """What was typed, and what -q, -v and --debug asked for."""

    command: str = ""
    quiet: bool = False
    verbose: bool = False
    debug: bool = False


def current() -> Session:
    """Give the session of the command that is running."""
    context = click.get_current_context(silent=True)
    found = context.find_object(Session) if context else None
    return found or Session()


def note(text: str) -> None:
    """Say something worth knowing, unless --quiet."""
    if not current().quiet:
        click.echo(text, err=True)


def detail(text: str) -> None:
    """Say something only --verbose wants to know."""
    if current().verbose:
        click.echo(text, err=True)


def warn(text: str) -> None:
    """Say something one must know, even with --quiet."""
    _marked("warning", text, "yellow")


def say_error(text: str) -> None:
    """Say what went wrong."""
    _marked("error", text, "red")


def _marked(word: str, text: str, colour: str) -> None:
    if not os.environ.get("NO_COLOR") and sys.stderr.isatty():
        word = click.style(word, fg=colour, bold=True)
    click.echo(f"{word}: {text}", err=True)


def plural(n: int, word: str, many: str = "") -> str:
    """Count with its noun.

    Examples
    --------
    >>> plural(1, "item"), plural(1200, "item"), plural(2, "class", "classes")
    ('1 item', '1,200 items', '2 classes')
    """
    return f"{n:,} {word if n == 1 else many or word + 's'}"
