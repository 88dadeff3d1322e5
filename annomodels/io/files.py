"""From a path to text: what lies there, unpacked and decoded, or why it cannot be."""

from __future__ import annotations

import codecs
import difflib
import os
import sys
from pathlib import Path

from annomodels.errors import AnnotationError, Problem
from annomodels.io.streams import gunzipped

__all__ = ["STDIN", "decoded", "name_of", "raw_bytes", "unreadable"]

STDIN = "standard input"

# First bytes of files that are often given by mistake.
MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook", "Unpack it, or leave format to 'auto'."),
    (
        b"\xd0\xcf\x11\xe0",
        "an old Excel workbook",
        "Save it as .xlsx or as CSV.",
    ),
    (b"%PDF", "a PDF", "Export the labels as CSV."),
    (b"$FL2", "an SPSS file", "Leave format to 'auto', or export the data as CSV."),
    (b"\x89HDF", "an HDF5 or netCDF file", "Read a fit with annomodels.load; labels come as CSV."),
    (b"SQLite format 3", "an SQLite database", "Export the table as CSV."),
    (b"<!DOCTYPE html", "a web page", "Download the file itself."),
)
MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like the mark of UTF-16, so it comes first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def name_of(path: str | os.PathLike[str]) -> str:
    """Name of a file in messages."""
    return STDIN if str(path) == "-" else Path(path).name or str(path)


def unreadable(path: Path) -> Problem | None:
    """Say why there is no file to read at a path."""
    try:
        if path.is_dir():
            inside = sorted(
                p.name for p in path.iterdir() if p.suffix in (".csv", ".tsv", ".jsonl")
            )
            remedy = f"Give a file in it, such as {inside[0]}." if inside else "Give a file."
            return Problem("This is a folder, not a file.", str(path), remedy)
        if path.exists():
            return None
        there = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    except (OSError, ValueError) as error:  # a path with a NUL, or in a folder that is closed
        return _closed(str(path), error)
    if not path.parent.is_dir():
        remedy = f"There is no folder {str(path.parent)!r} either; check the path."
    else:
        near = difflib.get_close_matches(path.name, there, n=3, cutoff=0.6)
        remedy = f"Did you mean {' or '.join(near)}?" if near else "Check the path."
    return Problem("There is no such file.", str(path), remedy)


def raw_bytes(path: str | os.PathLike[str]) -> bytes:
    """Bytes of a file or of the standard input ("-"), unpacked if gzipped.

    Raises
    ------
    AnnotationError
        When there is no file, it is a folder, it may not be read, it is empty or damaged.
    """
    if str(path) == "-":
        stream = getattr(sys.stdin, "buffer", None)
        data = sys.stdin.read().encode() if stream is None else stream.read()
        where = STDIN
    else:
        where = str(path)
        problem = unreadable(Path(path))
        if problem is not None:
            raise AnnotationError(problem)
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise AnnotationError(_closed(where, error)) from error
    if data[:2] == b"\x1f\x8b":
        data = gunzipped(data, where)
    if not data:
        raise AnnotationError(Problem("The file is empty.", where, "Export the labels again."))
    return bytes(data)


def _closed(where: str, error: Exception) -> Problem:
    if isinstance(error, PermissionError):
        return Problem("You may not read this file.", where, "Ask for permission, or copy it.")
    reason = getattr(error, "strerror", None) or str(error)
    return Problem(f"The file cannot be read: {reason}.", where, "Check the path and the disk.")


def decoded(data: bytes, source: str, encoding: str | None = None) -> str:
    """Text of bytes: UTF-8, or UTF-16 or UTF-32 with its mark, or as said.

    Raises
    ------
    AnnotationError
        When the bytes are no text in that encoding, with the row of the first wrong byte.

    Examples
    --------
    >>> decoded("Grüße".encode("utf-16"), "a.csv")
    'Grüße'
    """
    for magic, kind, remedy in MAGIC:
        if data.startswith(magic):
            raise AnnotationError(Problem(f"This is {kind}, not a text table.", source, remedy))
    name = encoding or next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")
    try:
        text: object = codecs.decode(data, name)
    except LookupError as error:
        what = f"There is no encoding {name!r}."
        remedy = "Use a name such as 'utf-8', 'utf-16', 'cp1252' or 'shift_jis'."
        raise AnnotationError(Problem(what, source, remedy)) from error
    except (UnicodeDecodeError, UnicodeError) as error:
        raise AnnotationError(_undecodable(data, name, error, source)) from error
    if not isinstance(text, str):  # codecs such as base64 give bytes
        what = f"{name!r} is not an encoding of text."
        raise AnnotationError(Problem(what, source, "Use a name such as 'utf-8' or 'cp1252'."))
    nul = text.find("\0")
    if nul >= 0:
        row = text.count("\n", 0, nul) + 1
        what = "There is a NUL byte, so this is no text or UTF-16 without its mark."
        remedy = "Save it as UTF-8, or say encoding='utf-16-le' if it comes from Windows."
        raise AnnotationError(Problem(what, f"{source}, row {row}", remedy))
    return text.removeprefix("\ufeff")


def _undecodable(data: bytes, name: str, error: Exception, source: str) -> Problem:
    at = min(getattr(error, "start", 0), len(data) - 1)
    row = data.count(b"\n", 0, at) + 1
    if b"\0" in data and not name.startswith("utf-16") and not name.startswith("utf-32"):
        what = "This is not text: it holds NUL bytes."
        return Problem(what, f"{source}, row {row}", "Export the labels as CSV in UTF-8.")
    what = f"Byte {at + 1:,} of the file ({data[at]:#04x}) is not {name.upper()}."
    remedy = "Save the file as UTF-8, or say its encoding, such as encoding='cp1252' for Windows."
    return Problem(what, f"{source}, row {row}", remedy)
