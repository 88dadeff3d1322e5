"""Where a file of a project export stands: whose work it is, and on which document."""

from __future__ import annotations

from collections.abc import Iterator

from annomodels.errors import AnnotationError, Problem
from annomodels.io.archives import Members, open_zip
from annomodels.io.source import Source
from annomodels.io.spans import GOLD

_NOT_CODERS = frozenset(("INITIAL_CAS", "TypeSystem", "project", "exportedproject"))
_CURATED = "CURATION_USER"

# (document, coder, bytes, path, files beside it)
Part = tuple[str, str, bytes, str, Members]


def parts_of(source: Source, *endings: str) -> Iterator[Part]:
    """Files of a project: ``annotation/<document>/<coder>.tsv``, ``curation/<document>/...``.

    A file may be packed again, with its type system beside it. A single file is the work of the
    coder it is named after, on the document that its folder is named after.

    Raises
    ------
    AnnotationError
        When files lie side by side, so that coders and documents cannot be told apart.
    """
    if source.inside is None:
        yield "document", source.stem, source.data, source.name, Members(source.name)
        return
    outer = source.inside
    wanted = [
        name
        for name in outer.names
        if _stem(name) not in _NOT_CODERS and name.lower().endswith((*endings, ".zip"))
    ]
    sides = {name: _side(name) for name in wanted}
    if any(side == "annotation" for side in sides.values()):
        wanted = [name for name in wanted if sides[name]]
    for name in wanted:
        path = name.split("/")
        if len(path) < 2:
            what = f"The file {name!r} is not in the folder of a document."
            remedy = "Lay the files out as document/coder, as the project export does."
            raise AnnotationError(Problem(what, source.name, remedy))
        document, coder = path[-2], GOLD if sides[name] == "curation" else _stem(name)
        if coder == _CURATED:
            coder = GOLD
        if not name.lower().endswith(".zip"):
            yield document, coder, outer.read(name), f"{source.name}/{name}", outer
            continue
        inner = open_zip(outer.read(name), f"{source.name}/{name}")
        for part in inner.ending(*endings):
            if _stem(part) != "TypeSystem":
                yield document, coder, inner.read(part), f"{source.name}/{name}/{part}", inner


def _stem(name: str) -> str:
    last = name.rsplit("/", 1)[-1]
    return last.rsplit(".", 1)[0]


def _side(name: str) -> str:
    """Which part of a project export a file lies in: annotation, curation or neither."""
    return next((part for part in name.split("/") if part in ("annotation", "curation")), "")
