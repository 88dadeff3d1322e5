"""Read untrusted bytes and text, and turn errors in them into ``AnnotationError``."""

from __future__ import annotations

import codecs
import difflib
import errno
import gzip
import io
import os
import posixpath
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard
from xml.parsers import expat

from annomodels.data.validation import counted, some
from annomodels.errors import (
    AnnomodelsError,
    AnnotationError,
    MissingDependency,
    Option,
    Problem,
    printable,
    raise_all,
)

if TYPE_CHECKING:
    import zipfile

STDIN = "standard input"
LARGEST = 512_000_000  # maximum bytes of a pipe, or of one file in an archive
FREE = 64_000_000  # unpacked bytes that are accepted at any ratio
RATIO = 100  # maximum compression ratio above FREE; only a zip bomb exceeds it
_PIECE = 1 << 20
_BEGINNING = 1 << 16
# Encodings that Excel for Windows writes, most frequent first.
_WINDOWS = ["cp1252", "cp932", "gb18030", "cp949", "big5", "cp1251", "cp1250", "cp1253", "cp1254"]
# Errors unrelated to the content of the file.
_NOT_THE_FILE = {errno.ENOSPC, errno.EPIPE, errno.EMFILE, getattr(errno, "EDQUOT", errno.ENOSPC)}

# First bytes of files that users often pass by mistake.
MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook", "Unpack it, or leave format to 'auto'."),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "Save it as .xlsx or as CSV."),
    (b"%PDF", "a PDF", "Export the labels as CSV."),
    (b"$FL2", "an SPSS file", "Leave format to 'auto', or export the data as CSV."),
    (b"\x89HDF", "an HDF5 or netCDF file", "Read a fit with annomodels.load; labels come as CSV."),
    (b"SQLite format 3", "an SQLite database", "Export the table as CSV."),
    (b"<!DOCTYPE html", "a web page", "Download the file itself."),
)
MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like the UTF-16 mark, so it comes first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class NoLabels(Problem):
    """The file has no coder labels; the final error adds what is missing."""


@contextmanager
def guarded(where: str, what: str = "file") -> Iterator[None]:
    """Turn errors from reading untrusted bytes into an ``AnnotationError``."""
    try:
        yield
    except (AnnomodelsError, MemoryError, ImportError):
        raise
    except OSError as error:
        if error.errno in _NOT_THE_FILE:
            raise
        # without a file name, a library failed on the content
        problem = _damage(where, error, what) if error.filename is None else _closed(where, error)
        raise AnnotationError(problem) from error
    except Exception as error:
        raise AnnotationError(_damage(where, error, what)) from error


@contextmanager
def collected(problems: list[Problem], where: str) -> Iterator[None]:
    """Add the problems of an error to a list instead of raising it."""
    try:
        with guarded(where):
            yield
    except AnnotationError as error:
        problems += error.problems


def _damage(where: str, error: Exception, thing: str) -> Problem:
    said, remedy = first_line(error), "Copy or export it again."
    if isinstance(error, RecursionError):
        return Problem(f"The {thing} is nested too deeply.", where, remedy, code="too-deep")
    if isinstance(error, UnicodeError):
        what = f"The text cannot be decoded: {said}."
        return Problem(what, where, "Save it as UTF-8.", code="other-encoding")
    if isinstance(error, (LookupError, TypeError, AttributeError, AssertionError)):
        what = f"The {thing} cannot be read ({type(error).__name__}: {said})."
        remedy = "Export it again. If other programs read it, please report it, with --debug."
        return Problem(what, where, remedy, code="damaged")
    return Problem(f"The {thing} is damaged: {said}.", where, remedy, code="damaged")


def first_line(error: BaseException) -> str:
    """Return the first line of an error message, or the name of the error type."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def library(module: str, package: str, what: str) -> ModuleType:
    """Import a module that only some files need."""
    try:
        return import_module(module)
    except ImportError:
        sentence = f"{what} is read with the package {package}, which is not installed."
        remedy = f"pip install {package}."
        raise MissingDependency(str(Problem(sentence, remedy=remedy))) from None


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path as printable text."""
    return printable(os.fspath(path))


