"""Files of a scan, the roles of their columns, and a fingerprint that detects changes."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from annomodels.data.coding import natural_key
from annomodels.data.validation import some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.border import checked_path, guarded, shown
from annomodels.io.tables.chunks import TableFile, kind_of, opened
from annomodels.io.tables.columns import find_roles, named_column
from annomodels.io.tables.keys import parts_of
from annomodels.limits import ROWS_IN_MEMORY

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
TELLTALE = 1 << 16
MAGIC = "*?["


def files_of(paths: Paths) -> list[Path]:
    """Return the sorted files of a path, a folder, a pattern or several of these."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    wanted = list(map(checked_path, given))
    out: list[Path] = []
    problems: list[Problem] = []
    for path in wanted:
        place, pattern = Path(path), str(path)
        with guarded(shown(path)):
            if place.is_dir():
                what, remedy = "No Parquet, CSV or TSV file in this folder.", "Check the path."
                hits = [p for p in place.rglob("*") if p.is_file() and kind_of(p)]
                hits = [p for p in hits if not p.name.startswith(".")]
            elif place.exists():
                hits = [place] if place.is_file() else []
                what = "This is a pipe or a device, and a scan reads its files more than once."
                remedy = "Save its output to a file first."
            else:
                is_pattern = any(mark in pattern for mark in MAGIC)
                what = "No file matches the pattern." if is_pattern else "The file does not exist."
                remedy = "Check the path, or the pattern."
                hits = [Path(p) for p in glob.glob(pattern, recursive=True) if Path(p).is_file()]
        if not hits:
            problems.append(Problem(what, shown(path), remedy))
        out += sorted(hits, key=lambda p: natural_key(str(p)))
    if problems or not out:
        raise AnnotationError(problems or [Problem("No file was given.")])
    return list(dict.fromkeys(out))


def is_large(path: Paths) -> bool:
    """Return True if the tables of a path have too many rows to hold their labels in memory."""
    try:
        places = files_of(path)
        tables = all(map(kind_of, places))
        return tables and sum(opened(place).rows for place in places) >= ROWS_IN_MEMORY
    except (AnnotationError, OSError):  # the reader says what is wrong
        return False


def columns_of(
    files: Sequence[TableFile], roles: dict[str, str | None], extra: dict[str, str | None]
) -> dict[str, str]:
    """Return the column of each role, which must exist in all files."""
    named = {role: name for role, name in extra.items() if name is not None}
    parts = [name for name in parts_of(roles["item"]) if name != roles["item"]]
    first = files[0]
    known, problems = find_roles(first.header, roles, first.name, (*named.values(), *parts))
    for role, name in named.items():
        problems += named_column(first.header, name, role, first.name)
    columns = {**known, **named}
    for file in files[1:]:
        for role, name in columns.items():
            problems += named_column(file.header, name, role, file.name)
    every = {part for name in columns.values() for part in parts_of(name)}
    twice = {name for name in every for file in files if file.header.count(name) > 1}
    if twice:
        what = f"Column names are used more than once: {some(sorted(twice))}."
        problems.append(Problem(what, first.name, "Give every column its own name."))
    if problems:
        raise AnnotationError(problems)
    return columns


def fingerprint_of(files: Iterable[Path], said: object) -> str:
    """Return 12 hexadecimal digits that depend on `said` and name, size, times, ends of files."""
    digest = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode())
    for path in files:
        with guarded(shown(path)):
            about = path.stat()
            name = os.fsencode(path.resolve())
            # the time of the last change of any kind, since programs can set st_mtime back
            times = f"{about.st_mtime_ns}\0{about.st_ctime_ns}"
            digest.update(name + f"\0{about.st_size}\0{times}\0".encode())
            with path.open("rb") as file:
                digest.update(file.read(TELLTALE))
                file.seek(max(0, about.st_size - TELLTALE))
                digest.update(file.read(TELLTALE))
    return digest.hexdigest()[:12]
