"""Read documents with coreference from files, and merge all coders."""

from __future__ import annotations

import os
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from annomodels.data.document import Document
from annomodels.errors import AnnotationError, Option, Problem, raise_all
from annomodels.io.border import Members, checked_path, collected, guarded, open_members, shown
from annomodels.io.coref.parts import (
    ChainFrom,
    CorefOptions,
    Crossing,
    DocumentPart,
    aligned,
    by_kind,
    check_linked,
)
from annomodels.io.tables.grids import by_document
from annomodels.io.tables.options import check_choice, named

Paths = str | os.PathLike[str]


@dataclass(frozen=True)
class CorefFormat:
    """Coreference format; ``read_name`` in ``coref/home.py`` reads it."""

    name: str
    title: str
    home: str
    matches: Callable[[Members, str], bool]
    names_documents: bool = True

    def read(
        self, files: Members, name: str, coder: str, unnamed: str, options: CorefOptions
    ) -> list[DocumentPart]:
        module = import_module(f"annomodels.io.coref.{self.home}")
        read = getattr(module, f"read_{self.name}")
        parts: list[DocumentPart] = read(files, name, coder, unnamed, options)
        return parts


def _ends(*endings: str) -> Callable[[Members, str], bool]:
    return lambda files, name: name.lower().endswith(endings)


def _is_corefud(files: Members, name: str) -> bool:
    start = files.head(name, 20_000)
    return "# global.Entity" in start or bool(
        re.search(r"^\d+(\t[^\t\n]*){8}\t.*Entity=", start, re.MULTILINE)
    )


def _is_chain_table(files: Members, name: str) -> bool:
    start = files.head(name, 400).split("\n")[0]
    columns = {column.strip() for column in re.split(r"[,;\t]", start)}
    return {"item", "chain"} <= columns or {"item", "coder", "label"} <= columns


_LINES = (".jsonl", ".jsonlines", ".jsonl.gz", ".jsonlines.gz")
FORMATS: tuple[CorefFormat, ...] = (
    CorefFormat("mmax2", "MMAX2 project (.mmax and its XML files)", "mmax", _ends(".mmax"), False),
    CorefFormat("brat", "brat standoff (.ann beside .txt)", "standoff", _ends(".ann"), False),
    CorefFormat("jsonlines", "JSON lines with sentences and clusters", "lists", _ends(*_LINES)),
    CorefFormat(
        "conll", "CoNLL-2012", "brackets", lambda f, name: "#begin document" in f.head(name, 4000)
    ),
    CorefFormat("corefud", "CorefUD (CoNLL-U)", "brackets", _is_corefud),
    CorefFormat("chains", "long table of items, coders and chains", "lists", _is_chain_table),
)
_PROJECT = "INCEpTION or WebAnno project (WebAnno TSV 3 or UIMA CAS)"
PROJECT = CorefFormat("inception", _PROJECT, "standoff", lambda files, name: False, False)
"""Format that is detected and read as a folder or archive, not file by file."""
PROJECT_ENDINGS = (".tsv", ".xmi", ".zip")
ENDINGS = {"_conll": "conll", ".conll": "conll", ".conllu": "corefud"}
"""Formats by file ending for files that match no format, so that a reader reports why."""


def read(
    paths: Paths | Iterable[Paths] | Mapping[str, Paths | Iterable[Paths]],
    *,
    format: str = "auto",
    coder: str | None = None,
    encoding: str | None = None,
    crossing: Crossing = "error",
    relations: Iterable[str] = (),
    chain_from: ChainFrom = "relations",
    attributes: Mapping[str, str] | None = None,
    genre: Callable[[str], str | None] | None = None,
) -> list[Document]:
    r"""Read documents with coreference, and combine the layers of all coders.

    =============  ===========================================================================
    format         what
    =============  ===========================================================================
    ``conll``      CoNLL-2012; the last column holds the brackets
    ``corefud``    CoNLL-U with ``Entity=``; mentions with gaps, heads, split antecedents
    ``mmax2``      a project file (.mmax), its words, markables and common_paths.xml
    ``brat``       .ann beside .txt; clusters from relations, or from labels
    ``jsonlines``  sentences and clusters of [first, last]; gaps as [[first, last], ...]
    ``chains``     a table of item, coder, chain (or label), as ezCoref exports it
    ``inception``  a project of INCEpTION or WebAnno, in WebAnno TSV 3 or UIMA CAS
    =============  ===========================================================================

    Mentions of two coders are the same if they have the same words; coders must have the same text.

    Parameters
    ----------
    paths
        One or several files, folders or zip archives, or a mapping from coders to them. Without a
        mapping, the coder is the file name. It is the folder name if file names repeat, or if the
        format does not name documents.
    format
        A name from the table, or "auto".
    coder
        Name of the only coder.
    encoding
        Encoding of the text; UTF-8, or UTF-16 with its mark, by default.
    crossing
        "error" or "keep" for brackets that cross in CoNLL-2012.
    relations
        Names of brat relations that mean coreference; by default Coref, Coreference, Ident,
        Identity and Equiv. For an INCEpTION project with several
        layers of chains, the layer to read.
    chain_from
        What makes chains in brat: "relations", or the "label" of each mention, such as Anne-8.
        If some labels end in numbers, labels without a number (PROP_PER) do not name chains.
    attributes
        Attributes of MMAX2 markables: "set" (coref_class), "pointer" (antecedent), "category",
        "head" (id of a word), "near" (near-identity pointers) and "dominating".
    genre
        Function from document name to text type; overrides the text types in the files.

    Returns
    -------
    list of Document
        In file order, each with its coders and with ``notes``, for example on mentions that not
        all coders marked.

    Raises
    ------
    AnnotationError
        With all problems of a file at once, each with its line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = "#begin document (t); part 000\nAna (1)\nsaid -\nshe {}\n\n#end document\n"
    >>> for coder, brackets in (("ana", "(1)"), ("ben", "(2)")):
    ...     _ = (folder / f"{coder}.conll").write_text(rows.format(brackets))
    >>> read(folder)
    [Document t: 3 words, 2 coders, 2 mentions]
    """
    check_choice("crossing", crossing, "error", "keep")
    check_choice("chain_from", chain_from, "relations", "label")
    if isinstance(relations, str):
        relations = [relations]
    options = CorefOptions(
        encoding, crossing, frozenset(relations), dict(attributes or {}), chain_from
    )
    parts: list[DocumentPart] = []
    problems: list[Problem] = []
    for unit in _units(paths, format, coder):
        with collected(problems, unit.files.where(unit.name)):
            parts += unit.form.read(unit.files, unit.name, unit.coder, unit.document, options)
    raise_all(by_kind(problems))
    check_linked(parts)
    documents = aligned(parts)
    if genre is not None:
        documents = [replace(document, genre=genre(document.id)) for document in documents]
    return documents


