"""Tables of cases: their files, and readings of them."""

from __future__ import annotations

import gzip
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "cases"
Case = Mapping[str, Any]
TABLES: dict[str, list[Case]] = {
    path.stem: tomllib.loads(path.read_text("utf-8"))["case"]
    for path in sorted(HERE.glob("*.toml"))
}


def lay_out(case: Case, folder: Path) -> Any:
    """Write the files of a case below a folder, and return the path or paths that are read."""
    for name, content in case.get("files", {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            with zipfile.ZipFile(path, "w") as archive:
                for member, text in content.items():
                    archive.writestr(member, text)
        else:
            packed = content.encode(case.get("encoding", "utf-8"))
            path.write_bytes(gzip.compress(packed) if path.suffix == ".gz" else packed)
    first = next(iter(case.get("files", ())), "").partition("/")[0]
    return case.get("path", first)


def placed(value: Any, folder: Path) -> Any:
    """Return paths: below the folder, or where the files of several cases lie."""
    if isinstance(value, dict):
        return {name: placed(part, folder) for name, part in value.items()}
    if isinstance(value, list):
        return [placed(part, folder) for part in value]
    path = Path(value.removeprefix("@"))
    return path if (folder / path).exists() else HERE / path


def options_of(reading: Case, folder: Path) -> dict[str, Any]:
    """Return the options of a reading; a name of a file begins with @."""
    options = reading.get("with", {})
    return {
        name: placed(value, folder) if str(value).startswith("@") else value
        for name, value in options.items()
    }
