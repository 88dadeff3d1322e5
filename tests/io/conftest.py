"""Small exports of our own, one for each format, and files to write."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.io.casework import HERE, TABLES, lay_out, options_of

sys.path.insert(0, str(Path(__file__).parents[1] / "coref"))

Export = tuple[dict[str, bytes], dict[str, Any]]  # files by path, options of read
EXPORTS = {case["name"]: case for case in TABLES["exports"]}


@pytest.fixture
def export(tmp_path: Path) -> Callable[[str], tuple[Path, dict[str, Any]]]:
    """Write an export of our own; gives its path and the options that read it."""

    def write(name: str) -> tuple[Path, dict[str, Any]]:
        case = EXPORTS[name]
        folder = tmp_path / name
        folder.mkdir()
        path = Path(lay_out(case, folder))
        if not case.get("files"):
            shutil.copy(HERE / path, folder)
            path = Path(path.name)
        return folder / path, options_of(case["read"][0], folder)

    return write


@pytest.fixture
def own_exports(export: Callable[[str], tuple[Path, dict[str, Any]]]) -> dict[str, Export]:
    """Files and options of all exports of our own."""
    found = {}
    for name in EXPORTS:
        path, options = export(name)
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        contents = {p.relative_to(path.parent).as_posix(): p.read_bytes() for p in files}
        found[name] = (contents, options)
    return found


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a text or bytes to a file."""

    def to_file(content: str | bytes, name: str = "votes.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file
