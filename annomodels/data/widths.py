"""Width of a text in a fixed-width font; imports nothing heavy, since help needs it."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=4096)
def size(text: str) -> int:
    """Return the terminal columns of a text; characters of some scripts take two.

    >>> size("ana"), size("坂本")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
