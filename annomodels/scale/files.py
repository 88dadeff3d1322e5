"""Which files are meant, which of their columns hold what, and whether they have changed."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from annomodels.data.coding import natural_key
from annomodels.data.validation import some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.tables.columns import find_roles, named_column
from annomodels.io.tables.long import GOLD_WORDS
from annomodels.scale.chunks import ENDINGS, File
from annomodels.scale.repeated import ids_of

__all__ = ["Paths", "columns_of", "files_of", "fingerprint_of", "remarks_on"]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
TELLTALE = 1 << 16
MAGIC = "*?["


def files_of(paths: Paths) -> list[Path]:
    """Files that are meant by a path, a folder, a pattern or several of these, in order.

    Parameters
    ----------
    paths
        What was given.

    Raises
    ------
    AnnotationError
        When there is no such file, or no file of a known ending in a folder.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    out: list[Path] = []
    problems: list[Problem] = []
    for path in given:
        place = Path(path)
        if place.is_dir():
            found = [p for p in place.rglob("*") if p.is_file() and _known(p)]
            what, remedy = "No Parquet, CSV or TSV file in this folder.", "Check the path."
        elif place.exists():
            found = [place]
        else:
            pattern = str(path)
            found = [Path(p) for p in glob.glob(pattern, recursive=True) if Path(p).is_file()]
            is_pattern = any(mark in pattern for mark in MAGIC)
            what = "No file has such a name." if is_pattern else "There is no such file."
            remedy = "Check the path, or the pattern."
        if not found:
            problems.append(Problem(what, str(path), remedy))
        out += sorted(found, key=lambda p: natural_key(str(p)))
    if problems or not out:
        raise AnnotationError(problems or [Problem("No file was given.")])
    return list(dict.fromkeys(out))


def columns_of(
    files: Sequence[File], given: dict[str, str | None], extra: dict[str, str | None]
) -> dict[str, str]:
    """Column of each role, the same in all files.

    Parameters
    ----------
    files
        The files.
    given
        Column named for item, coder and label, or None.
    extra
        Column named for anything else, or None.

    Raises
    ------
    AnnotationError
        With all files that lack a column.
    """
    named = {role: name for role, name in extra.items() if name is not None}
    first = files[0]
    roles, problems = find_roles(first.header, given, str(first.path), tuple(named.values()))
    for role, name in named.items():
        problems += named_column(first.header, name, role, str(first.path))
    columns = {**roles, **named}
    for file in files[1:]:
        for role, name in columns.items():
            problems += named_column(file.header, name, role, str(file.path))
    twice = {name for name in columns.values() for file in files if file.header.count(name) > 1}
    if twice:
        what = f"Column names are used more than once: {some(sorted(twice))}."
        problems.append(Problem(what, str(first.path), "Give every column its own name."))
    if problems:
        raise AnnotationError(problems)
    return columns


def remarks_on(header: Sequence[str], columns: dict[str, str]) -> list[str]:
    """Say what is in the files and not used."""
    left = [name for name in header if name not in (*columns.values(), ids_of(header, ()))]
    notes = [f"{'Column' if len(left) == 1 else 'Columns'} not used: {some(left)}."] if left else []
    if "gold" not in columns:
        notes += [
            f"Column {name!r} may hold known gold: say gold={name!r} (--gold-column {name}) "
            "to use it."
            for name in left
            if name.strip().casefold() in GOLD_WORDS
        ]
    return notes


def fingerprint_of(files: Iterable[Path], said: Any) -> str:
    """Twelve hexadecimal digits that change with what was said and with the files.

    Of each file this looks at name, size, time of change and both ends.
    """
    digest = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode())
    for path in files:
        about = path.stat()
        digest.update(f"{path.resolve()}\0{about.st_size}\0{about.st_mtime_ns}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(TELLTALE))
            file.seek(max(0, about.st_size - TELLTALE))
            digest.update(file.read())
    return digest.hexdigest()[:12]


def _known(path: Path) -> bool:
    suffixes = [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    return bool(suffixes) and suffixes[-1] in ENDINGS and not path.name.startswith(".")
