"""SageMaker Ground Truth: the answers of the coders, from three places where they may be."""

from __future__ import annotations

from typing import Any

from annomodels.errors import AnnotationError, Option
from annomodels.io.objects import at, json_value, parsed
from annomodels.io.source import Options, Source
from annomodels.io.tools.judgements import Judgements
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


def read_sagemaker(source: Source, options: Options, found: Judgements) -> None:
    """Columns of the answers; the item is the number of the object."""
    if options.item is not None:
        found.problem(
            "Ground Truth names objects by their number only.", f"Leave out {Option('item')}."
        )
        return
    if source.inside is not None:
        _folder(source, found)
    else:
        for row, record in found.objects():
            _payload(record, row, found)


def _folder(source: Source, found: Judgements) -> None:
    assert source.inside is not None
    for name in source.inside.ending(".json"):
        if FOLDER not in f"/{name}":
            continue
        parts = name.split("/")
        item = parts[-2] if len(parts) > 2 else parts[-1].removesuffix(".json")
        try:
            part = source.member(name)
            answers = at(json_value(part.text, part.name), "answers")
        except AnnotationError as error:
            found.problems += error.problems
            continue
        if not isinstance(answers, list):
            found.problem("The file holds no list of answers.", "Copy it again.", f"{name}")
            continue
        for answer in answers:
            _take(found, item, at(answer, "workerId"), at(answer, "answerContent"), 1)


def _payload(record: dict[str, Any], row: int, found: Judgements) -> None:
    """Take a record of a consolidation request, or of a manifest without consolidation."""
    lists = [(record.get("datasetObjectId"), record.get("annotations"))]
    lists += [(str(row - 1), record[key]) for key in _from_all(record)]
    for item, given in lists:
        if given is None:
            continue
        if not isinstance(given, list):
            found.unreadable("the list of annotations", row)
            continue
        found.text(item, at(record, "dataObject.content") or record.get("source"))
        for annotation in given:
            content = parsed(at(annotation, "annotationData.content"))
            _take(found, item, at(annotation, "workerId"), content, row)


def _take(found: Judgements, item: Any, coder: Any, content: Any, row: int) -> None:
    answers = answers_in(content)
    if not answers:
        found.skip(item)
    for question, label in answers.items():
        found.add(item, coder, question, label, row)
