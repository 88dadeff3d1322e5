"""Advice in the spelling of the command line.

Messages name an option as Python does, ``scale="ordinal"``, wherever they come from; the command
line spells them by its own options before it shows them: ``--scale ordinal``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping

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
_FIT = re.compile(r"""am\.fit\(data, ["']([\w-]+)["']\)""")
_CALL = re.compile(r"\b(?:am|annomodels)\.([a-z]+)(?:\((?:\.\.\.)?\))?(?!\w|\(|\.\w)")
_VERBS = {"read": "run", "agreement": "agree"}  # commands with other names than the functions
_PHRASES = {
    "annomodels.coref.read": "annomodels coref",
    "see unaligned()": "see unaligned.csv of -o FOLDER",
    "data.select(coders=[one, other])": "--by pair",
    "am.scan(...).to_annotations()": "the command without --stream",
}


def keywords(text: str) -> set[str]:
    """Name the keywords of functions that a message holds.

    Examples
    --------
    >>> sorted(keywords("Say labels=['low', 'high'], or sets=True."))
    ['labels', 'sets']
    """
    return {match["name"] for match in _KEYWORD.finditer(text)}


def spelled(text: str, flags: Mapping[str, str], commands: Collection[str] = ()) -> str:
    """Spell keywords of functions as options, and functions as commands.

    Parameters
    ----------
    text
        A message.
    flags
        The option of each keyword.
    commands
        Names of the commands.

    Examples
    --------
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
