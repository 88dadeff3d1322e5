"""Folders and zip archives: names and bytes of the files in them, with nothing unpacked to disk."""

from __future__ import annotations

import io
import os
import posixpath
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.border import (
    FREE,
    LARGEST,
    MARKS,
    RATIO,
    decoded,
    guarded,
    gunzipped,
    raw_bytes,
    shown,
    unreadable,
)

if TYPE_CHECKING:
    import zipfile

MOST_FILES = 200_000


class Members:
    """Files of a folder or archive by their path in it, with ``/`` between the parts."""

    are_sheets = False

    def __init__(
        self, name: str, names: Iterable[str] = (), load: Callable[[str], bytes] = lambda name: b""
    ) -> None:
        self.name = name
        self.names = tuple(sorted(name for name in names if not _is_litter(name)))
        self._known = frozenset(self.names)
        self._load = load
        self._last = ("", b"")  # several formats look at one file, one after the other

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def ending(self, *suffixes: str) -> list[str]:
        return [name for name in self.names if name.lower().endswith(suffixes)]

    def where(self, name: str) -> str:
        inside = posixpath.basename(self.name) == name
        return shown(name if inside else f"{self.name}/{name}")

    def read(self, name: str) -> bytes:
        """Bytes of one file, unpacked if gzipped."""
        inside = posixpath.normpath(name.replace("\\", "/"))
        path = name if name in self else inside
        if path not in self:
            what = f"File {name!r} is not in {self.name}."
            raise AnnotationError(what, remedy="Check that all files are there.")
        if path != self._last[0]:
            where = self.where(path)
            with guarded(where):
                self._last = (path, gunzipped(self._load(path), where))
        return self._last[1]

    def head(self, name: str, size: int) -> str:
        """First bytes of a file as text, to tell its format by; what is no text is replaced."""
        data = self.read(name)[:size]
        kind = next((kind for mark, kind in MARKS if data.startswith(mark)), "utf-8")
        # UTF-16 without its mark has every other byte 0; reading it says so
        return data.decode(kind, "replace").replace("\0", "").removeprefix("\ufeff")

    def text(self, name: str, encoding: str | None = None) -> str:
        return decoded(self.read(name), self.where(name), encoding)


def _is_litter(name: str) -> bool:
    """Return True if systems put the file there: resource forks, thumbnails, hidden files."""
    return any(part.startswith((".", "__MACOSX")) for part in name.split("/"))


def open_members(path: str | os.PathLike[str]) -> Members:
    place = Path(path)
    if str(path) != "-" and place.is_dir():
        members = open_folder(place)
        if not members.names:
            raise AnnotationError("The folder is empty.", str(place), "Give the files.")
        return members
    problem = None if str(path) == "-" else unreadable(place)
    if problem is not None:
        raise AnnotationError(problem)
    if place.suffix.lower() == ".zip":
        return open_zip(place, str(place))
    return Members(str(path), [place.name or "-"], lambda _: raw_bytes(path))


def open_folder(path: Path) -> Members:
    names: list[str] = []
    outside: list[str] = []
    with guarded(shown(path)):
        root = path.resolve()
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
                raise AnnotationError(what, shown(path), "Give the folder of one export.")
    outside = [name for name in outside if not _is_litter(name)]
    if outside:
        what = f"{counted(len(outside), 'link')} outside the folder: {some(outside)}."
        raise AnnotationError(what, shown(path), "Copy the files into the folder.", code="outside")
    return Members(str(path), names, lambda name: (path / name).read_bytes())


def open_zip(data: bytes | Path, name: str) -> Members:
    import zipfile

    size = data.stat().st_size if isinstance(data, Path) else len(data)
    with guarded(shown(name), "zip archive or Excel workbook"):
        archive = zipfile.ZipFile(data if isinstance(data, Path) else io.BytesIO(data))
        files = [info for info in archive.infolist() if not info.is_dir()]
        infos = {info.filename.replace("\\", "/"): info for info in files}
    _refuse(infos, size, shown(name))
    return Members(name, list(infos), lambda member: archive.read(infos[member]))


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
        what = f"{counted(len(out), 'name')} in the archive points outside it: {some(out)}."
        problems.append(
            Problem(what, name, "Do not trust this file; ask for another export.", code="outside")
        )
    if any(info.flag_bits & 1 for info in infos.values()):
        what = "The archive is locked with a password."
        problems.append(Problem(what, name, "Unpack it and give the folder.", code="locked"))
    whole = sum(info.file_size for info in infos.values())
    worst = max((info.file_size for info in infos.values()), default=0)
    if len(infos) > MOST_FILES or worst > LARGEST or (whole > FREE and whole > RATIO * size):
        what = (
            f"The archive unpacks to {counted(len(infos), 'file')} with {whole:,} bytes "
            f"from {size:,}, which no export does."
        )
        remedy = "If you trust it, unpack it yourself and give the folder."
        problems.append(Problem(what, name, remedy))
    if problems:
        raise AnnotationError(problems)
