"""What the benchmark scripts share: where the data are, arguments, tables, memory, fresh processes.

Imports nothing heavy, so that a fresh process measures what it should.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "docs" / "tables"
ANSWER = "ANSWER "


def shared_data() -> Path:
    """Folder with the public data sets: below $ANNOMODELS_SHARED, else ``../shared``."""
    folder = Path(os.environ.get("ANNOMODELS_SHARED") or ROOT.parent / "shared") / "data"
    if not folder.is_dir():
        raise SystemExit(f"There are no data in {folder}; set ANNOMODELS_SHARED to their folder.")
    return folder


def arguments(description: str | None, table: str) -> argparse.ArgumentParser:
    """Parser with the options that all scripts have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reduced", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--out", type=Path, default=TABLES / table, help="Markdown file to write")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers")
    return parser


def arguments_of_sets(description: str | None, table: str, draws: int) -> argparse.ArgumentParser:
    """Parser of the scripts that fit public sets, with the number of draws by default."""
    parser = arguments(description, table)
    parser.add_argument("--data", type=Path, nargs="+", help="folders of sets")
    parser.add_argument("--json", type=Path, help="file for all numbers")
    parser.add_argument("--sets", nargs="*", help="names of some of the sets")
    parser.add_argument("--draws", type=int, default=draws, help="draws of each chain")
    return parser


def folders_of(options: argparse.Namespace) -> list[Path]:
    """Folders of sets that were given, or the one of this machine."""
    return options.data or [shared_data()]


def keep(path: Path | None, found: dict[str, Any]) -> None:
    """Write all numbers so far, if a file was named for them."""
    if path is not None:
        path.write_text(json.dumps(found, indent=1), "utf-8")


def cores() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine(*packages: str) -> str:
    """One line on machine, versions and date, to stand below a table."""
    found = []
    for package in ("annomodels", "numpy", "numba", *packages):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    today = datetime.datetime.now(datetime.UTC).date()
    return (
        f"Measured on {today} with {cores()} cores ({platform.system()} {platform.machine()}), "
        f"Python {platform.python_version()}, {', '.join(found)}."
    )


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Markdown table; the first `left` columns are texts, the others are numbers."""
    marks = [":--" if n < left else "--:" for n in range(len(header))]
    lines = [header, marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write(path: Path, parts: Sequence[str]) -> None:
    """Print the parts of a page and write them, with an empty line between them."""
    text = "\n\n".join(parts) + "\n"
    print(text)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    print(f"Wrote {path}.", file=sys.stderr)


def say(text: str) -> None:
    """Tell on standard error how far a script is."""
    print(text, file=sys.stderr, flush=True)


def peak_memory() -> int:
    """Bytes of memory that this process held at most."""
    status = Path("/proc/self/status")
    if status.exists():
        # the peak of getrusage counts what the parent held before it started this process
        for line in status.read_text("utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def alone(
    script: str, *options: str, environment: dict[str, str] | None = None
) -> dict[str, Any] | None:
    """Run a part of a script in a fresh process; gives what it answered, None when it failed."""
    done = subprocess.run(
        [sys.executable, script, *options],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    for line in done.stdout.splitlines():
        if line.startswith(ANSWER):
            answer: dict[str, Any] = json.loads(line.removeprefix(ANSWER))
            return answer
    say(done.stderr[-2000:])
    return None


def answer(values: dict[str, Any]) -> None:
    """Hand the result of a part back to the process that started it."""
    print(ANSWER + json.dumps({**values, "peak": peak_memory()}), flush=True)
