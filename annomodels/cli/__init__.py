"""Command line: one file per command in ``commands``, and the modules that they share.

May import everything; nothing imports it. Code behind ``annomodels --help`` imports only click.
"""

from __future__ import annotations

import os


def leave_at_once(number: int, frame: object) -> None:
    """End a process on a signal, before its work has started."""
    os.write(2, b"error: Interrupted. No output is incomplete.\n")
    os._exit(130)
