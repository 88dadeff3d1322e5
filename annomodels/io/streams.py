"""Bytes that may be too many: packed files that swell, and JSON read piece by piece."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from annomodels.errors import AnnotationError, MissingDependency, Problem
from annomodels.io.documents import json_value

__all__ = ["FREE", "LARGE", "RATIO", "gunzipped", "needs", "streamed_array", "streamed_lines"]

LARGE = 200_000_000  # bytes from which a JSON file is read piece by piece
FREE = 64_000_000  # bytes that anything may unpack to
DEEPEST = 500  # levels of JSON that is read piece by piece
RATIO = 100  # beyond that, texts do not shrink so much; a bomb does
_PIECE = 1 << 20


def needs(package: str, what: str) -> MissingDependency:
    """Error that names the package which reads such files, and the line that installs it.

    Examples
    --------
    >>> print(needs("openpyxl", "An Excel workbook"))
    An Excel workbook is read with the package openpyxl, which is not installed.
      fix:   pip install 'annomodels[readers]' (or pip install openpyxl).
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
            yield from enumerate(_elements(ijson.basic_parse(file), source), 1)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            what = f"This is not JSON: {(str(error).splitlines() or ['damaged'])[0]}"
            raise AnnotationError(Problem(what, source, "Export the labels again.")) from error


def _elements(events: Iterable[tuple[str, Any]], source: str) -> Iterator[Any]:
    """Put the elements of the outermost array together, with numbers as texts.

    Deep nesting is refused on the way: a parser that keeps the path to each value would fill the
    memory with it.
    """
    places: list[Any] = []  # the containers that are open, outermost first
    key = ""
    for event, value in events:
        if event == "map_key":
            key = value
            continue
        if event in ("end_map", "end_array"):
            places.pop()
        else:
            is_open = event in ("start_map", "start_array")
            if is_open:
                value = {} if event == "start_map" else []
            elif event in ("number", "integer", "double"):
                value = str(value)
            if places and isinstance(places[-1], list):
                places[-1].append(value)
            elif places:
                places[-1][key] = value
            if is_open:
                places.append(value)
            if len(places) > DEEPEST:
                what = "The JSON is nested too deeply."
                raise AnnotationError(Problem(what, source, "Export one record a line."))
        if len(places) == 1 and places[0]:
            yield places[0].pop()
