"""Files that hold no labels of single coders: said for what they are, with what to give instead."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.objects import objects_in
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import matched
from annomodels.io.tables.matrix import counts_in, counts_problem
from annomodels.io.tables.questions import has_markup, no_coders, tag_in

_FILE = Path(__file__).parents[1] / "refused.toml"
_ROWS = 200  # that are looked at
_TEXT = 100_000  # characters that are looked at
REGIONS = (
    "Regions of images are not read: which regions of two coders are the same has to be decided "
    "first. Match them in a program for images and give a table with item (the region), coder, "
    "label"
)
_XML = {
    "Pascal VOC": re.compile(r"<bndbox>"),
    "CVAT": re.compile(r"<(?:box|polygon|polyline|points|mask|cuboid|skeleton|tag)\b"),
}


class Refused(AnnotationError):
    """A file is known for what it is, and no names of columns make labels of coders of it."""


def refuse(source: Source, options: Options) -> None:
    looks = (
        _by_names,
        _doccano,
        _consolidated,
        _project,
        _report,
        _patterns,
        _counts,
        _marked,
        _images,
    )
    for look in (*looks, _lighttag):
        found = look(source, options)
        if found is not None:
            if isinstance(found, Problem):
                raise Refused(found)
            what, remedy, code = found
            raise Refused(what, source.name, remedy, code=code)


Refusal = Problem | tuple[str, str, str] | None


def _doccano(source: Source, options: Options) -> Refusal:
    """Find one file of doccano, which says nothing of coders."""
    if not source.is_json or options.coder is not None:
        return None
    from annomodels.io.tools.doccano import NO_CODERS, labeled

    own = [record for record in source.sample if labeled(record)]
    lists = [r for r in own if isinstance(r.get("label", r.get("entities")), list)]
    if not lists or any(matched(list(record))["coder"] for record in lists):
        return None
    return *NO_CODERS, "no-coders"


def _consolidated(source: Source, options: Options) -> Refusal:
    """Find SageMaker's manifest of one label for each object, or the folder of its answers."""
    remedy = _known()["sagemaker"]["remedy"]
    if source.inside is not None:
        found = any("worker-response/" in name for name in source.inside.ending(".json"))
        return (_known()["sagemaker"]["what"], remedy, "no-reader") if found else None
    fields = (field for record in source.sample for field in record.items())
    if any(
        key.endswith("-metadata") and isinstance(value, dict) and "human-annotated" in value
        for key, value in fields
    ):
        what = "An output manifest holds one consolidated label for each object"
        return f"{what}, and not who gave which.", remedy, "aggregated"
    return None


@cache
def _known() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_FILE.read_text("utf-8"))


def _by_names(source: Source, options: Options) -> Refusal:
    if source.kind in ("xml", "inside"):
        return None
    header = [name.strip().casefold() for name in source.header]
    named = any((*options.roles.values(), options.coder_columns))
    columns = () if source.is_json else source.table.columns.values()
    top = [str(cell) for column in islice(columns, 1) for cell in column[:3]]

    def fits(pattern: str, names: Sequence[str]) -> bool:
        parts = pattern.casefold().split("|")
        return any(fnmatchcase(name, part) for name in names for part in parts)

    for known in _known().values():
        cell = known.get("cell")
        if (
            all(fits(pattern, header) for pattern in known["needs"])
            and not any(fits(pattern, header) for pattern in known.get("lacks", ()))
            and not (named and known.get("unnamed"))
            and (cell is None or any(fnmatchcase(each, cell) for each in top))
        ):
            spelled = {"survey": no_coders(), "question": Option("question", ...)}
            return known["what"], known["remedy"].format(**spelled), known["code"]
    return None


def _project(source: Source, options: Options) -> Refusal:
    """Find a project of INCEpTION or WebAnno without annotations to read."""
    if source.inside is None:
        return None
    from annomodels.io.tools.projects import export_again, unread

    return export_again(source.name, source.inside) if unread(source.inside) else None


_HEADING = re.compile(r"^#{1,6} .+\n[ \t]*$", re.MULTILINE)
_COUNT = re.compile(r"(?<=\s)\S+?:(\d{1,6})(?=\s|$)")
_FEWEST = 5  # lines or records that tell


def _report(source: Source, options: Options) -> Refusal:
    """Find text that is no table: Markdown with headings, or lines of labels with their counts."""
    if source.kind != "delimited" or not source.table.problems:
        return None
    start = source.text.replace("\r\n", "\n").lstrip()[:_TEXT]
    if len(_HEADING.findall(start)) > 1 and "\n## " in start:
        return (
            "This is a Markdown document, with headings and text, and not a table.",
            "Give the file with the labels. A table of them in the document can be saved as CSV.",
            "no-table",
        )
    lines = [line for line in start.split("\n")[:-1] if len(_COUNT.findall(line)) > 1]
    sums = {sum(map(int, _COUNT.findall(line))) for line in lines}
    if len(lines) < _FEWEST or len(sums) > 1 or source.header[1:]:
        return None
    what = f"This text counts labels, and not who gave which, as in {lines[0]!r}."
    return what, _SINGLE, "counts"


