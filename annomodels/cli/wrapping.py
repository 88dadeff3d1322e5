"""Wrapping of text to a width, without breaking words or commands."""

from __future__ import annotations

import os
import re
from typing import TextIO

from annomodels.data.widths import size

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