@dataclass
class _Unit:
    files: Members
    name: str
    form: CorefFormat
    coder: str = ""
    document: str = ""


def _units(paths: object, format: str, coder: str | None) -> list[_Unit]:
    if isinstance(paths, Mapping):
        pairs = paths.items()
        return [unit for name, given in pairs for unit in _units(given, format, str(name))]
    form = (
        None
        if format == "auto"
        else named(format, {form.name: form for form in (*FORMATS, PROJECT)})
    )
    units: list[_Unit] = []
    is_one = isinstance(paths, (str, os.PathLike))
    for path in paths if isinstance(paths, Iterable) and not is_one else [paths]:
        name = checked_path(path)
        with guarded(shown(name)):
            units += _found(name, form)
    if not units:
        raise AnnotationError("No files were given.", remedy="Give at least one.")
    names = Counter(posixpath.basename(unit.name) for unit in units)
    repeated = max(names.values()) > 1
    for unit in units:
        stem = posixpath.basename(unit.name).split(".")[0] or "text"
        by_folder = repeated or not unit.form.names_documents
        unit.coder = coder or (_folder(unit) if by_folder else stem)
        unit.document = stem if coder or by_folder else "text"
        if unit.form is PROJECT:
            unit.coder, unit.document = coder or "", ""
    if coder is None and not repeated and all(unit.form.name == "brat" for unit in units):
        beside = {unit.document: (unit.files, unit.name[:-4] + ".txt") for unit in units}
        texts = {name: files.text(text) for name, (files, text) in beside.items() if text in files}
        placed = by_document(texts) if len(texts) == len(units) > 1 else {}
        for unit in units if placed else ():
            unit.document, unit.coder = placed[unit.document]
    return units


def _folder(unit: _Unit) -> str:
    """Return the folder that contains a file or project: the first below the given one."""
    inside = posixpath.dirname(unit.name)
    if inside:
        return inside.split("/")[0]
    root = Path(unit.files.name)
    return (
        root.name if root.is_dir() or root.suffix == ".zip" else root.resolve().parent.name
    ) or "coder"


def _found(path: str | os.PathLike[str], form: CorefFormat | None) -> list[_Unit]:
    place = Path(path)
    files = open_members(path)
    names = files.names
    if form is PROJECT or (form is None and _is_project(files)):
        return [_Unit(files, names[0], PROJECT)]
    if place.is_file() and place.suffix in (".mmax", ".ann"):
        files = open_members(place.parent)  # the project files are in its folder
        names = (place.name,)
    chosen = [form] if form is not None else FORMATS
    units = []
    for name in names:
        # read a single file as the given format
        fits = (f for f in chosen if (form is f and len(names) == 1) or f.matches(files, name))
        found = next(fits, None)
        if found is None and form is None:
            ending = next((known for end, known in ENDINGS.items() if name.endswith(end)), "")
            found = next((f for f in FORMATS if f.name == ending), None)
        if found is not None:
            units.append(_Unit(files, name, found))
    if not units:
        titles = ", ".join(f"{f.name} ({f.title})" for f in (*FORMATS, PROJECT))
        what = "The format was not recognised."
        raise AnnotationError(what, str(path), f"Use {Option('format', ...)}: {titles}.")
    return units


def _is_project(files: Members) -> bool:
    if not any(name.lower().endswith(PROJECT_ENDINGS) for name in files.names):
        return False
    from annomodels.io.formats import FORMATS as TOOLS
    from annomodels.io.source import Options as Nothing
    from annomodels.io.source import Source

    source = Source(files.name)
    return any(f.fits(source, Nothing()) for f in TOOLS if f.name in ("webanno", "cas"))
