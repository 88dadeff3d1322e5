"""UIMA CAS as XMI or JSON, through dkpro-cassis."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from annomodels.errors import AnnotationError, Problem
from annomodels.io.archives import Members
from annomodels.io.border import needs
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tools.projects import parts_of
from annomodels.io.xmlsafe import check_xml

_TYPES = "TypeSystem.xml"
_STRUCTURE = {
    *("Token", "Sentence", "Paragraph", "Heading", "Div", "Document", "DocumentAnnotation"),
    *("DocumentMetaData", "TagsetDescription", "Annotation", "CASMetadata", "FeatureDefinition"),
    "LayerDefinition",
}
_PLAIN = frozenset(f"uima.cas.{kind}" for kind in ("String", "Boolean", "Integer", "Long", "Float"))
_PLACES = ("begin", "end", "sofa")


def is_cas(source: Source, options: Options) -> bool:
    """Whether it is XML with the root ``xmi:XMI``, a CAS as JSON, or a folder with such files."""
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
    """Spans of all layers, and chains; cassis turns UTF-16 units into code points."""
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
    try:
        import cassis
    except ImportError:
        raise needs("dkpro-cassis", "A UIMA CAS") from None
    types = _types_in(beside)
    is_json = data.lstrip()[:1] == b"{"
    if not is_json:
        check_xml(data, where)
        if types is None:
            what = f"The type system of the CAS ({_TYPES}) is not beside it."
            remedy = "Give the folder or the zip archive that holds both, as exported."
            raise AnnotationError(Problem(what, where, remedy))
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            if is_json:
                cas = cassis.load_cas_from_json(data.decode())
            else:
                definitions = beside.read(str(types))
                check_xml(definitions, f"{beside.name}, {types}")
                system = cassis.load_typesystem(io.BytesIO(definitions))
                cas = cassis.load_cas_from_xmi(io.BytesIO(data), typesystem=system, lenient=True)
    except AnnotationError:
        raise
    except Exception as error:  # the library raises whatever its parsers met
        first = (str(error).splitlines() or [""])[0]
        what = f"The CAS cannot be read: {type(error).__name__} {first}".rstrip() + "."
        raise AnnotationError(Problem(what, where, "Export it again.")) from error
    if said:
        found.note("Types missing from the type system are left out.")
    return cas


def _take(cas: Any, document: str, coder: str, found: Records) -> None:
    """Take the spans of a CAS: a question for each feature of each layer."""
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
        raise AnnotationError(Problem(what, document, "Export it again.")) from error


def _short(mark: Any) -> str:
    return str(mark.type.name).rsplit(".", 1)[-1]


def _answers(mark: Any, in_chain: bool) -> Iterator[tuple[str, str]]:
    """Question and label of each feature that says something; a bare mark says ``*``."""
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


def _chains(every: Iterable[Any]) -> dict[int, str]:
    """Give the number of the chain of each mention: from its first link on to the last."""
    found: dict[int, str] = {}
    heads = [mark for mark in every if _short(mark).endswith("Chain") and hasattr(mark, "first")]
    for number, head in enumerate(heads, 1):
        link = head.first
        while link is not None and id(link) not in found:
            found[id(link)] = str(number)
            link = getattr(link, "next", None)
    return found
