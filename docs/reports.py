"""Full reports of three bundled data sets, for the gallery; crowd is as in README."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["DATASETS", "as_in_readme", "write"]

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
            made = as_in_readme(Path(place)) if name == "crowd" else _report(name, Path(place))
            page.write_bytes(made.read_bytes())


def as_in_readme(folder: Path) -> Path:
    """Run the first commands of README in a folder; return the report."""
    text = (Path(__file__).resolve().parent.parent / "README.md").read_text("utf-8")
    commands = re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)[0]
    for line in re.findall(r"^\$ annomodels (.*)$", commands, re.M):
        _run(shlex.split(line), folder)
    return folder / "out" / "report.html"


def _report(name: str, folder: Path) -> Path:
    # the page shows commands with this name of the folder
    _run(["run", f"dataset:{name}", "--seed", "1", "-q", "-o", "out"], folder)
    return folder / "out" / "report.html"


def _run(words: list[str], folder: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "annomodels", *words], cwd=folder, check=False)
    if done.returncode not in (0, 4):
        raise RuntimeError(f"annomodels {shlex.join(words)} failed with code {done.returncode}.")
