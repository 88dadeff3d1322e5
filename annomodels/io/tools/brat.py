"""brat: standoff annotations next to the texts, one folder per coder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from annomodels.data.layers import components
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError
from annomodels.io.records import KEPT, Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.grids import by_document

_MARK = re.compile(r"(T\S+)\t(\S+) (\d{1,9} \d{1,9}(?:;\d{1,9} \d{1,9})*)(?:\t(.*))?$")
_ATTRIBUTE = re.compile(r"[AM]\d+\t(\S+) (T\S+)(?: (.+))?$")
_RELATION = re.compile(r"R\S+\t(\S+) \S+?:(\S+) \S+?:(\S+)\s*$")
_EQUIV = re.compile(r"\*\t(\S+) (.+)$")


class Mark(NamedTuple):
    line: int
    name: str
    label: str
    pieces: tuple[tuple[int, int], ...]
    text: str | None


@dataclass
class Standoff:
    """Spans and links of an .ann file, and lines that look like one but are malformed."""

    marks: list[Mark] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    links: list[tuple[int, str, list[str]]] = field(default_factory=list)
    unread: list[tuple[int, str]] = field(default_factory=list)


def standoff(text: str) -> Standoff:
    said = Standoff()
    for line, row in enumerate(text.split("\n"), 1):
        row = row.rstrip("\r")
        if found := _MARK.match(row):
            name, label, offsets, marked = found.groups()
            numbers = list(map(int, re.findall(r"\d+", offsets)))
            pieces = tuple(zip(numbers[::2], numbers[1::2], strict=True))
            said.marks.append(Mark(line, name, label, pieces, marked))
        elif found := _ATTRIBUTE.match(row):
            said.attributes.append((found[1], found[2], found[3] or "true"))
        elif found := _RELATION.match(row):
            said.links.append((line, found[1], [found[2], found[3]]))
        elif found := _EQUIV.match(row):
            said.links.append((line, found[1], found[2].split()))
        elif row.startswith(("T", "R", "*")):
            said.unread.append((line, row))
    return said


def is_brat(source: Source, options: Options) -> bool:
    return source.inside is not None and bool(source.inside.ending(".ann"))


def read_brat(found: Records) -> None:
    """Read spans with their types, attributes as separate questions, and Equiv chains."""
    relations = 0
    for name, document, coder in _placed(found.source):
        said = standoff(found.source.member(name).text)
        found.document(document, coder, _text(found.source, name))
        marks = {mark.name: mark for mark in said.marks}
        same = [
            names for _, kind, names in said.links if kind == "Equiv" or "coref" in kind.lower()
        ]
        groups = [[one for one in names if one in marks] for names in same]
        links = [(names[0], one) for names in groups for one in names[1:]]
        nodes = dict.fromkeys(one for link in links for one in link)
        chains = {one: min(chain) for chain in components(nodes, links) for one in chain}
        types = [("type", mark.name, mark.label) for mark in said.marks]
        for question, one, label in [*types, *said.attributes]:
            if one in marks:
                place = marks[one].pieces[0][0], marks[one].pieces[-1][1]
                is_type = question == "type"
                found.attributes |= {} if is_type else {question: None}
                chain, quote = (chains.get(one, ""), marks[one].text) if is_type else ("", None)
                found.mark(document, coder, question, place, label, chain, quote)
        relations += sum(kind != "Equiv" for _, kind, _ in said.links)
        if any(len(mark.pieces) > 1 for mark in said.marks):
            found.note("Discontinuous spans are read from their first to their last part.")
        if any(row.startswith("T") for _, row in said.unread):
            found.note("Lines that do not name a place are left out.")
    if relations:
        found.note(KEPT.format(counted(relations, "relation")))


def _placed(source: Source) -> Iterator[tuple[str, str, str]]:
    """Yield path, document and coder; the outermost folder that differs names the coder."""
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
        what = "brat does not save coder names, and these files are not in one folder per coder."
        remedy = "Arrange them as coder/document.ann, or name them document_coder.ann."
        raise AnnotationError(what, source.name, remedy, code="no-coders")
    for name, path in paths.items():
        yield name, "/".join(path[1:]).removesuffix(".ann"), path[0]


def _text(source: Source, name: str) -> str:
    assert source.inside is not None
    beside = name.removesuffix(".ann") + ".txt"
    return source.member(beside).text if beside in source.inside else ""
