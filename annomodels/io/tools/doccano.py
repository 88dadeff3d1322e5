"""doccano: a zip archive or folder with one file for each coder."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.objects import at, is_list_of
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import matched

ENDINGS = (".jsonl", ".json", ".csv", ".txt")
NO_CODERS = (  # what is wrong, and how to fix it
    "doccano wrote no names of coders into this export, because the project shares its labels "
    "among all members.",
    "In doccano, switch off 'Share annotations across all users' in the project and export again: "
    "the zip archive then holds one file for each coder. Or give a folder with one file for each.",
)
_LABEL = "__label__"  # before each label of fastText


def is_doccano(source: Source, options: Options) -> bool:
    if source.inside is None:
        return False
    names = source.inside.ending(*ENDINGS)
    if not names or len(names) < len(source.inside.names):
        return False
    try:
        part = source.member(names[0])
        if part.kind == "delimited":
            known = labeled(part.header) and not matched(part.header)["coder"]
            return known or part.text.startswith(_LABEL)
        return any(labeled(record) for record in part.sample)
    except AnnotationError:
        return False


def labeled(names: Collection[str]) -> bool:
    has_text = "text" in names or "filename" in names or "data" in names
    return "id" in names and has_text and ("label" in names or "entities" in names)


def _rows(found: Records) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Coder, row and record of each file; the name of the file is the coder."""
    parts = found.source.parts(*ENDINGS)
    for part in parts:
        stem = part.stem
        if stem == "all" and len(parts) == 1:
            found.problem(*NO_CODERS, code="no-coders")
        elif stem in ("all", "unknown"):
            found.leave_out(f"the file {part.name.rpartition('/')[2]!r} names no coder")
        elif part.kind == "delimited" and part.text.startswith(_LABEL):
            for row, line in enumerate(part.text.splitlines(), 1):
                words = line.split(" ")
                labels = [w.removeprefix(_LABEL) for w in words if w.startswith(_LABEL)]
                text = " ".join(word for word in words if not word.startswith(_LABEL))
                yield stem, row, {"id": text, "text": text, "label": labels}
        elif part.kind == "delimited":
            for row, cells in found.taken(part.table).records():
                yield stem, row, {**cells, "label": str(cells.get("label", "")).split("#")}
        else:
            yield from ((stem, *one) for one in found.objects(part.objects))


def read_doccano(found: Records) -> None:
    """Labels, or marks of sequence labeling, of each coder; an empty list is a skip."""
    options = found.options
    first: tuple[dict[str, str], dict[str, str]] = ({}, {})  # coder of each id, and of each text
    shared = [0, 0]
    for coder, row, record in _rows(found):
        item = at(record, options.item or "id")
        if item is None and options.item is not None:
            found.require(list(record), options.item, "item")
            break
        text, labels = record.get(found.text_field(record)), record.get("label")
        for n, name in enumerate((item, text) if isinstance(text, str) else ()):
            shared[n] += first[n].setdefault(str(name), coder) != coder
        found.text(item, text)
        found.document(item, coder, text)
        marks = record.get("entities", labels)
        if "entities" not in record and not is_list_of(labels, list):
            found.add(item, coder, "label", labels, row)
            continue
        for mark in marks if isinstance(marks, list) else ():
            if isinstance(mark, dict):
                mark = [mark.get("start_offset"), mark.get("end_offset"), mark.get("label")]
            *place, word = mark if isinstance(mark, list) and len(mark) == 3 else [""]
            found.mark(item, coder, "label", place, word)
    if options.item is None and shared[1] > 0 == shared[0]:
        name = options.text or found.text_field(["text"])
        what = (
            "No id is in the files of two coders, but their texts are the same. Each project has "
            "its own numbers for them."
        )
        remedy = f"Take the texts as names of the items: {Option('item', name)}."
        said = (("item", name),)
        found.problems.append(
            Problem(what, found.source.name, remedy, options=said, code="own-numbers")
        )
    if found.skips:
        found.note(
            "An empty list of labels may mean 'none' or 'not done yet'; exports of confirmed "
            "examples only hold what was done."
        )
