"""XML from strangers: no entities, which can fill memory or read files, and no other surprises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.parsers import expat

from annomodels.errors import AnnotationError

_ENTITIES = ("EntityDecl", "UnparsedEntityDecl", "ExternalEntityRef", "SkippedEntity")


@dataclass
class Element:
    """One element, without its place in the tree."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    text: str = ""


def check_xml(data: bytes, source: str) -> None:
    """Make sure that a text is well-formed XML without a document type."""

    def refuse(*_: object) -> None:
        what = "The XML declares a document type, as no annotation tool does."
        remedy = "Do not trust this file; ask for another export."
        raise AnnotationError(what, source, remedy, code="document-type")

    _parse(expat.ParserCreate(), data, source, StartDoctypeDeclHandler=refuse)


def elements(data: bytes, source: str) -> list[Element]:
    """All elements in the order in which they begin."""
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
    except AnnotationError:  # a ValueError too
        raise
    except (LookupError, ValueError) as error:  # an encoding that expat does not know
        what = f"The encoding that the XML declares cannot be read: {error}."
        raise AnnotationError(what, source, "Save it as UTF-8.") from error
