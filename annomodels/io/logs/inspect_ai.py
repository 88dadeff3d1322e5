"""Inspect AI: logs of evaluations, as JSON or packed (.eval); scorers are the coders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annomodels.errors import AnnotationError, Problem
from annomodels.io.logs.common import SCORE, first_log, logs_in, several, short
from annomodels.io.objects import json_value
from annomodels.io.source import Options, Source
from annomodels.io.tools.judgements import Judgements

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


def read_inspect_ai(source: Source, options: Options, found: Judgements) -> None:
    """Columns of the scores; epochs, and models and tasks of several logs, are part of the item."""
    logs = [source]
    if source.inside is not None and HEADER not in source.inside:
        logs = logs_in(source, ".eval", ".json")
    samples: list[_Sample] = []
    for log in logs:
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
            if isinstance(score, Mapping):
                _add(found, item, sample.judge(scorer), score, number)
            else:
                found.unreadable("a score", number)


@dataclass(frozen=True)
class _Sample:
    """One sample in one epoch, and what each scorer said of it."""

    key: dict[str, str]
    text: str
    scores: Mapping[str, Any]
    judges: Mapping[str, str]

    def judge(self, scorer: str) -> str:
        """Name of a scorer, with the model that judges for it, where the log says which."""
        model = self.judges.get(scorer, "")
        return f"{scorer} ({model})" if model else scorer


def _samples(log: Source) -> Iterator[_Sample]:
    if log.inside is not None:
        header: Any = json_value(_text(log, HEADER), f"{log.name}/{HEADER}")
        names = [name for name in log.inside.names if name.startswith(SAMPLES)]
        values: Any = [json_value(_text(log, name), f"{log.name}/{name}") for name in names]
    else:
        header = log.documents if isinstance(log.documents, dict) else {}
        values = header.get("samples") or []
    about = header.get("eval") if isinstance(header, dict) else None
    about = about if isinstance(about, dict) else {}
    judges = _judges(about)
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
        said, scores = value.get("input"), value.get("scores")
        scores = scores if isinstance(scores, dict) else {}
        yield _Sample(key, said if isinstance(said, str) else "", scores, judges)


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


def _judges(about: Mapping[str, Any]) -> dict[str, str]:
    """Model that judges for each scorer, as its options or the role of the grader say it."""
    roles = about.get("model_roles")
    grader = roles.get("grader") if isinstance(roles, dict) else None
    grader = grader.get("model") if isinstance(grader, dict) else grader
    judges: dict[str, str] = {}
    scorers = about.get("scorers")
    for scorer in scorers if isinstance(scorers, list) else ():
        if not isinstance(scorer, dict) or not isinstance(scorer.get("name"), str):
            continue
        given = scorer.get("options")
        model = given.get("model") if isinstance(given, dict) else None
        graded = grader if "model" in scorer["name"] else None
        chosen = model if isinstance(model, str) else graded
        if isinstance(chosen, str):
            judges[scorer["name"].rpartition("/")[2]] = chosen
    return judges


def _add(found: Judgements, item: str, judge: str, score: Mapping[str, Any], row: int) -> None:
    """Take a score, with a question for each of its parts, and who changed it later."""
    history = score.get("history")
    history = history if isinstance(history, list) else []
    edits = [part for part in history if isinstance(part, dict)]
    first = edits[0].get("value", score.get("value")) if edits else score.get("value")
    given = [(judge, first)]
    for edit in edits[1:]:
        who = edit.get("provenance")
        author = who.get("author") if isinstance(who, dict) else None
        if isinstance(author, str) and "value" in edit:
            given.append((author, edit["value"]))
    for coder, value in given:
        if isinstance(value, dict):
            for question, part in value.items():
                found.add(item, coder, str(question), part, row)
        else:
            found.add(item, coder, SCORE, value, row)
