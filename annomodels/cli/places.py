"""Output paths: checked before the work, written to temporary files and moved at the end."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from annomodels.cli.session import current
from annomodels.errors import Problem, Problems


class Existing(Problem):
    """Problem of an output that already exists."""


class CannotWrite(Problems):
    about = "output"


_OTHER = "Choose another place with -o."
_NO_FOLDER = "The output must be a file, but this is a folder."
_DISK = "The output must be a file, but this is a disk or a socket."
_NO_FILE = "The output must be a folder, but this is a file."


TABLE, PAGE, FIT = ".csv .tsv .json .jsonl .parquet .md .tex", ".html .htm", ".nc"
_KNOWN = f"{TABLE} {PAGE} {FIT} .bib .xlsx .xls .ods .doc .docx .pdf .png .zip".split()


def check_file(path: str | Path, force: bool, endings: str = TABLE) -> None:
    """Check that a file can be written, and that its extension fits the contents."""
    problems, ending = _problems(Path(path), force), Path(path).suffix.lower()
    if ending in _KNOWN and ending not in endings.split():
        what, remedy = f"The output is not written as {ending}.", endings.replace(" ", ", ")
        problems.append(Problem(what, str(path), f"Use one of {remedy}."))
    _raise_all(problems)


def default_folder(data: str) -> str:
    """Return the default output folder of a run.

    >>> default_folder("data/votes.csv"), default_folder("dataset:crowd"), default_folder("-")
    ('votes-out', 'crowd-out', 'labels-out')
    """
    paths = getattr(data, "paths", ((None, data),))
    name = Path(paths[0][1].rpartition(":")[2]).name.partition(".")[0]
    return f"{name.strip('-') or 'labels'}-out"


def check_folder(
    folder: str | Path, names: Iterable[str], force: bool, inner: Iterable[str] = ()
) -> None:
    """Check that files, and folders `inner` of Parquet files, can be written to a folder."""
    folder = Path(folder)
    if not folder.is_dir():
        _raise_all(_problems_of_new(folder))
        return
    problems = [p for name in names for p in _problems(folder / name, force)]
    problems += [p for name in inner for p in _problems(folder / name, force, of_parquet=True)]
    existing = [problem for problem in problems if isinstance(problem, Existing)]
    if len(existing) > 1:
        files = ", ".join(Path(problem.where).name for problem in existing)
        remedy = "Use --force to overwrite them, or choose another folder with -o."
        one = Problem(f"{len(existing)} outputs already exist: {files}.", str(folder), remedy)
        problems = [one, *(problem for problem in problems if problem not in existing)]
    _raise_all(list(dict.fromkeys(problems)))


def _problems(path: Path, force: bool, *, of_parquet: bool = False) -> list[Problem]:
    """Return why a file, or a folder of Parquet files, cannot be written; empty if it can be."""
    if path.is_symlink() and not path.exists():
        return [_dangling(path)]
    if path.exists():
        if path.is_dir() != of_parquet:
            return [Problem(_NO_FILE if of_parquet else _NO_FOLDER, str(path), _OTHER)]
        if not (of_parquet or path.is_file()):  # a device or a pipe
            is_none = path.is_block_device() or path.is_socket()
            return [Problem(_DISK, str(path), _OTHER)] if is_none else []
        if of_parquet and not all(f.suffix == ".parquet" and f.is_file() for f in path.iterdir()):
            what = "This folder contains files that are not outputs of this command."
            return [Problem(what, str(path), _OTHER)]
        if not force:
            remedy = "Use --force to overwrite it, or choose another place with -o."
            return [Existing("The output already exists.", str(path), remedy)]
    if not path.parent.is_dir():
        remedy = "Create the folder first, or choose another place with -o."
        return [Problem("The folder of the output does not exist.", str(path.parent), remedy)]
    return _not_writable(path.parent)


def _problems_of_new(folder: Path) -> list[Problem]:
    """Return why a new folder cannot be created."""
    if folder.exists():
        return [Problem(_NO_FILE, str(folder), _OTHER)]
    if folder.is_symlink():
        return [_dangling(folder)]
    there = next(parent for parent in folder.parents if os.path.exists(parent))
    if not there.is_dir():
        what = "The output folder cannot be created: a part of its path is a file."
        return [Problem(what, str(there), _OTHER)]
    return _not_writable(there)


def _not_writable(folder: Path) -> list[Problem]:
    if os.access(folder, os.W_OK | os.X_OK):
        return []
    return [Problem("You have no permission to write to the output folder.", str(folder), _OTHER)]


def _dangling(path: Path) -> Problem:
    what = "The output is a link to something that does not exist."
    return Problem(what, str(path), f"Remove the link. {_OTHER}")


def _raise_all(problems: list[Problem]) -> None:
    if problems:
        raise CannotWrite(problems)


def write_file(path: str | Path, write: Callable[[Path], object]) -> None:
    """Write a file atomically, or directly to a device or pipe."""
    from annomodels.io.writing import atomic_path

    with atomic_path(path, force=True) as beside:
        write(beside)


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write text files to a folder that :func:`filled_folder` moves."""
    from annomodels.io.writing import named

    for name, text in texts.items():
        with named(folder / name):
            (folder / name).write_text(text, encoding="utf-8", newline="")


