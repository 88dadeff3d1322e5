"""Where a file of a project export stands: whose work it is, and on which document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annomodels.data.validation import some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.archives import Members, open_zip
from annomodels.io.source import Source
from annomodels.io.span_builder import GOLD

_NOT_CODERS = frozenset(("INITIAL_CAS", "TypeSystem", "project", "exportedproject"))
_CURATED = "CURATION_USER"
_FINAL = {"curation_user", "curator", "curation", "curated", "gold"}

# (document, coder, bytes, path, files beside it)
Part = tuple[str, str, bytes, str, Members]


def parts_of(source: Source, *endings: str) -> Iterator[Part]:
    """Files of a project: ``annotation/<document>/<coder>.tsv``, ``curation/<document>/...``."""
    if source.inside is None:
        yield "document", source.stem, source.data, source.name, Members(source.name)
        return
    outer = source.inside
    wanted = [
        name
        for name in outer.names
        if _stem(name) not in _NOT_CODERS and name.lower().endswith((*endings, ".zip"))
    ]
    if not any(_side(name) == "annotation" for name in wanted):
        _refuse_unread(source, outer, wanted)
    sides = {name: _side(name) for name in wanted}
    if any(side == "annotation" for side in sides.values()):
        wanted = [name for name in wanted if sides[name]]
    if len(wanted) > 1 and not any("/" in name or name.endswith(".zip") for name in wanted):
        for name in wanted:  # files of one document, called after their coders
            coder = GOLD if _stem(name).casefold() in _FINAL else _stem(name)
            yield "document", coder, outer.read(name), f"{source.name}/{name}", outer
        return
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


def unread(files: Members) -> list[str]:
    """Files of coders in a project export that cannot be read: binary, or text without marks."""
    parts = {name: name.split("/") for name in files.names}
    project = any(
        "annotation_ser" in path or path[-1].startswith("exportedproject")
        for path in parts.values()
    )
    return [
        name
        for name, path in parts.items()
        if {"annotation", "annotation_ser"} & set(path[:-2]) and project
        and _stem(name) not in _NOT_CODERS
    ]  # fmt: skip


def _refuse_unread(source: Source, files: Members, curated: Sequence[str]) -> None:
    if unread(files):
        raise AnnotationError(export_again(source.name, files, curated=bool(curated)))


def export_again(source: str, files: Members, *, curated: bool = False) -> Problem:
    """Say in which format the project has to be exported."""
    names = unread(files)
    plain = [name for name in names if "annotation_ser" not in name.split("/")]
    endings = sorted({f".{name.rsplit('.', 1)[-1]}" for name in names if "." in name})
    what = f"The work of the coders is in this project export as {' and '.join(endings)} only"
    if any(name.endswith(".txt") for name in plain):
        what += ", and plain text (.txt) holds no annotations"
    what += f": {some(names)}."
    if curated:
        what += " The curated version alone says nothing about agreement."
    remedy = (
        "Export the project again, and choose WebAnno TSV 3.3 or UIMA CAS (XMI 1.1 or JSON) as the "
        "format: in INCEpTION under Settings, Export, 'Format', with the annotations of all users."
    )
    return Problem(what, source, remedy)


def _stem(name: str) -> str:
    last = name.rsplit("/", 1)[-1]
    return last.rsplit(".", 1)[0]


def _side(name: str) -> str:
    """Which part of a project export a file lies in: annotation, curation or neither."""
    return next((part for part in name.split("/") if part in ("annotation", "curation")), "")