_SINGLE = "Give the individual labels, a row each: item, coder, label."


def _counts(source: Source, options: Options) -> Refusal:
    """Find columns that count labels, where nothing was said about the table."""
    said = (options.coder, options.label, options.coder_columns, options.question)
    if source.kind in ("xml", "inside") or any(said) or options.forced or source.table.problems:
        return None
    if (name := _tally(source)) and not matched(source.header)["coder"]:
        what = f"The objects in {name!r} count the labels of each class, and not who gave which."
        return what, _SINGLE, "counts"
    found = counts_in(source.table) if len(source.table) > 1 else None
    if found is None or not found.is_sure or matched(source.header)["coder"]:
        return None
    return counts_problem(found, source.name, form="wide")


def _patterns(source: Source, options: Options) -> Refusal:
    """Find patterns of labels with a last column n that counts them, as of the R package rater."""
    if source.header[-1:] != ("n",) or len(source.header) < 3 or options.coder_columns:
        return None
    *coders, counts = source.table.columns.values()
    cells = [set(map(str, column)) for column in coders]
    if not cells[0] <= set().union(*cells[1:]) or not all(map(_WHOLE.fullmatch, map(str, counts))):
        return None
    what = "The last column, n, counts rows: each row is a pattern of labels, and not an item."
    return (
        what,
        "Write each pattern as often as it was counted, and name the items in a column.",
        "counts",
    )


_TALLY = re.compile(r"(?:.*[_ .-])?(counts?|counter|tally|votes|freq|frequencies)", re.IGNORECASE)
_WHOLE = re.compile(r"[0-9]{1,9}")


def _tally(source: Source) -> str:
    """Name of a field of objects with whole numbers that have one sum, or are called counts."""
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
    """Find text with tags in most columns, where none is named or known for labels."""
    if options.label or options.question or options.coder_columns:
        return None
    if source.kind in ("xml", "inside"):
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


def _images(source: Source, options: Options) -> Refusal:
    tool, number = regions(source)
    if not tool:
        return None
    return (
        f"This is {tool}: {counted(number, 'region')} drawn on images (such as bounding boxes), "
        "and no labels of items.",
        f"{REGIONS}.",
        "regions",
    )


def _lighttag(source: Source, options: Options) -> Refusal:
    """Find examples with annotations, each with those who made it."""
    marks = [
        mark for record in source.sample for example in objects_in(record.get("examples"))
        for mark in objects_in(example.get("annotations"))
    ]  # fmt: skip
    if not any("annotated_by" in mark or "tagged_token_id" in mark for mark in marks):
        return None
    return (
        "This is LightTag: marked stretches of text, and no labels of items.",
        "It is not read. Give a table with item (the document and the place), coder and "
        "label (tag), and a row for each mark of each coder.",
        "no-reader",
    )


def regions(source: Source) -> tuple[str, int]:
    """Name of a format of regions of images and their number; "" if it is none."""
    if source.inside is not None:
        names = source.inside.ending(".xml")
        return _in_xml(source.inside.head(names[0], 20_000), len(names)) if names else ("", 0)
    if source.kind == "xml":
        return _in_xml(source.text)
    if "region_shape_attributes" in source.header:
        return "the VGG Image Annotator", len(source.table)
    for record in source.sample[:1]:
        boxes = [part for part in objects_in(record.get("annotations")) if "bbox" in part]
        if boxes and "images" in record:
            return "COCO", len(boxes)
        if isinstance(record.get("shapes"), list) and "imagePath" in record:
            return "LabelMe", len(record["shapes"])
        files = record.get("_via_img_metadata", record)
        drawn = [r for part in objects_in(files) for r in objects_in(part.get("regions"))]
        if any("shape_attributes" in region for region in drawn):
            return "the VGG Image Annotator", len(drawn)
    spans = [
        s for record in source.sample if "image" in record for s in objects_in(record.get("spans"))
    ]
    if any("points" in span or "bbox" in span for span in spans):
        return "Prodigy's image.manual", len(spans)
    return "", 0


def _in_xml(text: str, files: int = 0) -> tuple[str, int]:
    for tool, mark in _XML.items():
        number = len(mark.findall(text))
        if number and "<annotation" in text[:1000]:
            return tool, files or number
    return "", 0