RUNNING, LOCK = "annomodels-run", "lock"
_open: list[Callable[[], None]] = []
"""How folders that are being filled are left when the process must end at once."""


@contextmanager
def filled_folder(
    folder: str | Path,
    check: Callable[[], None] = lambda: None,
    *,
    force: bool = True,
    keep: Sequence[str] = (),
) -> Iterator[Path]:
    """Yield an empty folder to fill; its files are moved to `folder` when complete."""
    # Until then only this process uses it; leftovers of a killed process are removed.
    folder = Path(folder)
    check()
    made = _make(folder.absolute().parent)
    beside = folder.parent / f".{folder.name}.{RUNNING}"
    lock = _taken(beside, folder)

    def leave(names: Iterable[str] | None = None) -> None:
        """Move the outputs, then release the folder."""
        parts = [beside / name for name in keep] if names is None else map(beside.joinpath, names)
        found = [part for part in parts if part.exists()]
        try:
            if names is None and (not keep or len(found) < len(keep)):
                return
            _move(found, folder, beside, force)
            if names is None:
                current().saved = str(folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
            lock.close()
            for empty in made:
                with suppress(OSError):
                    empty.rmdir()

    _open.append(leave)
    try:
        check()
        yield beside
        (beside / LOCK).unlink(missing_ok=True)
        leave(sorted(part.name for part in beside.iterdir()))
    except BaseException:
        if not lock.closed:
            leave()
        raise
    finally:
        _open.remove(leave)


def as_given(text: str) -> str:
    """Replace temporary paths of outputs in a message by their final paths."""
    marked = rf"\.([^{re.escape(os.sep)}]+)\.{RUNNING}(?={re.escape(os.sep)})"
    return re.sub(marked, r"\1", text)


def leave_all() -> None:
    """Save unfinished outputs if possible, before the process ends."""
    for leave in _open:
        leave()


def _taken(beside: Path, folder: Path) -> IO[bytes]:
    """Lock and clear the folder to fill; return the lock."""
    from annomodels.io.writing import hold

    while True:
        beside.mkdir(mode=0o700, exist_ok=True)
        path = beside / LOCK
        if beside.is_symlink() or (any(beside.iterdir()) and not path.is_file()):
            what = "The folder for unfinished outputs already exists."
            raise CannotWrite(what, str(beside), "Remove it.")
        with suppress(FileNotFoundError):  # its process ended and removed it
            lock = path.open("wb")
            if hold(lock) is False:
                lock.close()
                what = "Another process is writing to this folder."
                remedy = "Wait until it has ended, or choose another place with -o."
                raise CannotWrite(what, str(folder), remedy)
            if path.stat().st_ino == os.fstat(lock.fileno()).st_ino:
                break
            lock.close()
    for part in beside.iterdir():
        if part.is_dir():
            shutil.rmtree(part)
        elif part.name != LOCK:
            part.unlink()
    return lock


def _move(parts: Sequence[Path], folder: Path, beside: Path, force: bool) -> None:
    """Move files and folders into a folder; a new folder appears with all of them."""
    from annomodels.io.writing import put

    if not folder.exists():
        whole = beside / folder.name
        whole.mkdir()
        for part in parts:
            part.rename(whole / part.name)
        with suppress(OSError):  # another process created it: move the parts into it
            whole.rename(folder)
            return
        parts = sorted(whole.iterdir())
    for part in parts:
        target = folder / part.name
        if part.is_dir():
            if target.exists():
                target.rename(beside / f"{part.name}.old")  # removed with `beside`
            part.rename(target)
        else:
            put(part, target, force)


def _make(folder: Path) -> list[Path]:
    """Create a folder; return all created folders, innermost first."""
    made = []
    for part in (folder, *folder.parents):
        if part.exists():
            break
        made.append(part)
    folder.mkdir(parents=True, exist_ok=True)
    return made
