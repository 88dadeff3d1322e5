"""Run the command line with ``annomodels`` or ``python -m annomodels``."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # without the slow enumerations
import sys

from annomodels.cli import leave_at_once


def main() -> int:
    """Run one command and return its exit code; signal handlers stay until the exit."""
    for number in ("SIGINT", "SIGTERM", "SIGHUP"):
        found = getattr(signal, number, None)
        if found is not None and signal.getsignal(found) != signal.SIG_IGN:
            signal.signal(found, leave_at_once)
    from annomodels.cli.main import main as run

    try:
        return run()
    except KeyboardInterrupt:  # while handlers are set, or set back
        return 130


if __name__ == "__main__":
    sys.exit(main())
