"""Bytes that may be too many: packed files that swell, and JSON read piece by piece."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from annomodels.errors import AnnotationError, MissingDependency, Problem
from annomodels.io.documents import json_value

__all__ = ["FREE", "LARGE", "RATIO", "gunzipped", "needs", "streamed_array", "streamed_lines"]

LARGE = 200_000_000  # bytes from which a JSON file is read piece by piece
FREE = 64_000_000  # bytes that anything may unpack to
RATIO = 100  # beyond that, texts do not shrink so much; a bomb does
_PIECE = 1 << 20


def needs(package: str, what: str) -> MissingDependency:
    """Error that names the package which reads such files, and the line that installs it.

    Examples
    --------
    >>> print(needs("openpyxl", "An Excel workbook"))
    An Excel workbook is read with the package openpyxl, which is not installed.
      mend:  pip install 'annomodels[readers]' (or pip install openpyxl).
    """
    sentence = f"{what} is read with the package {package}, which is not installed."
    remedy = f"pip install 'annomodels[readers]' (or pip install {package})."
    return MissingDependency(str(Problem(sentence, remedy=remedy)))


def gunzipped(data: bytes, where: str) -> bytes:
    """Unpack gzip, but not a file made to fill the memory.

    Raises
    ------
    AnnotationError
        When the file is damaged or swells more than any text does.

    Examples
    --------
    >>> import gzip
    >>> gunzipped(gzip.compress(b"item,coder,label"), "a.csv.gz")
    b'item,coder,label'
    """
    out, size, rest = [], 0, data
    try:
        while rest:
            unpacker = zlib.decompressobj(wbits=31)
            piece = unpacker.decompress(rest, _PIECE)
            while piece or unpacker.unconsumed_tail:
                out.append(piece)
                size += len(piece)
                used = len(data) - len(unpacker.unconsumed_tail)
                if size > FREE and size > RATIO * used:
                    raise AnnotationError(_bomb(where))
                piece = unpacker.decompress(unpacker.unconsumed_tail, _PIECE)
            if not unpacker.eof:
                raise zlib.error("it ends too early")
            rest = unpacker.unused_data.lstrip(b"\0")
    except zlib.error as error:
        what = f"The gzip file is damaged: {error}."
        raise AnnotationError(Problem(what, where, "Copy or export it again.")) from error
    return b"".join(out)


def _bomb(where: str) -> Problem:
    what = f"The file unpacks to more than {RATIO} times its size, as no table does."
    return Problem(what, where, "If you trust it, unpack it yourself and give what was in it.")


def streamed_lines(path: Path, source: str) -> Iterator[tuple[int, Any]]:
    """Row number and value of each JSON line, one line in memory at a time."""
    with path.open("rb") as file:
        for row, line in enumerate(file, 1):
            try:
                text = line.removeprefix(codecs.BOM_UTF8).decode()
            except UnicodeDecodeError:
                where, remedy = f"{source}, row {row}", "Save the file as UTF-8."
                raise AnnotationError(Problem("The row is not UTF-8.", where, remedy)) from None
            if text.strip():
                yield row, json_value(text, f"{source}, row {row}")


def streamed_array(path: Path, source: str) -> Iterator[tuple[int, Any]]:
    """Give number and value of each element of a JSON array, one element in memory at a time.

    Raises
    ------
    MissingDependency
        Without ijson.
    AnnotationError
        When it is not JSON.
    """
    try:
        import ijson
    except ImportError:
        raise needs("ijson", "JSON of more than 200 MB") from None
    with path.open("rb") as file:
        try:
            for number, value in enumerate(ijson.items(file, "item"), 1):
                yield number, _numbers_as_text(value)
        except (ijson.JSONError, UnicodeDecodeError, ValueError) as error:
            what = f"This is not JSON: {str(error).splitlines()[0]}"
            raise AnnotationError(Problem(what, source, "Export the labels again.")) from error


def _numbers_as_text(value: Any) -> Any:
    """Give the same texts for numbers that reading in one piece gives."""
    match value:
        case bool():
            return value
        case int() | Decimal():
            return str(value)
        case list():
            return [_numbers_as_text(part) for part in value]
        case dict():
            return {key: _numbers_as_text(part) for key, part in value.items()}
    return value
