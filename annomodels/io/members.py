"""Folders and zip archives: names and bytes of the files in them, with nothing unpacked to disk."""

from __future__ import annotations

import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.streams import FREE, RATIO

__all__ = ["Members", "open_folder", "open_zip"]

MOST_FILES = 200_000
LARGEST = 512_000_000  # bytes of one file in an archive
_DAMAGE = (
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    OverflowError,
    IndexError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
)


class Members:
    """Files of a folder or archive by their path in it, with ``/`` between the parts.

    Parameters
    ----------
    name
        Of the folder or archive, for messages.
    names
        Paths of the files.
    load
        Bytes of a file.
    """

    def __init__(
        self,
        name: str,
        names: Iterable[str] = (),
        load: Callable[[str], bytes] = lambda name: b"",
    ) -> None:
        self.name = name
        self.names = tuple(sorted(name for name in names if not _is_litter(name)))
        self._load = load

    def ending(self, *suffixes: str) -> list[str]:
        """Paths that end in one of the suffixes."""
        return [name for name in self.names if name.lower().endswith(suffixes)]

    def read(self, name: str) -> bytes:
        """Bytes of one file."""
        return self._load(name)


def _is_litter(name: str) -> bool:
    """Whether systems put the file there: resource forks, thumbnails, hidden files."""
    return any(part.startswith((".", "__MACOSX")) for part in name.split("/"))


def open_folder(path: Path) -> Members:
    """Files below a folder.

    Raises
    ------
    AnnotationError
        When there are too many, or links lead out of it.
    """
    root = path.resolve()
    names: list[str] = []
    outside: list[str] = []
    for folder, _, files in os.walk(path):
        for file in files:
            full = Path(folder, file)
            name = full.relative_to(path).as_posix()
            if full.is_symlink() and not full.resolve().is_relative_to(root):
                outside.append(name)
            elif full.is_file():
                names.append(name)
        if len(names) > MOST_FILES:
            what = f"The folder holds more than {MOST_FILES:,} files."
            raise AnnotationError(Problem(what, str(path), "Give the folder of one export."))
    outside = [name for name in outside if not _is_litter(name)]
    if outside:
        what = f"{counted(len(outside), 'link')} out of the folder: {some(outside)}."
        raise AnnotationError(Problem(what, str(path), "Copy the files into the folder."))

    def load(name: str) -> bytes:
        try:
            return (path / name).read_bytes()
        except OSError as error:
            what = f"The file cannot be read: {error.strerror}."
            raise AnnotationError(Problem(what, str(path / name), "Check it.")) from error

    return Members(str(path), names, load)


def open_zip(data: bytes | Path, name: str) -> Members:
    """Files of a zip archive.

    Raises
    ------
    AnnotationError
        When it is damaged or locked, its names lead out of it, or it swells like a bomb.

    Examples
    --------
    >>> packed = io.BytesIO()
    >>> with zipfile.ZipFile(packed, "w") as archive:
    ...     archive.writestr("ana.jsonl", "{}")
    >>> open_zip(packed.getvalue(), "export.zip").names
    ('ana.jsonl',)
    """
    size = data.stat().st_size if isinstance(data, Path) else len(data)
    try:
        archive = zipfile.ZipFile(data if isinstance(data, Path) else io.BytesIO(data))
        infos = {info.filename: info for info in archive.infolist() if not info.is_dir()}
    except _DAMAGE as error:
        what = f"The zip archive or Excel workbook is damaged: {_first_line(error)}."
        raise AnnotationError(Problem(what, name, "Copy or export it again.")) from error
    _refuse(infos, size, name)

    def load(member: str) -> bytes:
        try:
            return archive.read(infos[member])
        except _DAMAGE as error:
            what = f"The zip archive is damaged: {_first_line(error)}."
            where = f"{name}, {member}"
            raise AnnotationError(Problem(what, where, "Copy or export it again.")) from error

    return Members(name, list(infos), load)


def _refuse(infos: dict[str, zipfile.ZipInfo], size: int, name: str) -> None:
    """Raise if an archive is no honest export; sizes are those it states, and no more is read."""
    problems = []
    parts = {member: PurePosixPath(member.replace("\\", "/")) for member in infos}
    out = [
        member
        for member, path in parts.items()
        if ".." in path.parts or path.is_absolute() or member[1:2] == ":"
    ]
    if out:
        what = f"{counted(len(out), 'name')} in the archive leads out of it: {some(out)}."
        problems.append(Problem(what, name, "Do not trust this file; ask for another export."))
    if any(info.flag_bits & 1 for info in infos.values()):
        what = "The archive is locked with a password."
        problems.append(Problem(what, name, "Unpack it and give the folder."))
    whole = sum(info.file_size for info in infos.values())
    worst = max((info.file_size for info in infos.values()), default=0)
    if len(infos) > MOST_FILES or worst > LARGEST or (whole > FREE and whole > RATIO * size):
        what = (
            f"The archive unpacks to {counted(len(infos), 'file')} with {whole:,} bytes "
            f"from {size:,}, as no export does."
        )
        remedy = "If you trust it, unpack it yourself and give the folder."
        problems.append(Problem(what, name, remedy))
    if problems:
        raise AnnotationError(problems)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
