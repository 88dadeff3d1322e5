"""Inspect AI: logs of evaluations, as JSON or packed (.eval); scorers are the coders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from annomodels.errors import AnnotationError, Problem
from annomodels.io.logs.common import SCORE, first_log, objects_in, part_of, several, short
from annomodels.io.objects import at, json_value
from annomodels.io.records import Records
from annomodels.io.source import Options, Source

HEADER, SAMPLES = "header.json", "samples/"


def is_inspect_ai(source: Source, options: Options) -> bool:
    """Whether it is a log with ``eval`` and ``samples``, packed or not, or a folder of such."""
    if source.inside is not None and HEADER in source.inside:
        return any(name.startswith(SAMPLES) for name in source.inside.names)
    one = first_log(source, ".eval") or first_log(source, ".json")
    if one is None:
        return False
    if one.inside is not None:
        return HEADER in one.inside
    return any("eval" in record and "samples" in record for record in one.sample[:1])


def read_inspect_ai(found: Records) -> None:
    """Scores; epochs, and models and tasks of several logs, are part of the item."""
    source = found.source
    packed = source.inside is not None and HEADER in source.inside
    samples: list[_Sample] = []
    for log in [source] if packed else source.parts(".eval", ".json"):
        try:
            samples += _samples(log)
        except AnnotationError as error:
            found.problems += error.problems
    names = several([sample.key for sample in samples])
    for number, (item, sample) in enumerate(zip(names, samples, strict=True), 1):
        found.text(item, sample.text)
        if not sample.scores:
            found.skip(item)
        for scorer, score in sample.scores.items():
            model = sample.judges.get(scorer)
            judge = f"{scorer} ({model})" if model else scorer
            for one in found.members([score], "a score", number):
                _add(found, item, judge, one, number)


class _Sample(NamedTuple):
    """One sample in one epoch, and what each scorer said of it."""

    key: dict[str, str]
    text: Any
    scores: Mapping[str, Any]
    judges: Mapping[str, str]


def _samples(log: Source) -> Iterator[_Sample]:
    if log.inside is not None:
        header: Any = json_value(_text(log, HEADER), f"{log.name}/{HEADER}")
        names = [name for name in log.inside.names if name.startswith(SAMPLES)]
        values: Any = [json_value(_text(log, name), f"{log.name}/{name}") for name in names]
    else:
        header = part_of(log.documents)
        values = header.get("samples")
    about = part_of(part_of(header).get("eval"))
    judges = dict(_judges(about))
    for value in values if isinstance(values, list) else ():
        if not isinstance(value, dict):
            what = "A sample is not an object."
            raise AnnotationError(Problem(what, log.name, "Write the log again with Inspect."))
        key = {
            "id": short(value.get("id")),
            "epoch": short(value.get("epoch", 1)),
            "task": short(about.get("task")),
            "model": short(about.get("model")),
        }
        yield _Sample(key, value.get("input"), part_of(value.get("scores")), judges)


def _text(log: Source, name: str) -> str:
    """Text of a file in a packed log; newer ones may be packed in a way that Python cannot read."""
    try:
        return log.member(name).text
    except AnnotationError as error:
        if not isinstance(error.__cause__, NotImplementedError):
            raise
    what = "The log is packed with Zstandard, which Python cannot unpack before version 3.14."
    remedy = "Write it as JSON: the command is inspect log convert, to the format json."
    raise AnnotationError(Problem(what, log.name, remedy))


def _judges(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Model that judges for each scorer, as its options or the role of the grader say it."""
    grader = at(about, "model_roles.grader")
    grader = grader.get("model") if isinstance(grader, dict) else grader
    for scorer in objects_in(about.get("scorers")):
        name, model = scorer.get("name"), at(scorer, "options.model")
        if isinstance(name, str):
            model = model if isinstance(model, str) else grader if "model" in name else None
            if isinstance(model, str):
                yield name.rpartition("/")[2], model


def _add(found: Records, item: str, judge: str, score: Mapping[str, Any], row: int) -> None:
    """Take a score, with a question for each of its parts, and who changed it later."""
    edits = objects_in(score.get("history"))
    first = edits[0].get("value", score.get("value")) if edits else score.get("value")
    given = [(judge, first)]
    for edit in edits[1:]:
        author = at(edit, "provenance.author")
        if isinstance(author, str) and "value" in edit:
            given.append((author, edit["value"]))
    for coder, value in given:
        for question, part in value.items() if isinstance(value, dict) else [(SCORE, value)]:
            found.add(item, coder, str(question), part, row)
