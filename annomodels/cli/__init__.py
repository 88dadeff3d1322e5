"""The command line: one file per command in ``commands``, the manners they share beside it.

May import everything; nothing imports it. What ``annomodels --help`` reaches imports only click.
"""

from __future__ import annotations

import os


def leave_at_once(number: int, frame: object) -> None:
    """End a process that has not begun its work, on a signal."""
    os.write(2, b"error: Interrupted; no output is left half-written.\n")
    os._exit(130)
