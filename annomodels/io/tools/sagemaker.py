"""SageMaker Ground Truth: the answers of the coders, from three places where they may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annomodels.errors import AnnotationError, Option
from annomodels.io.objects import at, json_value, parsed
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tools.mturk import answers_in

FOLDER = "worker-response/"
ALL = ".annotationsFromAllWorkers"


def is_sagemaker(source: Source, options: Options) -> bool:
    """Whether it is a folder with ``worker-response``, or records with the answers of all."""
    if source.inside is not None:
        return any(FOLDER in f"/{name}" for name in source.inside.ending(".json"))
    return any(
        ("datasetObjectId" in record and "annotations" in record) or _from_all(record)
        for record in source.sample
    )


def _from_all(record: dict[str, Any]) -> list[str]:
    return [key for key in record if key.endswith(ALL)]


def read_sagemaker(found: Records) -> None:
    """Answers of the coders; the item is the number of the object."""
    if found.options.item is not None:
        what = "Ground Truth names objects by their number only."
        found.problem(what, f"Leave out {Option('item')}.")
        return
    answers = _folder(found) if found.source.inside is not None else _payload(found)
    for item, coder, content, row in answers:
        labels = answers_in(content)
        if not labels:
            found.skip(item)
        for question, label in labels.items():
            found.add(item, coder, question, label, row)


_Answer = tuple[Any, Any, Any, int]


def _folder(found: Records) -> Iterator[_Answer]:
    for part in found.source.parts(".json"):
        name = str(part.path).removeprefix(f"{found.source.name}/")
        if FOLDER not in f"/{name}":
            continue
        parts = name.split("/")
        item = parts[-2] if len(parts) > 2 else parts[-1].removesuffix(".json")
        try:
            answers = at(json_value(part.text, part.name), "answers")
        except AnnotationError as error:
            found.problems += error.problems
            continue
        if not isinstance(answers, list):
            found.problem("The file holds no list of answers.", "Copy it again.", name)
            continue
        for answer in answers:
            yield item, at(answer, "workerId"), at(answer, "answerContent"), 1


def _payload(found: Records) -> Iterator[_Answer]:
    """Take records of a consolidation request, or of a manifest without consolidation."""
    for row, record in found.objects():
        lists = [(record.get("datasetObjectId"), record.get("annotations"))]
        lists += [(str(row - 1), record[key]) for key in _from_all(record)]
        for item, given in lists:
            if given is not None and not isinstance(given, list):
                found.unreadable("the list of annotations", row)
                continue
            if given:
                found.text(item, at(record, "dataObject.content") or record.get("source"))
            for annotation in given or ():
                content = parsed(at(annotation, "annotationData.content"))
                yield item, at(annotation, "workerId"), content, row
