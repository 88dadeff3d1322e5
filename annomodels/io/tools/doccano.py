"""doccano: a zip archive or folder with one file for each coder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annomodels.errors import AnnotationError
from annomodels.io.objects import at, is_list_of
from annomodels.io.source import Options, Source
from annomodels.io.span_builder import Span
from annomodels.io.tools.judgements import Judgements

ENDINGS = (".jsonl", ".json", ".csv", ".txt")
NO_CODERS = (  # what is wrong, and how to fix it
    "doccano wrote no names of coders into this export, because the project shares its labels "
    "among all members.",
    "In doccano, switch off 'Share annotations across all users' in the project and export again: "
    "the zip archive then holds one file for each coder. Or give a folder with one file for each.",
)


def is_doccano(source: Source, options: Options) -> bool:
    """Whether it is an archive or folder of files whose rows have id, text or filename, label."""
    if source.inside is None:
        return False
    names = source.inside.ending(*ENDINGS)
    return bool(names) and len(names) == len(source.inside.names) and _fits(source, names[0])


def _fits(source: Source, name: str) -> bool:
    try:
        part = source.member(name)
        if part.kind == "delimited":
            return labelled(part.header) or part.text.startswith("__label__")
        return any(labelled(record) for record in part.sample)
    except AnnotationError:
        return False


def labelled(names: Any) -> bool:
    """Whether names of columns or keys are those of doccano."""
    has_text = "text" in names or "filename" in names or "data" in names
    return "id" in names and has_text and ("label" in names or "entities" in names)


def _rows(source: Source, found: Judgements) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Coder, row and record of each file; the name of the file is the coder."""
    assert source.inside is not None
    names = source.inside.ending(*ENDINGS)
    for name in names:
        part = source.member(name)
        stem = part.stem
        if stem == "all" and len(names) == 1:
            found.problem(*NO_CODERS)
        elif stem in ("all", "unknown"):
            found.leave_out(f"the file {name!r} names no coder")
        elif part.kind == "delimited" and part.text.startswith("__label__"):
            for row, line in enumerate(part.text.splitlines(), 1):
                words = line.split(" ")
                labels = [word[9:] for word in words if word.startswith("__label__")]
                text = " ".join(word for word in words if not word.startswith("__label__"))
                yield stem, row, {"id": text, "text": text, "label": labels}
        elif part.kind == "delimited":
            for row, cells in found.taken(part.table).records():
                yield stem, row, {**cells, "label": str(cells.get("label", "")).split("#")}
        else:
            for row, record in found.objects(part.objects):
                yield stem, row, record


def read_doccano(source: Source, options: Options, found: Judgements) -> None:
    """Columns of the labels of each coder; an empty list is a skip."""
    for coder, row, record in _rows(source, found):
        item = at(record, options.item or "id")
        if item is None and options.item is not None:
            found.require(list(record), options.item, "item")
            break
        labels = record.get("label")
        if "entities" in record or is_list_of(labels, list):
            found.marked()
            break
        found.text(item, record.get(options.text or "text"))
        found.add(item, coder, "label", labels, row)
    if found.skips:
        found.note(
            "An empty list of labels may mean 'none' or 'not done yet'; exports of confirmed "
            "examples only hold what was done."
        )


def spans_of_doccano(source: Source, options: Options, found: Judgements) -> None:
    """Spans of sequence labelling projects."""
    builder = found.marks
    for coder, _, record in _rows(source, found):
        item, text = at(record, options.item or "id"), record.get("text")
        if not isinstance(item, str):
            continue
        builder.document(item, coder, text if isinstance(text, str) else "")
        marked = record.get("entities", record.get("label"))
        for mark in marked if isinstance(marked, list) else ():
            try:
                if isinstance(mark, dict):
                    start, end, label = mark["start_offset"], mark["end_offset"], mark["label"]
                else:
                    start, end, label = mark
                builder.add(Span(item, coder, "label", int(start), int(end), str(label)))
            except (KeyError, TypeError, ValueError):
                builder.note("Marks without a place are left out.")
