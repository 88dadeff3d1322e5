"""Regions of images in the formats of computer vision: said for what they are, and not read."""

from __future__ import annotations

import re
from typing import Any

from annomodels.data.validation import counted
from annomodels.errors import Problem
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import Columns

_XML = {
    "Pascal VOC": re.compile(r"<bndbox>"),
    "CVAT": re.compile(r"<(?:box|polygon|polyline|points|mask|cuboid|skeleton|tag)\b"),
}


def is_images(source: Source, options: Options) -> bool:
    """Whether it is COCO, VIA, LabelMe, CVAT, Pascal VOC, or Prodigy's image.manual."""
    return bool(_found(source)[0])


def read_images(source: Source, options: Options) -> Columns:
    """Say what is in the file, and what a table of labels needs."""
    tool, number = _found(source)
    what = (
        f"This is {tool}: {counted(number, 'region')} drawn on images (such as bounding boxes), "
        "and no labels of items."
    )
    remedy = (
        "Regions of images are not read: which regions of two coders are the same has to be "
        "decided first. Match them in a program for images and give a table with item (the "
        "region), coder, label."
    )
    return Columns(problems=[Problem(what, source.name, remedy)])


def is_lighttag(source: Source, options: Options) -> bool:
    """Whether records hold examples with annotations, each with those who made it."""
    marks = [
        mark for record in source.sample for example in _dicts(record.get("examples"))
        for mark in _dicts(example.get("annotations"))
    ]  # fmt: skip
    return any("annotated_by" in mark or "tagged_token_id" in mark for mark in marks)


def read_lighttag(source: Source, options: Options) -> Columns:
    """Say that the marks of LightTag are not read, and what to give instead."""
    what = "This is LightTag: stretches of text with their annotators, and no labels of items."
    remedy = (
        "It is not read. Give a table with item (the document and the place), coder (annotator) "
        "and label (tag), a row for each mark and annotator."
    )
    return Columns(problems=[Problem(what, source.name, remedy)])


def _found(source: Source) -> tuple[str, int]:
    """Name of the format and number of regions; "" if it is none of them."""
    if source.inside is not None:
        return _in_folder(source)
    if source.kind == "xml":
        return _in_xml(source.text)
    if "region_shape_attributes" in source.header:
        return "the VGG Image Annotator", len(source.table)
    for record in source.sample[:1] if source.is_json else ():
        boxes = [part for part in _dicts(record.get("annotations")) if "bbox" in part]
        if boxes and "images" in record:
            return "COCO", len(boxes)
        if isinstance(record.get("shapes"), list) and "imagePath" in record:
            return "LabelMe", len(record["shapes"])
        files = record.get("_via_img_metadata", record)
        regions = [r for part in _dicts(files) for r in _dicts(part.get("regions"))]
        if any("shape_attributes" in region for region in regions):
            return "the VGG Image Annotator", len(regions)
    spans = [
        s for record in source.sample if "image" in record for s in _dicts(record.get("spans"))
    ]
    if any("points" in span or "bbox" in span for span in spans):
        return "Prodigy's image.manual", len(spans)
    return "", 0


def _dicts(value: Any) -> list[dict[str, Any]]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [part for part in parts if isinstance(part, dict)]


def _in_xml(text: str) -> tuple[str, int]:
    for tool, mark in _XML.items():
        number = len(mark.findall(text))
        if number and "<annotation" in text[:1000]:
            return tool, number
    return "", 0


def _in_folder(source: Source) -> tuple[str, int]:
    """Look at the first of the XML files of a folder or archive; the number is that of files."""
    assert source.inside is not None
    names = source.inside.ending(".xml")
    if not names:
        return "", 0
    return _in_xml(source.inside.head(names[0], 20_000))[0], len(names)
