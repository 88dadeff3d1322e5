"""How talkative this call is, and the lines that go to stderr.

Messages name an option as Python does, ``scale="ordinal"``, wherever they come from; here they are
spelled by the options of the command line: ``--scale ordinal``.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import click

from annomodels.cli.screen.wrapping import paragraphs, width_of

_KEYWORD = re.compile(
    r"""(?<![\w.\-/?&])(?P<name>[a-z_]+)=(?!=)
    (?:(?P<truth>True|False|None)\b
    |'(?P<single>[^'\n]*)'|"(?P<double>[^"\n]*)"
    |\[(?P<several>[^\]\n]*)\]
    |(?P<open>\.\.\.)
    |(?P<word>[A-Z0-9][\w.]*\b)
    |(?=$|[\s,;:.)`]))""",
    re.VERBOSE,
)
# signs that move or colour a terminal, or ring its bell; names come from strangers
_CONTROL = {n: f"\\x{n:02x}" for n in (*range(9), *range(11, 32), *range(127, 160))}
_FIT = re.compile(r"""am\.fit\(data, ["']([\w-]+)["']\)""")
_CALL = re.compile(r"\b(?:am|annomodels)\.([a-z]+)(?:\((?:\.\.\.)?\))?(?!\w|\(|\.\w)")
_VERBS = {"read": "run", "agreement": "agree"}  # commands with other names than the functions
_PHRASES = {
    "annomodels.coref.read": "annomodels coref",
    "see unaligned()": "see unaligned.csv of -o FOLDER",
    "data.select(coders=[one, other])": "--by pair",
    "am.scan(...).to_annotations()": "the command without --stream",
}


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
    saved: str = ""
    """Folder with a fit that was kept when the rest of a run failed."""

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
    text = text.translate(_CONTROL)
    group = (session or current()).group
    if group is None or not any(sign in text for sign in ("=", "am.", "annomodels.", "()")):
        return text
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

    >>> plural(1, "item"), plural(1200, "item"), plural(2, "class", "classes")
    ('1 item', '1,200 items', '2 classes')
    """
    return f"{n:,} {word if n == 1 else many or word + 's'}"


def keywords(text: str) -> set[str]:
    """Name the keywords of functions that a message holds.

    >>> sorted(keywords("Say labels=['low', 'high'], or sets=True."))
    ['labels', 'sets']
    """
    return {match["name"] for match in _KEYWORD.finditer(text)}


def spelled(text: str, flags: Mapping[str, str], commands: Collection[str] = ()) -> str:
    """Spell keywords of functions as options, and functions as commands.

    >>> flags = {"labels": "--labels", "sets": "--sets", "scale": "--scale"}
    >>> spelled("Say labels=['low', 'very high'], or sets=True with scale='ordinal'.", flags)
    "Say --labels 'low,very high', or --sets with --scale ordinal."
    >>> spelled("Declare the set (labels=[...]), or leave out scale=.", flags)
    'Declare the set (--labels A,B,...), or leave out --scale.'
    >>> spelled('am.compare tells; use am.fit(data, "mace").', {}, ["compare"])
    'annomodels compare tells; use annomodels fit DATA --model mace.'
    """
    for ours, theirs in _PHRASES.items():
        text = text.replace(ours, theirs)
    text = _FIT.sub(r"annomodels fit DATA --model \1", text)

    def command(match: re.Match[str]) -> str:
        name = _VERBS.get(match[1], match[1])
        return f"annomodels {name}" if name in commands else match[0]

    text = _CALL.sub(command, text)

    def option(match: re.Match[str]) -> str:
        flag = flags.get(match["name"])
        if flag is None:
            return match[0]
        if match["truth"]:
            return flag if match["truth"] == "True" else f"no {flag}"
        value = match["single"] or match["double"] or match["word"]
        if match["several"] is not None:
            words = re.findall(r"""["']([^"']*)["']""", match["several"])
            return f"{flag} {shlex.quote(','.join(words))}" if words else f"{flag} A,B,..."
        return f"{flag} {shlex.quote(value)}" if value else flag

    return _KEYWORD.sub(option, text)
