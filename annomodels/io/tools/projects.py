"""INCEpTION and WebAnno projects: WebAnno TSV 3 and UIMA CAS."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annomodels.data.validation import some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.border import Members, check_xml, decoded, guarded, library, open_zip
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.span_builder import GOLD, to_code_points

_NOT_CODERS = frozenset(("INITIAL_CAS", "TypeSystem", "project", "exportedproject"))
_CURATED = "CURATION_USER"
_FINAL = {"curation_user", "curator", "curation", "curated", "gold"}

# (document, coder, bytes, path, files next to it)
Part = tuple[str, str, bytes, str, Members]


def parts_of(source: Source, *endings: str) -> Iterator[Part]:
    """Yield project files: ``annotation/<document>/<coder>.tsv``, ``curation/<document>/...``."""
    if source.inside is None:
        yield "document", source.stem, source.data, source.name, Members(source.name)
        return
    outer = source.inside
    wanted = [
        name
        for name in outer.names
        if _stem(name) not in _NOT_CODERS and name.lower().endswith((*endings, ".zip"))
    ]
    if unread(outer) and not any(_side(name) == "annotation" for name in wanted):
        raise AnnotationError(export_again(source.name, outer, curated=bool(wanted)))
    sides = {name: _side(name) for name in wanted}
    if any(side == "annotation" for side in sides.values()):
        wanted = [name for name in wanted if sides[name]]
    if len(wanted) > 1 and not any("/" in name or name.endswith(".zip") for name in wanted):
        for name in wanted:  # files of one document, named after their coders
            coder = GOLD if _stem(name).casefold() in _FINAL else _stem(name)
            yield "document", coder, outer.read(name), f"{source.name}/{name}", outer
        return
    is_project = "annotation" in sides.values()
    swapped = not is_project and _are_coders(outer, [name for name in wanted if "/" in name])
    for name in wanted:
        path = name.split("/")
        if len(path) < 2:
            what = f"The file {name!r} is not in the folder of a document."
            remedy = "Arrange the files as document/coder, as the project export does."
            raise AnnotationError(what, source.name, remedy)
        document, coder = (_stem(name), path[-2]) if swapped else (path[-2], _stem(name))
        is_final = sides[name] == "curation" or (swapped and coder.casefold() in _FINAL)
        if is_final or coder == _CURATED:
            coder = GOLD
        if not name.lower().endswith(".zip"):
            yield document, coder, outer.read(name), f"{source.name}/{name}", outer
            continue
        inner = open_zip(outer.read(name), f"{source.name}/{name}")
        for part in inner.ending(*endings):
            if _stem(part) != "TypeSystem":
                yield document, coder, inner.read(part), f"{source.name}/{name}/{part}", inner


_TEXTS = re.compile(rb'^#Text=.*$|sofaString"? ?[=:] ?"[^"]*', re.MULTILINE)


def _are_coders(files: Members, names: Sequence[str]) -> bool:
    """Return True if folders are coders: files share texts across folders, but not within one.

    Files in a single folder are documents of one coder if their texts differ.
    """
    by_name: dict[str, list[tuple[bytes, ...]]] = {}
    by_folder: dict[str, list[tuple[bytes, ...]]] = {}
    for name in names:
        folder, _, last = name.rpartition("/")
        text = tuple(_TEXTS.findall(files.read(name)))
        by_name.setdefault(last, []).append(text)
        by_folder.setdefault(folder, []).append(text)
    same = all(len(set(texts)) == 1 and texts[0] for texts in by_name.values())
    apart = all(len(set(texts)) == len(texts) for texts in by_folder.values())
    several = len(by_name) < len(names) or len(by_folder) == 1 < len(names)
    return same and apart and several


def unread(files: Members) -> list[str]:
    """Return coder files of a project export that cannot be read: binary, or plain text."""
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


def export_again(source: str, files: Members, *, curated: bool = False) -> Problem:
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
    return Problem(what, source, remedy, code="unread-project")


def _stem(name: str) -> str:
    last = name.rsplit("/", 1)[-1]
    return last.rsplit(".", 1)[0]


def _side(name: str) -> str:
    return next((part for part in name.split("/") if part in ("annotation", "curation")), "")


# -- WebAnno TSV 3: spans and chains on tokens, one file per document and coder --------------------


_FIRST = "#FORMAT=WebAnno TSV 3."
_ROW = re.compile(r"^(\d+)-(\d+(?:\.\d+)?)\t(\d{1,9})-(\d{1,9})\t")
_NUMBER = re.compile(r"(?<!\\)\[(\d+)\]$")
_LINK = re.compile(r"->(\d+)-(\d+)$")
_ESCAPE = re.compile(r"\\(->|[\\\[\]|_;*nt])")
_SIGNS = {"n": "\n", "t": "\t"}


def is_webanno(source: Source, options: Options) -> bool:
    if source.inside is None:
        return source.kind == "delimited" and source.text.startswith(_FIRST)
    if not source.inside.ending(".tsv", ".zip"):
        return False
    try:
        return any(
            data.lstrip(b"\xef\xbb\xbf").startswith(_FIRST.encode())
            for _, _, data, _, _ in parts_of(source, ".tsv")
        )
    except AnnotationError:
        return any(source.inside.read(n).startswith(b"#FORMAT") for n in source.inside.names[:5])


@dataclass(frozen=True)
class _Column:
    """A column after the token: a span feature, or one of the two columns of a chain."""

    question: str
    kind: str  # "T_SP", "T_CH" or "T_RL"
    is_relation: bool = False
    beside: int = 1  # offset to the relation column of a chain


def read_webanno(found: Records) -> None:
    for document, coder, data, where, _ in parts_of(found.source, ".tsv"):
        text = decoded(data, where)
        if text.startswith(_FIRST):
            _read(text, document, coder, found)
        else:
            found.note("Files that are not WebAnno TSV 3 are left out.")


def _columns(lines: Sequence[str]) -> list[_Column]:
    columns = []
    for line in lines:
        kind = line[1:5]
        if kind not in ("T_SP", "T_CH", "T_RL"):
            continue
        layer, *features = line[6:].split("|")
        name = layer.rsplit(".", 1)[-1]
        if kind == "T_CH":
            # The relation may come before the type, as in WebAnno, or after it.
            is_first = features[:1] == ["referenceRelation"]
            question = f"{name}.{(features[is_first:] or ['type'])[0]}"
            both = [_Column(question, kind, beside=-1 if is_first else 1)]
            both.insert(0 if is_first else 1, _Column(name, kind, is_relation=True))
            columns += both
            continue
        names = [f"{name}.{feature}" if feature else name for feature in features or [""]]
        columns += [_Column(question, kind) for question in names]
    return columns


def _read(text: str, document: str, coder: str, records: Records) -> None:
    lines = text.replace("\r\n", "\n").split("\n")
    columns = _columns([line for line in lines if line.startswith("#T_")])
    sentences = Sentences()
    # Parts of one span share a key: the number in brackets, or else the row.
    found: dict[tuple[str, str], tuple[int, int, str, str]] = {}
    for line in lines:
        if line.startswith("#Text="):
            sentences.begin(_plain(line[6:]))
            continue
        row = _ROW.match(line)
        if not row:
            continue
        begin, end = int(row.group(3)), int(row.group(4))
        token, *cells = line[row.end() :].split("\t")
        start, stop = sentences.place(begin, end, _plain(token), is_token="." not in row.group(2))
        for n, (column, cell) in enumerate(zip(columns, cells, strict=False)):
            if column.kind == "T_RL" or column.is_relation or cell in ("_", ""):
                continue
            beside = [*cells, ""][n + column.beside] if column.kind == "T_CH" else None
            for key, label, chain in _marks(cell, beside, row.group(0)):
                known = found.get((column.question, key), (start, stop, label, chain))
                place = min(known[0], start), max(known[1], stop)
                found[column.question, key] = (*place, known[2], known[3])
    records.document(document, coder, sentences.text, sentences.tokens)
    for (question, _), (start, stop, label, chain) in found.items():
        records.mark(document, coder, question, (start, stop), label, chain)


def _split(cell: str) -> list[str]:
    return re.split(r"(?<!\\)\|", cell)


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda found: _SIGNS.get(found.group(1), found.group(1)), text)


def _marks(cell: str, beside: str | None, row: str) -> Iterator[tuple[str, str, str]]:
    """Yield key, label and chain of the spans in a cell; ``*`` is a span without a value.

    The number in brackets identifies the span or, if the next cell numbers links, the chain.
    """
    links = [] if beside is None else _split(beside)
    for n, value in enumerate(_split(cell)):
        number = _NUMBER.search(value)
        label = value[: number.start()] if number else value
        link = _LINK.search(links[n]) if n < len(links) else None
        if beside is not None:
            chain = number[1] if number else link[1] if link else ""
            yield (f"{chain}-{link[2]}" if link else f"{row}{n}"), _plain(label), chain
        elif label != "_":
            yield (f"[{number[1]}]" if number else f"{row}{n}"), _plain(label), ""


_LONGEST_GAP = 10_000_000  # maximum number of characters between sentences


class Sentences:
    def __init__(self) -> None:
        self.tokens: list[tuple[int, int]] = []
        self._parts: list[str] = []
        self._length = 0
        self._wide = 0  # characters of two UTF-16 units in earlier sentences
        self._sentence = ""
        self._places: list[int] = []
        self._unit: int | None = None  # start of the sentence in UTF-16 units
        self._point = 0

    def begin(self, text: str) -> None:
        self._wide += len(self._places) - 1 - len(self._sentence) if self._places else 0
        self._sentence, self._places, self._unit = text, to_code_points(text), None

    def place(self, begin: int, end: int, token: str, is_token: bool) -> tuple[int, int]:
        """Convert the file offsets of a token, or of a part of one, to positions in the text."""
        if self._unit is None:
            before = max(self._sentence.find(token), 0)
            self._unit = begin - before
            self._point = max(self._unit - self._wide, 0)
            gap = self._point - self._length
            if 0 <= gap <= _LONGEST_GAP:
                self._parts += [" " * gap, self._sentence]
                self._length += gap + len(self._sentence)
        start, stop = (self._point + self._within(unit) for unit in (begin, end))
        if is_token:
            self.tokens.append((start, stop))
        return start, stop

    def _within(self, unit: int) -> int:
        """Return the number of code points from the sentence start to a UTF-16 unit."""
        local = unit - (self._unit or 0)
        if 0 <= local < len(self._places):
            return self._places[local]
        return max(local, 0)

    @property
    def text(self) -> str:
        return "".join(self._parts)


# -- UIMA CAS as XMI or JSON -----------------------------------------------------------------------


_TYPES = "TypeSystem.xml"
_STRUCTURE = {
    *("Token", "Sentence", "Paragraph", "Heading", "Div", "Document", "DocumentAnnotation"),
    *("DocumentMetaData", "TagsetDescription", "Annotation", "CASMetadata", "FeatureDefinition"),
    "LayerDefinition",
}
_PLAIN = frozenset(f"uima.cas.{kind}" for kind in ("String", "Boolean", "Integer", "Long", "Float"))
_PLACES = ("begin", "end", "sofa")


def is_cas(source: Source, options: Options) -> bool:
    if source.inside is None:
        if source.kind == "xml":
            return "<xmi:XMI" in source.text[:4000]
        return any("%FEATURE_STRUCTURES" in record for record in source.sample)
    names = source.inside.names
    has_types = any(name.rsplit("/", 1)[-1] == _TYPES for name in names)
    packed = any(
        name.lower().endswith(".zip") and {"annotation", "curation"} & set(name.split("/"))
        for name in names
    )
    return has_types or bool(source.inside.ending(".xmi")) or packed


def read_cas(found: Records) -> None:
    """Read spans of all layers, and chains; cassis converts UTF-16 units to code points."""
    for document, coder, data, where, beside in parts_of(found.source, ".xmi", ".json"):
        if where.endswith(".json") and b"%FEATURE_STRUCTURES" not in data:
            continue
        outer = beside if _types_in(beside) else found.source.inside or beside
        cas = _load(data, where, outer, found)
        _take(cas, document, coder, found)


def _types_in(members: Members) -> str | None:
    found = [name for name in members.names if name.rsplit("/", 1)[-1] == _TYPES]
    return min(found, key=len) if found else None


def _load(data: bytes, where: str, beside: Members, found: Records) -> Any:
    cassis = library("cassis", "dkpro-cassis", "A UIMA CAS")
    types = _types_in(beside)
    is_json = data.lstrip()[:1] == b"{"
    if not is_json:
        check_xml(data, where)
        if types is None:
            what = f"The type system of the CAS ({_TYPES}) is not next to it."
            remedy = "Give the folder or the zip archive that holds both, as exported."
            raise AnnotationError(what, where, remedy, code="no-type-system")
    with guarded(where, "CAS"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        if is_json:
            cas = cassis.load_cas_from_json(data.decode())
        else:
            definitions = beside.read(str(types))
            check_xml(definitions, f"{beside.name}, {types}")
            system = cassis.load_typesystem(io.BytesIO(definitions))
            cas = cassis.load_cas_from_xmi(io.BytesIO(data), typesystem=system, lenient=True)
    if said:
        found.note("Types missing from the type system are left out.")
    return cas


def _take(cas: Any, document: str, coder: str, found: Records) -> None:
    try:
        every = list(cas.select_all_fs())
        text = cas.sofa_string or ""
        tokens = [(t.begin, t.end) for t in every if _short(t) == "Token"]
        found.document(document, coder, text, [t for t in tokens if None not in t])
        chains = _chains(every)
        for mark in every:
            if _short(mark) in _STRUCTURE or not hasattr(mark, "begin"):
                continue
            start, end = mark.begin, mark.end
            if not isinstance(start, int) or not isinstance(end, int):
                continue
            chain = chains.get(id(mark), "")
            for question, label in _answers(mark, bool(chain)):
                found.mark(document, coder, question, (start, end), label, chain)
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        what = "The CAS holds references that lead nowhere."
        raise AnnotationError(what, document, "Export it again.") from error


def _short(mark: Any) -> str:
    return str(mark.type.name).rsplit(".", 1)[-1]


def _answers(mark: Any, in_chain: bool) -> Iterator[tuple[str, str]]:
    """Return question and label of each feature with a value, or ``*`` without features."""
    features = [
        feature
        for feature in mark.type.all_features
        if feature.name not in _PLACES and feature.rangeType.name in _PLAIN
    ]
    if in_chain:
        features = [feature for feature in features if feature.name == "referenceType"]
    answers = [(f"{_short(mark)}.{f.name}", getattr(mark, f.name, None)) for f in features]
    said = [(question, str(label)) for question, label in answers if label is not None]
    if not features or (in_chain and not said):
        said = [(f"{_short(mark)}.{features[0].name}" if features else _short(mark), "*")]
    return iter(said)


def _chains(every: Iterable[object]) -> dict[int, str]:
    """Return the chain number of each mention by following the links of each chain."""
    found: dict[int, str] = {}
    heads = [mark for mark in every if _short(mark).endswith("Chain") and hasattr(mark, "first")]
    for number, head in enumerate(heads, 1):
        link = head.first
        while link is not None and id(link) not in found:
            found[id(link)] = str(number)
            link = getattr(link, "next", None)
    return found
