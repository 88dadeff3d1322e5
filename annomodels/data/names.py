"""Names of items, coders and labels as text; the same text in every process."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

__all__ = ["label_text", "quoted"]


def label_text(name: Any) -> str:
    """Give a name as text; a set as its members in sorted order.

    Python writes the members of a set in an order that changes from one process to the next, so
    a set must never become text by ``str``.

    Parameters
    ----------
    name
        Name of an item, a coder or a label.

    Returns
    -------
    str
        ``{a, b}`` for a set, with numbers sorted by value before texts; else ``str(name)``.

    Examples
    --------
    >>> label_text("no"), label_text(frozenset({"b", "a"})), label_text(frozenset({10, 2}))
    ('no', '{a, b}', '{2, 10}')
    """
    if isinstance(name, (frozenset, set)):
        return "{" + ", ".join(label_text(member) for member in sorted(name, key=_place)) + "}"
    return str(name)


def quoted(name: Hashable) -> str:
    """Give a name as it stands in a sentence: texts in quotation marks, a set as its members.

    Examples
    --------
    >>> quoted("no"), quoted(frozenset({2, 1}))
    ("'no'", '{1, 2}')
    """
    return label_text(name) if isinstance(name, frozenset) else repr(name)


def _place(member: Any) -> tuple[int, float, str]:
    number = isinstance(member, (int, float))
    return (0, float(member), "") if number else (1, 0.0, label_text(member))
