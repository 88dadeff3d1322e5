"""Recognized files without labels of individual coders, and what to provide instead."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.objects import paths_in
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import matched
from annomodels.io.tables.matrix import counts_in, counts_problem
from annomodels.io.tables.questions import has_markup, no_coders, tag_in

_FILE = Path(__file__).parents[1] / "refused.toml"
_ROWS = 200  # rows that are inspected
_TEXT = 100_000  # characters that are inspected
_RECORDS, _PATHS = 3, 5_000  # JSON records, and fields in them, that are inspected
REGIONS = (
    "Regions of images are not read: regions of two coders must be matched first. Match them in an "
    "image program and give a table with item (the region), coder, label"
)


NO_CODERS = (  # problem and remedy
    "doccano wrote no names of coders into this export, because the project shares its labels "
    "among all members.",
    "In doccano, switch off 'Share annotations across all users' in the project and export again: "
    "the zip archive then holds one file for each coder. Or give a folder with one file for each.",
)


class Refused(AnnotationError):
    """A recognized file that has no labels of coders, however its columns are named."""


def refuse(source: Source, options: Options) -> None:
    looks = {"folder": [_project], "xml": [], "json": [_doccano, _patterns, _counts, _marked]}
    for look in (_known, *looks.get(source.shape, (_report, _patterns, _counts, _marked))):
        found = look(source, options)
        if found is not None:
            if isinstance(found, Problem):
                raise Refused(found)
            what, remedy, code = found
            raise Refused(what, source.name, remedy, code=code)


Refusal = Problem | tuple[str, str, str] | None


def _doccano(source: Source, options: Options) -> Refusal:
    """Recognize a single doccano file, which does not name the coders."""
    if options.coder is not None:
        return None
    own = [record for record in source.sample if labeled(record)]
    lists = [r for r in own if isinstance(r.get("label", r.get("entities")), list)]
    if not lists or any(matched(list(record))["coder"] for record in lists):
        return None
    return *NO_CODERS, "no-coders"


def labeled(names: Collection[str]) -> bool:
    has_text = "text" in names or "filename" in names or "data" in names
    return "id" in names and has_text and ("label" in names or "entities" in names)


@cache
def _entries() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_FILE.read_text("utf-8"))


def _known(source: Source, options: Options) -> Refusal:
    """Recognize a file by its columns, fields, elements or file names."""
    named = any((*options.roles.values(), options.coder_columns))
    names = _names(source)
    for name, entry in _entries().items():
        if is_known(source, name, names) and not (named and entry.get("unnamed")):
            spelled = {"survey": no_coders(), "question": Option("question", ...)}
            remedy = entry["remedy"].format(**spelled, regions=REGIONS)
            return entry["what"], remedy, entry["code"]
    return None


def is_known(source: Source, name: str, names: Sequence[str] | None = None) -> bool:
    """Return True if a source with these `names` matches an entry of ``refused.toml``."""
    entry, names = _entries()[name], _names(source) if names is None else names
    if source.inside is not None:
        xml = source.inside.ending(".xml")[:1]
        text = source.inside.head(xml[0], _TEXT) if xml else ""
        return _holds(entry, text) or ("files" in entry and _fits(entry["files"], names))
    if source.kind == "xml":
        return _holds(entry, source.text)
    cell = entry.get("cell")
    columns = source.table.columns.values() if cell and not source.is_json else ()
    top = [str(cell) for column in islice(columns, 1) for cell in column[:3]]
    return (
        ("needs" in entry)
        and all(_fits(pattern, names) for pattern in entry["needs"])
        and not any(_fits(pattern, names) for pattern in entry.get("lacks", ()))
        and (cell is None or bool(fnmatch.filter(top, cell)))
    )


def _names(source: Source) -> list[str]:
    """Return the names of columns, fields at any depth, or files."""
    if source.inside is not None or source.kind == "xml":
        return list(source.inside.names) if source.inside is not None else []
    deep = (path for record in source.sample[:_RECORDS] for path in paths_in(record))
    names = (*source.header, *(islice(deep, _PATHS) if source.is_json else ()))
    return list(dict.fromkeys(name.strip().casefold() for name in names))


def _holds(entry: Mapping[str, str], text: str) -> bool:
    """Return True if annotation XML contains the elements of an entry."""
    return "xml" in entry and "<annotation" in text[:1000] and bool(re.search(entry["xml"], text))


def _fits(pattern: str, names: Sequence[str]) -> bool:
    return any(fnmatch.filter(names, part) for part in pattern.casefold().split("|"))


def _project(source: Source, options: Options) -> Refusal:
    """Recognize an INCEpTION or WebAnno project without readable annotations."""
    from annomodels.io.tools.projects import export_again, unread

    assert source.inside is not None
    return export_again(source.name, source.inside) if unread(source.inside) else None


_HEADING = re.compile(r"^#{1,6} .+\n[ \t]*$", re.MULTILINE)
_COUNT = re.compile(r"(?<=\s)\S+?:(\d{1,6})(?=\s|$)")
_FEWEST = 5  # minimum number of lines or records


def _report(source: Source, options: Options) -> Refusal:
    """Recognize text that is not a table: Markdown with headings, or lines of label counts."""
    if source.kind != "delimited" or not source.table.problems:
        return None
    start = source.text.replace("\r\n", "\n").lstrip()[:_TEXT]
    if len(_HEADING.findall(start)) > 1 and "\n## " in start:
        return (
            "This is a Markdown document, with headings and text, not a table.",
            "Give the file with the labels. A table of them in the document can be saved as CSV.",
            "no-table",
        )
    lines = [line for line in start.split("\n")[:-1] if len(_COUNT.findall(line)) > 1]
    sums = {sum(map(int, _COUNT.findall(line))) for line in lines}
    if len(lines) < _FEWEST or len(sums) > 1 or source.header[1:]:
        return None
    what = f"This text only counts labels, as in {lines[0]!r}."
    return what, _SINGLE, "counts"


_SINGLE = "Give the individual labels, one row each: item, coder, label."


def _counts(source: Source, options: Options) -> Refusal:
    """Recognize columns that count labels, unless options describe the table."""
    said = (options.coder, options.label, options.coder_columns, options.question)
    if any(said) or options.forced or source.table.problems:
        return None
    if (name := _tally(source)) and not matched(source.header)["coder"]:
        what = (
            f"The objects in {name!r} count the labels of each class, but do not show which coder "
            "gave which label."
        )
        return what, _SINGLE, "counts"
    found = counts_in(source.table) if len(source.table) > 1 else None
    if found is None or not found.is_sure or matched(source.header)["coder"]:
        return None
    return counts_problem(found, source.name, form="wide")


def _patterns(source: Source, options: Options) -> Refusal:
    """Recognize label patterns with a final count column n, as in the R package rater."""
    if source.header[-1:] != ("n",) or len(source.header) < 3 or options.coder_columns:
        return None
    *coders, counts = source.table.columns.values()
    cells = [set(map(str, column)) for column in coders]
    if not cells[0] <= set().union(*cells[1:]) or not all(map(_WHOLE.fullmatch, map(str, counts))):
        return None
    what = "The last column, n, counts rows: each row is a pattern of labels, not an item."
    return (
        what,
        "Write each pattern as often as it was counted, and name the items in a column.",
        "counts",
    )


_TALLY = re.compile(r"(?:.*[_ .-])?(counts?|counter|tally|votes|freq|frequencies)", re.IGNORECASE)
_WHOLE = re.compile(r"[0-9]{1,9}")


def _tally(source: Source) -> str:
    """Return a field with label counts in objects: a constant sum, or a name such as votes."""
    for name, cells in source.table.columns.items() if source.is_json else ():
        few = [tuple(c.values()) for c in islice(cells, _ROWS) if isinstance(c, dict) and c]
        is_whole = all(_WHOLE.fullmatch(str(n)) for numbers in few for n in numbers)
        if len(few) < _FEWEST or not is_whole:
            continue
        sums = {sum(map(int, numbers)) for numbers in few}
        if _TALLY.fullmatch(name) or (len(sums) == 1 < len({*few}) and max(sums) > 1):
            return name
    return ""


def _marked(source: Source, options: Options) -> Refusal:
    """Recognize text with tags in most columns, if no column is named or known for labels."""
    if options.label or options.question or options.coder_columns:
        return None
    few = {n: [c for c in islice(cells, _ROWS) if c] for n, cells in source.table.columns.items()}
    few = {name: cells for name, cells in few.items() if cells}
    names = [
        name
        for name, cells in few.items()
        if 2 * sum(isinstance(cell, str) and has_markup(cell) for cell in cells) > len(cells)
    ]
    if not names or matched(list(few))["label"] or 2 * len(names) < len(few):
        return None
    tag = next(tag for cell in few[names[0]] if (tag := tag_in(cell)))
    listed = ", ".join(map(repr, names[:4])) + (", ..." if len(names) > 4 else "")
    return (
        f"The cells of {listed} hold marked text, with tags inside such as {tag}, and no column "
        "holds labels: marks inside cells are not read.",
        "Export the marks as spans (WebAnno TSV, UIMA CAS, brat, Label Studio JSON) and define "
        f"the items with {Option('units', ...)}; or give a table with a row for each mark: "
        "item (the text and the place), coder, label.",
        "marked-text",
    )
