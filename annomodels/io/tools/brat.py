"""brat: standoff annotations beside the texts, one folder for each coder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from annomodels.data.layers import components
from annomodels.errors import AnnotationError, Problem
from annomodels.io.border import decoded
from annomodels.io.source import Options, Source
from annomodels.io.span_builder import Span
from annomodels.io.tables.variables import by_document
from annomodels.io.tools.judgements import Judgements

_MARK = re.compile(r"^(T\d+)\t(\S+) (\d{1,9} \d{1,9}(?:;\d{1,9} \d{1,9})*)(?:\t|$)")
_ATTRIBUTE = re.compile(r"^[AM]\d+\t(\S+) (T\d+)(?: (.+))?$")
_LINK = re.compile(r"^R\d+\t(\S*[Cc]oref\S*) \S+?:(T\d+) \S+?:(T\d+)")


@dataclass
class _File:
    """What one .ann file says."""

    marks: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    same: list[list[str]] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)


def is_brat(source: Source, options: Options) -> bool:
    """Whether it is a folder or archive with ``.ann`` files."""
    return source.inside is not None and bool(source.inside.ending(".ann"))


def spans_of_brat(source: Source, options: Options, found: Judgements) -> None:
    """Spans with their types, attributes as questions of their own, and Equiv chains."""
    builder = found.marks
    for name, document, coder in _placed(source):
        part = source.member(name)
        said = _parse(decoded(part.data, part.name))
        text = _text(source, name)
        builder.document(document, coder, text)
        for note in sorted(said.notes):
            builder.note(note)
        chains = _chains(said)
        for key, (label, start, end) in said.marks.items():
            builder.add(Span(document, coder, "type", start, end, label, chains.get(key, "")))
        for attribute, key, value in said.attributes:
            if key in said.marks:
                _, start, end = said.marks[key]
                builder.add(Span(document, coder, attribute, start, end, value))


def _placed(source: Source) -> Iterator[tuple[str, str, str]]:
    """Path, document and coder of each file; the outermost folder that differs is the coder."""
    assert source.inside is not None
    paths = {name: name.split("/") for name in source.inside.ending(".ann")}
    while len({path[0] for path in paths.values()}) == 1 and min(map(len, paths.values())) > 2:
        paths = {name: path[1:] for name, path in paths.items()}
    flat = {name: path[-1].removesuffix(".ann") for name, path in paths.items()}
    if all(len(path) < 2 for path in paths.values()):
        placed = by_document({stem: _text(source, name) for name, stem in flat.items()})
        if placed:
            yield from ((name, *placed[stem]) for name, stem in flat.items())
            return
    if any(len(path) < 2 for path in paths.values()):
        what = "brat writes no names of coders into its files, and these lie in no folder of one."
        remedy = "Lay them out as coder/document.ann, or call them document_coder.ann."
        raise AnnotationError(Problem(what, source.name, remedy))
    for name, path in paths.items():
        yield name, "/".join(path[1:]).removesuffix(".ann"), path[0]


def _text(source: Source, name: str) -> str:
    assert source.inside is not None
    beside = name.removesuffix(".ann") + ".txt"
    if beside not in source.inside.names:
        return ""
    data = source.inside.read(beside)
    return decoded(data, f"{source.name}/{beside}") if data else ""


def _parse(text: str) -> _File:
    said = _File()
    for line in text.splitlines():
        mark, attribute, link = _MARK.match(line), _ATTRIBUTE.match(line), _LINK.match(line)
        if mark:
            numbers = [int(n) for n in re.findall(r"\d+", mark.group(3))]
            said.marks[mark.group(1)] = (mark.group(2), numbers[0], numbers[-1])
            if len(numbers) > 2:
                said.notes.add("Discontinuous spans are read from their first to their last part.")
        elif attribute:
            name, key, value = attribute.groups()
            said.attributes.append((name, key, value or "true"))
        elif link:
            said.same.append([link.group(2), link.group(3)])
        elif line.startswith("*\tEquiv "):
            said.same.append(line.removeprefix("*\tEquiv ").split())
        elif line.startswith("T"):
            said.notes.add("Lines that name no place are left out.")
    return said


def _chains(said: _File) -> dict[str, str]:
    """Name of the chain of each mention that was linked to another."""
    groups = [[key for key in group if key in said.marks] for group in said.same]
    links = [(keys[0], key) for keys in groups for key in keys[1:]]
    nodes = dict.fromkeys(key for link in links for key in link)
    return {key: min(chain) for chain in components(nodes, links) for key in chain}
