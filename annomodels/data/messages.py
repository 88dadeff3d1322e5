"""Message templates in files next to the code, by key, and their formatting."""

from __future__ import annotations

import tomllib
from pathlib import Path
from string import Formatter
from typing import Any

from annomodels.data.columns import percent
from annomodels.data.names import quoted
from annomodels.data.validation import counted, some
from annomodels.errors import Note

NAMED = 5  # coders, items or groups that a sentence names


def messages_beside(module: str) -> dict[str, Any]:
    """Read the messages of the folder of a module."""
    return tomllib.loads(Path(module).with_name("messages.toml").read_text("utf-8"))


class _Words(Formatter):
    """Formats of values: numbers, names and lists."""

    # `{x:%}` and `{x:1%}` are percentages, `{x:number}` has three digits and no sign of a rounded
    # zero, `{n:counted coder}` is "1 coder" or "2 coders", `{n:?was/were}` one of two words and
    # `{label:quoted}` a label. Of lists, `some` (most, width) shows the first and counts the
    # others, `first` puts dots for them, and `list` puts semicolons between longer parts.
    def format_field(self, value: Any, format_spec: str) -> str:
        kind, _, more = format_spec.partition(" ")
        if kind.endswith("%"):
            return percent(value, int(kind[:-1] or 0))
        if kind.startswith("?"):
            return str(format_spec[1:].split("/")[int(value != 1)])
        left = len(value) - NAMED if kind in ("first", "list") else 0
        match kind:
            case "number":
                return f"{value if round(value, 3) else 0:.3f}"
            case "counted":
                return counted(value, more)
            case "quoted":
                return quoted(value)
            case "some":
                return some(value, str, *map(int, more.split()))
            case "first":
                return ", ".join(map(str, value[:NAMED])) + (", ..." if left > 0 else "")
            case "list":
                rest = f"; and {left:,} more {more}".rstrip() if left > 0 else ""
                return "; ".join(value[:NAMED]) + rest
        return str(super().format_field(value, format_spec))


def filled(template: str, /, **words: object) -> str:
    """Put values into a message.

    >>> filled("{n:counted coder} {n:?gives/give} {labels:some 2}: {share:1%}", n=1,
    ...     labels=["a", "b", "c"], share=0.25)
    '1 coder gives a, b and 1 more: 25.0 %'
    """
    return _Words().format(template, **words)


def note(messages: dict[str, Any], code: str, /, **words: object) -> Note:
    """Make the note of a code."""
    return Note(filled(messages[code], **words), code)
