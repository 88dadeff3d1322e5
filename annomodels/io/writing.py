"""Write tables to a temporary file, then move it into place; overwrite only with `force`.

A spreadsheet treats a cell that begins with ``=``, ``+``, ``-``, ``@`` or a tab as a formula, and
names of coders and items are untrusted. But an added apostrophe would change the data for other
programs, and ``-1`` is a label. Therefore ``write_table`` changes cells only with
``spreadsheet=True``: then such strings, but not numbers, get a leading apostrophe.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from annomodels.data.validation import all_numbers
from annomodels.errors import AnnomodelsError, Option, Problem

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_SENTENCES = {
    errno.ENOSPC: ("The disk is full.", "Free some space, or write elsewhere."),
    errno.EDQUOT: ("Your disk quota is used up.", "Free some space, or write elsewhere."),
    errno.EACCES: ("No permission to write here.", "Choose another folder, or ask for access."),
    errno.EPERM: ("No permission to write here.", "Choose another folder, or ask for access."),
    errno.EROFS: ("This disk is read-only.", "Choose another folder."),
    errno.ENOENT: ("The folder does not exist.", "Create the folder first, or choose another."),
    errno.ENOTDIR: ("A part of the path is a file, not a folder.", "Choose another path."),
    errno.EISDIR: ("A folder with this name already exists.", "Choose another name."),
    errno.ENAMETOOLONG: ("The file name is too long.", "Choose a shorter name."),
    errno.EIO: ("The disk reported an error.", "Check the disk, or write elsewhere."),
    errno.EFBIG: ("The file is too large for this disk.", "Write elsewhere."),
}


class OutputError(AnnomodelsError, OSError):
    """A file cannot be written; the message gives the reason, the path and a remedy."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))

    def __str__(self) -> str:
        return str(self.problem)


@contextmanager
def atomic_path(path: str | os.PathLike[str], force: bool = False) -> Iterator[Path]:
    """Yield a temporary path; on success, the file is moved to `path`.

    A link to a file stays, and its target is written. A device or a pipe stays too, and receives
    the content.
    """
    target = Path(path)
    _refuse(target, force)
    tag, ending = f".{target.stem[:40]}-", "".join(target.suffixes[-2:])
    is_stream = _is_stream(target)
    folder = Path(tempfile.gettempdir()) if is_stream else _followed(target).parent
    temporary = folder / f"{tag}{secrets.token_hex(4)}{ending}"
    try:
        with named(folder if is_stream else target):
            _clear(folder, tag, ending)
            with temporary.open("xb") as mine:
                hold(mine)
                yield temporary
                with named(target):
                    put(temporary, target, force)
    finally:
        if temporary.exists():
            temporary.unlink()


@contextmanager
def named(target: str | os.PathLike[str]) -> Iterator[None]:
    """Raise errors of the disk as sentences about an output, not about a temporary file of it."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        known = _SENTENCES.get(error.errno or 0)
        if known is None:
            raise
        raise OutputError(Problem(known[0], str(target), known[1])) from error


def _is_stream(target: Path) -> bool:
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _followed(target: Path) -> Path:
    """Return the target of a link; return other paths unchanged."""
    return Path(os.path.realpath(target)) if target.is_symlink() else target


def hold(file: IO[Any]) -> bool | None:
    """Lock a file until the process ends; False if it is locked, None without file locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError) as error:
        return False if isinstance(error, BlockingIOError) else None
    return True


def put(source: Path, target: Path, force: bool) -> None:
    """Move a file into place; without `force`, only if the target still does not exist."""
    _refuse(target, force)
    if _is_stream(target):
        with source.open("rb") as file, target.open("wb") as stream:
            shutil.copyfileobj(file, stream)
        source.unlink()
        return
    place = _followed(target)
    if place != target and place.parent != source.parent:  # perhaps on another disk
        with atomic_path(place, force) as beside:
            shutil.copyfile(source, beside)
        source.unlink()
        return
    if not force:
        try:
            os.link(source, place)
        except FileExistsError:
            _refuse(target, force)
            raise
        except OSError:  # the file system has no hard links
            force = True
    if force:
        os.replace(source, place)
    else:
        source.unlink()


def _clear(folder: Path, start: str, end: str) -> None:
    """Remove the files of killed processes; running processes lock theirs."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if re.fullmatch(f"{re.escape(start)}[0-9a-f]{{8}}{re.escape(end)}", path.name):
            with path.open("rb") as left:
                if hold(left) and left.seek(0, os.SEEK_END):  # an empty file may be new
                    path.unlink()


def compression_of(tree: xr.DataTree) -> dict[str, dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {}
    for group in tree.subtree:
        large = {
            str(name): {"zlib": True, "complevel": 1, "shuffle": True}
            for name, variable in group.data_vars.items()
            if variable.size > 1000
        }
        if large:
            out[group.path] = large
    return out


def _refuse(target: Path, force: bool) -> None:
    """Raise if the target must not be replaced: a folder, a disk, a file without `force`."""
    if target.is_dir():
        what, remedy = _SENTENCES[errno.EISDIR]
        raise OutputError(Problem(what, str(target), remedy))
    if not os.path.lexists(target) or _is_stream(target):
        return
    if not target.is_file():
        what = "This is not a regular file, or it is a link to nothing, so it is not replaced."
        raise OutputError(Problem(what, str(target), "Choose another name."))
    if not force:
        remedy = f"Choose another name, or use {Option('force', True)} to replace it."
        raise OutputError(Problem("A file with this name already exists.", str(target), remedy))


_TEXT = {"index": False, "lineterminator": "\n", "encoding": "utf-8"}
_RECORDS = {"orient": "records", "force_ascii": False}
# data frame method, and its options
WRITERS: dict[str, tuple[str, dict[str, Any]]] = {
    "csv": ("to_csv", {"sep": ",", **_TEXT}),
    "tsv": ("to_csv", {"sep": "\t", **_TEXT}),
    "jsonl": ("to_json", {"lines": True, **_RECORDS}),
    "json": ("to_json", {"indent": 1, **_RECORDS}),
    "parquet": ("to_parquet", {"index": False}),
}


def write_table(
    frame: pd.DataFrame,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    force: bool = False,
    spreadsheet: bool = False,
) -> Path:
    target = Path(path)
    if format is None:
        ending = Path(target.stem).suffix if target.suffix == ".gz" else target.suffix
        format = {"": "csv", ".ndjson": "jsonl", ".txt": "tsv"}.get(ending, ending[1:].lower())
    if format not in WRITERS:
        remedy = f"Use one of {', '.join(WRITERS)}."
        raise OutputError(Problem(f"Tables are not written as {format!r}.", str(target), remedy))
    if spreadsheet:
        frame = frame.map(guarded)
    with atomic_path(target, force) as temporary:
        method, options = WRITERS[format]
        getattr(frame, method)(temporary, **options)
    return target


def guarded(cell: Any) -> Any:
    """Prefix a string with an apostrophe if a spreadsheet would read it as a formula."""
    dangerous = isinstance(cell, str) and len(cell) > 1 and cell.startswith(FORMULA_STARTS)
    if dangerous and not all_numbers([cell]):  # a single character is a label, not a formula
        return "'" + cell
    return cell


def formulas(cells: Iterable[object]) -> int:
    return sum(
        isinstance(cell, str) and cell.startswith(FORMULA_STARTS) and guarded(cell) != cell
        for cell in cells
    )


def deflated(text: str) -> bytes:
    """Compress a string with zlib, which browsers can decompress."""
    import zlib

    return zlib.compress(text.encode(), 9)
