"""Run the command line with ``python -m annomodels``."""

from __future__ import annotations

import sys

from annomodels.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
