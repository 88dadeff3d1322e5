"""XML from strangers: refused when it declares entities, which can fill memory or read files."""

from __future__ import annotations

from xml.parsers import expat

from annomodels.errors import AnnotationError, Problem

__all__ = ["check_xml"]


def check_xml(data: bytes, source: str) -> None:
    """Make sure that a text is well-formed XML without a document type.

    Annotation tools never write one; entities, and with them expansion bombs and references to
    other files, can be declared nowhere else.

    Raises
    ------
    AnnotationError
        When it is no XML, or declares a document type.

    Examples
    --------
    >>> check_xml(b"<a><b/></a>", "a.xmi")
    """
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        what = "The XML declares a document type, as no annotation tool does."
        remedy = "Do not trust this file; ask for another export."
        raise AnnotationError(Problem(what, source, remedy))

    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = f"This is not well-formed XML: {expat.errors.messages[error.code]}."
        where = f"{source}, row {error.lineno}"
        raise AnnotationError(Problem(what, where, "Export it again.")) from error
    except (ValueError, LookupError) as error:  # an encoding that expat does not know
        what = f"This XML cannot be decoded: {error}."
        raise AnnotationError(Problem(what, source, "Export it as UTF-8.")) from error