def name_of(path: str | os.PathLike[str]) -> str:
    return STDIN if str(path) == "-" else shown(Path(path).name or str(path))


def is_path(path: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(os.fspath(path) if isinstance(path, os.PathLike) else path, str)


def checked_path(path: object) -> str | os.PathLike[str]:
    if is_path(path):
        return path
    what = f"A file name was expected, but this is {type(path).__name__!r}."
    remedy = (
        "Give names of files as texts or paths. Annotations.from_frame takes a data frame, "
        "Annotations.from_records takes rows."
    )
    raise AnnotationError(what, remedy=remedy, code="no-path")


def unreadable(path: Path) -> Problem | None:
    where = shown(path)
    try:
        if path.is_dir():
            inside = sorted(
                p.name for p in path.iterdir() if p.suffix in (".csv", ".tsv", ".jsonl")
            )
            remedy = f"Give a file in it, such as {inside[0]}." if inside else "Give a file."
            return Problem("This is a folder, not a file.", where, remedy, code="folder")
        if path.exists():
            if _is_device(path.stat()) and path.resolve() != Path(os.devnull):
                return _device(where)
            return None
        there = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    except (OSError, ValueError, RuntimeError) as error:  # a NUL byte, a locked folder, a link loop
        return _closed(where, error)
    if not path.parent.is_dir():
        remedy = f"The folder {shown(path.parent)!r} does not exist either; check the path."
    else:
        near = difflib.get_close_matches(path.name, there, n=3, cutoff=0.6)
        files = sorted(name for name in there if not name.startswith("."))
        more = f" and {len(files) - 5:,} more" if len(files) > 5 else ""
        names = f"holds {shown(', '.join(files[:5]))}{more}" if files else "is empty"
        remedy = f"Check the path: its folder {names}."
        remedy = f"Did you mean {shown(' or '.join(near))}?" if near else remedy
    return Problem("The file does not exist.", where, remedy, code="no-file")


def _is_device(about: os.stat_result) -> bool:
    return stat.S_ISCHR(about.st_mode) or stat.S_ISBLK(about.st_mode)


def _device(where: str) -> Problem:
    what = "This is a device, not a file: reading it may never end."
    return Problem(what, where, "Give a file, or - for the standard input.")


def raw_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file or of standard input ("-"), unpacked if gzipped."""
    where = STDIN if str(path) == "-" else shown(path)
    if where == STDIN:
        data = _standard_input()
    else:
        problem = unreadable(Path(path))
        if problem is not None:
            raise AnnotationError(problem)
        with guarded(where):
            data = _bytes_of(Path(path), where)
    data = gunzipped(data, where)
    if not data:
        raise AnnotationError("The file is empty.", where, "Export it again.", code="empty")
    return data


def _standard_input() -> bytes:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        return sys.stdin.read().encode()
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # a stream in memory
        return bytes(stream.read())
    about = os.fstat(descriptor)
    if _is_device(about) and not os.isatty(descriptor):
        if os.read(descriptor, 1):
            raise AnnotationError(_device(STDIN))
        return b""
    with guarded(STDIN):
        return bytes(stream.read()) if stat.S_ISREG(about.st_mode) else _pipe(stream, STDIN)


def _bytes_of(path: Path, where: str) -> bytes:
    """Read a regular file or a pipe; a pipe without a writer counts as empty."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    with open(path, "rb", buffering=0, opener=opener) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return _pipe(file, where)
        beginning = file.read(_BEGINNING)
        if len(beginning) == _BEGINNING and not beginning.strip(b"\0"):
            what = "This is not text: it begins with NUL bytes only."
            raise AnnotationError(what, where, "Export the labels as CSV in UTF-8.")
        return beginning + file.read()


def _pipe(stream: Any, where: str) -> bytes:
    """Read all bytes of a pipe, up to ``LARGEST``."""
    read = getattr(stream, "read1", stream.read)
    pieces: list[bytes] = []
    size = 0
    while True:
        piece = read(_PIECE)
        if piece is None:  # the writer may still send data
            select.select([stream], [], [])
            continue
        pieces.append(piece)
        size += len(piece)
        if not piece:
            return b"".join(pieces)
        if size > LARGEST:
            what = f"More than {LARGEST:,} bytes came through a pipe."
            raise AnnotationError(what, where, "Save the data to a file, and give that file.")


def _closed(where: str, error: Exception) -> Problem:
    if isinstance(error, PermissionError):
        what, remedy = "No permission to read this file.", "Ask for access, or copy it."
        return Problem(what, where, remedy, code="no-permission")
    reason = getattr(error, "strerror", None) or first_line(error)
    return Problem(f"The file cannot be read: {reason}.", where, "Check the path and the disk.")


def gunzipped(data: bytes, where: str) -> bytes:
    """Unpack gzip, but refuse a decompression bomb; return other bytes unchanged."""
    if data[:2] != b"\x1f\x8b":
        return data
    out, size, packed = [], 0, io.BytesIO(data)
    with guarded(where, "gzip file"), gzip.GzipFile(fileobj=packed) as file:
        while piece := file.read(_PIECE):
            out.append(piece)
            size += len(piece)
            if size > FREE and size > RATIO * packed.tell():
                what = f"The file unpacks to more than {RATIO} times its size, as no table does."
                remedy = "If you trust it, unpack it yourself and give the unpacked file."
                raise AnnotationError(what, where, remedy)
    return b"".join(out)


def decoded(data: bytes, source: str, encoding: str | None = None) -> str:
    """Decode bytes: as given, by their byte order mark, or as UTF-8."""
    for magic, kind, remedy in MAGIC:
        if data.startswith(magic):
            raise AnnotationError(f"This is {kind}, not a text table.", source, remedy)
    name = encoding or next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")
    try:
        text: object = codecs.decode(data, name)
    except LookupError as error:
        what = f"Unknown encoding {name!r}."
        remedy = "Use a name such as 'utf-8', 'utf-16', 'cp1252' or 'shift_jis'."
        raise AnnotationError(what, source, remedy, code="unknown-encoding") from error
    except (UnicodeDecodeError, UnicodeError) as error:
        raise AnnotationError(_undecodable(data, name, error, source)) from error
    if not isinstance(text, str):  # codecs such as base64 return bytes
        what = f"{name!r} is not an encoding of text."
        raise AnnotationError(
            what, source, "Use a name such as 'utf-8' or 'cp1252'.", code="unknown-encoding"
        )
    nul = text.find("\0")
    if nul >= 0:
        row = text.count("\n", 0, nul) + 1
        what = (
            "The text contains a NUL byte, so this is either not text, or UTF-16 without a byte "
            "order mark."
        )
        remedy = (
            f"Save it as UTF-8, or use {Option('encoding', 'utf-16-le')} if it comes from Windows."
        )
        raise AnnotationError(what, f"{source}, row {row}", remedy, code="binary")
    return text.removeprefix("\ufeff")


def _undecodable(data: bytes, name: str, error: Exception, source: str) -> Problem:
    at = min(getattr(error, "start", 0), len(data) - 1)
    where = f"{source}, row {data.count(b'\n', 0, at) + 1}"
    if b"\0" in data and not name.startswith("utf-16") and not name.startswith("utf-32"):
        what = "This is not text: it contains NUL bytes."
        return Problem(what, where, "Export the labels as CSV in UTF-8.", code="binary")
    what = f"Byte {at + 1:,} of the file ({data[at]:#04x}) is not {name.upper()}."
    remedy = "Save the file as UTF-8, or name its encoding"
    if name != "utf-8":
        return Problem(what, where, f"{remedy}.", code="other-encoding")
    likely = ("encoding", _likely_encoding(data))
    remedy = f"{remedy}, perhaps {Option(*likely)}."
    return Problem(what, where, remedy, options=(likely,), code="other-encoding")


def _likely_encoding(data: bytes) -> str:
    """Return the Windows encoding that gives the most plausible text."""
    from charset_normalizer import from_bytes  # loaded only for files that are not UTF-8

    start = data[: data.rfind(b"\n", 0, _BEGINNING) + 1] or data[:_BEGINNING]
    found = from_bytes(start, cp_isolation=_WINDOWS)
    best = min(((match.chaos, -match.coherence) for match in found), default=None)
    alike = [match for match in found if (match.chaos, -match.coherence) == best]
    names = {name for match in alike for name in match.could_be_from_charset}
    return next((name for name in _WINDOWS if name in names), _WINDOWS[0])


# -- untrusted XML: no entities, which can fill memory or read files -------------------------------


_ENTITIES = ("EntityDecl", "UnparsedEntityDecl", "ExternalEntityRef", "SkippedEntity")


@dataclass
class Element:
    """XML element without its position in the tree."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    text: str = ""


def check_xml(data: bytes, source: str) -> None:
    """Check that the data are well-formed XML without a document type."""

    def refuse(*_: object) -> None:
        what = "The XML declares a document type, which no annotation tool does."
        remedy = "Do not trust this file; ask for another export."
        raise AnnotationError(what, source, remedy, code="document-type")

    _parse(expat.ParserCreate(), data, source, StartDoctypeDeclHandler=refuse)


def elements(data: bytes, source: str) -> list[Element]:
    """Return all elements in document order."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    found: list[Element] = []
    open_: list[Element] = []

    def refuse(*_: object) -> object:
        what = "The XML declares or uses entities, which could pull in other files."
        remedy = "Replace the entities by their text."
        where = f"{source}, line {parser.CurrentLineNumber}"
        raise AnnotationError(what, where, remedy)

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        element = Element(tag, attributes, parser.CurrentLineNumber)
        found.append(element)
        open_.append(element)

    def text(data: str) -> None:
        open_[-1].text += data

    _parse(
        parser,
        data,
        source,
        StartElementHandler=start,
        EndElementHandler=lambda _: open_.pop(),
        CharacterDataHandler=text,
        StartDoctypeDeclHandler=lambda *said: refuse() if said[-1] else None,
        **{f"{name}Handler": refuse for name in _ENTITIES},
    )
    return found


def _parse(
    parser: expat.XMLParserType, data: bytes, source: str, **handlers: Callable[..., object]
) -> None:
    for name, handler in handlers.items():
        setattr(parser, name, handler)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = f"This is not well-formed XML: {expat.errors.messages[error.code]}."
        where = f"{source}, line {error.lineno}"
        raise AnnotationError(what, where, "Export it again.", code="broken-xml") from error
    except AnnotationError:  # also a ValueError
        raise
    except (LookupError, ValueError) as error:  # an encoding that expat does not know
        what = f"The encoding that the XML declares cannot be read: {error}."
        raise AnnotationError(what, source, "Save it as UTF-8.") from error


# -- folders and zip archives: names and bytes of their files; nothing is unpacked to disk ---------


MOST_FILES = 200_000


class Members:
    """Files of a folder or archive by relative path, with ``/`` as separator."""

    are_sheets = False

    def __init__(
        self, name: str, names: Iterable[str] = (), load: Callable[[str], bytes] = lambda name: b""
    ) -> None:
        self.name = name
        self.names = tuple(sorted(name for name in names if not _is_litter(name)))
        self._known = frozenset(self.names)
        self._load = load
        self._last = ("", b"")  # last file read, because several formats check it in turn

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def ending(self, *suffixes: str) -> list[str]:
        return [name for name in self.names if name.lower().endswith(suffixes)]

    def where(self, name: str) -> str:
        inside = posixpath.basename(self.name) == name
        return shown(name if inside else f"{self.name}/{name}")

    def read(self, name: str) -> bytes:
        """Return the bytes of one file, unpacked if gzipped."""
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
        """Return the first bytes as text for format detection; replace invalid bytes."""
        data = self.read(name)[:size]
        kind = next((kind for mark, kind in MARKS if data.startswith(mark)), "utf-8")
        # every other byte of UTF-16 without its mark is 0; `decoded` reports that
        return data.decode(kind, "replace").replace("\0", "").removeprefix("\ufeff")

    def text(self, name: str, encoding: str | None = None) -> str:
        return decoded(self.read(name), self.where(name), encoding)


def _is_litter(name: str) -> bool:
    """Return True for system files: resource forks, thumbnails, hidden files."""
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
    """Raise if an archive is unsafe; reading stops at the declared sizes."""
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
    raise_all(problems)
