"""Full reports of three bundled data sets, which the gallery opens by a click."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["DATASETS", "write"]

DATASETS = ("crowd", "anesthesia", "caries")


def write(folder: Path) -> None:
    """Write the reports that are older than the package."""
    folder.mkdir(parents=True, exist_ok=True)
    package = Path(__file__).resolve().parent.parent / "annomodels"
    changed = max(path.stat().st_mtime for path in package.rglob("*.py"))
    for name in DATASETS:
        page = folder / f"{name}.html"
        if page.exists() and page.stat().st_mtime > changed:
            continue
        with tempfile.TemporaryDirectory() as place:
            # the page shows commands with this name of the folder
            command = ["run", f"dataset:{name}", "--seed", "1", "-q", "-o", "out"]
            run = [sys.executable, "-m", "annomodels", *command]
            done = subprocess.run(run, cwd=place, check=False)
            if done.returncode not in (0, 4):
                raise RuntimeError(f"The report of {name} failed with code {done.returncode}.")
            page.write_bytes((Path(place) / "out" / "report.html").read_bytes())
