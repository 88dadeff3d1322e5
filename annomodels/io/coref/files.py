"""Files, folders and zip archives as names and bytes, with no way out of them."""

from __future__ import annotations

import io
import os
import posixpath
import zipfile
from collections.abc import Callable
from pathlib import Path

from annomodels.errors import AnnotationError, Problem
from annomodels.io.files import MARKS, decoded, raw_bytes, unreadable

LARGEST = 1 << 30


class Files:
    """Some files by their names.

    Parameters
    ----------
    root
        What to call the whole in messages.
    readers
        Name of each file, with "/" between folders -> function that reads it.
    """

    def __init__(self, root: str, readers: dict[str, Callable[[], bytes]]) -> None:
        self.root = root
        self._readers = readers

    @property
    def names(self) -> list[str]:
        """Names of the files, sorted."""
        return sorted(self._readers)

    def __contains__(self, name: str) -> bool:
        return name in self._readers

    def where(self, name: str) -> str:
        """Name of a file in messages."""
        return name if posixpath.basename(self.root) == name else f"{self.root}/{name}"

    def data(self, name: str) -> bytes:
        """Bytes of a file.

        Raises
        ------
        AnnotationError
            When there is no such file, or it cannot be read.
        """
        inside = posixpath.normpath(name.replace("\\", "/"))
        if inside.startswith(("/", "..")) or inside not in self._readers:
            what = f"There is no file {name!r} in {self.root}."
            raise AnnotationError(Problem(what, remedy="Check that all files are there."))
        return self._readers[inside]()

    def start(self, name: str, size: int) -> str:
        """First bytes of a file as text, to tell its format by; what is no text is replaced."""
        data = self.data(name)[:size]
        kind = next((kind for mark, kind in MARKS if data.startswith(mark)), "utf-8")
        # UTF-16 without its mark has every other byte 0; reading it says so
        return data.decode(kind, "replace").replace("\0", "").removeprefix("\ufeff")

    def text(self, name: str, encoding: str | None = None) -> str:
        """Text of a file, as :func:`annomodels.io.files.decoded` does it."""
        return decoded(self.data(name), self.where(name), encoding)


def open_files(path: str | os.PathLike[str]) -> Files:
    """Files of a folder, of a zip archive, or one file.

    Nothing is unpacked to disk. Links that lead out of the folder, and names in an archive that
    would, are refused.

    Raises
    ------
    AnnotationError
        When there is nothing to read, or an archive is damaged, encrypted, too large or unsafe.
    """
    place = Path(path)
    if str(path) != "-" and place.is_dir():
        return _folder(place)
    problem = None if str(path) == "-" else unreadable(place)
    if problem is not None:
        raise AnnotationError(problem)
    if place.suffix.lower() == ".zip":
        return _archive(place)
    return Files(str(path), {place.name or "-": lambda: raw_bytes(path)})


def _folder(place: Path) -> Files:
    root = place.resolve()
    found: dict[str, Callable[[], bytes]] = {}
    for path in sorted(place.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(place).parts)
        if hidden or not path.is_file():
            continue
        if not path.resolve().is_relative_to(root):
            what = f"{path.name!r} is a link that leads out of the folder."
            remedy = "Copy the file into the folder."
            raise AnnotationError(Problem(what, str(path), remedy))
        found[path.relative_to(place).as_posix()] = _reader(path)
    if not found:
        raise AnnotationError(Problem("The folder is empty.", str(place), "Give the files."))
    return Files(str(place), found)


def _reader(path: Path) -> Callable[[], bytes]:
    """Read a file of a folder; one without mentions may be empty."""
    return lambda: raw_bytes(path) if path.stat().st_size else b""


def _archive(place: Path) -> Files:
    where = str(place)
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw_bytes(place)))
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    except zipfile.BadZipFile as error:
        what = f"The archive is damaged: {error}."
        raise AnnotationError(Problem(what, where, "Copy or export it again.")) from error
    problems = []
    for entry in entries:
        parts = entry.filename.replace("\\", "/").split("/")
        if ".." in parts or parts[0] in ("", ".") or ":" in parts[0]:
            what = f"The archive holds the name {entry.filename!r}, which leads out of it."
            problems.append(Problem(what, where, "Do not trust this archive; export it again."))
    if sum(entry.file_size for entry in entries) > LARGEST:
        what = f"The archive unpacks to more than {LARGEST >> 30} GB."
        problems.append(Problem(what, where, "Unpack it, and give the folder."))
    if any(entry.flag_bits & 1 for entry in entries):
        problems.append(Problem("The archive is encrypted.", where, "Unpack it first."))
    if problems:
        raise AnnotationError(problems)

    def reader(entry: zipfile.ZipInfo) -> Callable[[], bytes]:
        def read() -> bytes:
            try:
                return archive.read(entry)
            except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
                what = f"{entry.filename!r} cannot be unpacked: {error}."
                raise AnnotationError(Problem(what, where, "Export it again.")) from error

        return read

    return Files(where, {entry.filename.replace("\\", "/"): reader(entry) for entry in entries})
