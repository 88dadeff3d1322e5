"""Evaluation logs of people and models: the judges or models are the coders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from annomodels.errors import AnnotationError
from annomodels.io.border import collected
from annomodels.io.objects import at, json_value, objects_in
from annomodels.io.records import Records
from annomodels.io.source import Options, Source

SCORE = "score"


def verdict(passed: object, score: object, options: Options) -> object:
    """Return "pass" or "fail" if a judgment has a verdict, else its score."""
    if isinstance(passed, bool) and options.label != SCORE:
        return "pass" if passed else "fail"
    return score


def several(parts: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield names from the parts that differ between samples, and always the first part."""
    values: dict[str, set[str]] = {}
    for part in parts:
        for key, value in part.items():
            values.setdefault(key, set()).add(value)
    for part in parts:
        first, *rest = part
        more = [f"{key} {part[key]}" for key in rest if len(values[key]) > 1 and part[key]]
        yield ", ".join([part[first], *more])


def first_log(source: Source, *endings: str) -> Source | None:
    """Return the first log of a folder or the single file, or None if it cannot be read."""
    try:
        names = [] if source.inside is None else source.inside.ending(*endings)[:1]
        return source.member(names[0]) if names else source if source.inside is None else None
    except AnnotationError:
        return None


def short(value: object) -> str:
    return "" if value is None else str(value)


def part_of(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


# -- Inspect AI: logs as JSON or packed (.eval); scorers are the coders ----------------------------


HEADER, SAMPLES = "header.json", "samples/"


def is_inspect_ai(source: Source, options: Options) -> bool:
    if source.inside is not None and HEADER in source.inside:
        return any(name.startswith(SAMPLES) for name in source.inside.names)
    one = first_log(source, ".eval") or first_log(source, ".json")
    if one is None:
        return False
    if one.inside is not None:
        return HEADER in one.inside
    return any("eval" in record and "samples" in record for record in one.sample[:1])


def read_inspect_ai(found: Records) -> None:
    """Read scores; epochs, models and tasks are part of the item if they differ."""
    source = found.source
    packed = source.inside is not None and HEADER in source.inside
    samples: list[_Sample] = []
    for log in [source] if packed else source.parts(".eval", ".json"):
        with collected(found.problems, log.name):
            samples += _samples(log)
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
            raise AnnotationError(what, log.name, "Write the log again with Inspect.")
        key = {
            "id": short(value.get("id")),
            "epoch": short(value.get("epoch", 1)),
            "task": short(about.get("task")),
            "model": short(about.get("model")),
        }
        yield _Sample(key, value.get("input"), part_of(value.get("scores")), judges)


def _text(log: Source, name: str) -> str:
    """Return the text of a file in a packed log; Python may lack the compression of newer logs."""
    try:
        return log.member(name).text
    except AnnotationError as error:
        if not isinstance(error.__cause__, NotImplementedError):
            raise
    what = "The log is packed with Zstandard, which Python cannot unpack before version 3.14."
    remedy = "Write it as JSON: the command is inspect log convert, to the format json."
    raise AnnotationError(what, log.name, remedy, code="packed")


def _judges(about: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield each scorer and the model that judges for it, from its options or the grader role."""
    grader = at(about, "model_roles.grader")
    grader = grader.get("model") if isinstance(grader, dict) else grader
    for scorer in objects_in(about.get("scorers")):
        name, model = scorer.get("name"), at(scorer, "options.model")
        if isinstance(name, str):
            model = model if isinstance(model, str) else grader if "model" in name else None
            if isinstance(model, str):
                yield name.rpartition("/")[2], model


def _add(found: Records, item: str, judge: str, score: Mapping[str, object], row: int) -> None:
    """Add a score, with one question per part, and later edits as labels of their authors."""
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


# -- promptfoo: the judges of assertions are the coders --------------------------------------------


HUMAN, ALL = "human", "all assertions"


def is_promptfoo(source: Source, options: Options) -> bool:
    return any("gradingResult" in result for _, result in _results(source.sample[:2]))


def _results(records: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the results of one file: in ``results``, in ``results.results``, or one per line."""
    for record in records:
        inner = record.get("results", record)
        inner = inner.get("results", inner) if isinstance(inner, dict) else inner
        yield from enumerate(objects_in(inner) if isinstance(inner, list) else [record], 1)


def read_promptfoo(found: Records) -> None:
    """Read assertions: each metric is a question, and its judge is the coder."""
    results = list(_results(record for _, record in found.objects()))
    names = several([_key(result) for _, result in results])
    judged = _by_type([list(_judged(result)) for _, result in results])
    questions = {question for parts in judged for coder, question, _ in parts if coder != HUMAN}
    only = next(iter(questions)) if len(questions) == 1 else "overall"
    for item, (row, result), parts in zip(names, results, judged, strict=True):
        found.text(item, at(result, "response.output"))
        if not parts:
            found.skip(item)
        for coder, question, part in parts:
            label = verdict(part.get("pass"), part.get("score"), found.options)
            found.add(item, coder, only if coder == HUMAN else question, label, row)


def _key(result: Mapping[str, object]) -> dict[str, str]:
    provider, test = result.get("provider"), result.get("testIdx")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    if test is None:
        test = at(result, "testCase.description") or result.get("id")
    prompt = result.get("promptIdx")
    return {"test": short(test), "provider": short(provider), "prompt": short(prompt)}


def _judged(result: Mapping[str, object]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield judge, question and verdict of each assertion, or of all together if none is listed."""
    graded = part_of(result.get("gradingResult"))
    parts = objects_in(graded.get("componentResults"))
    for part in parts:
        said = part.get("assertion")
        if isinstance(said, dict):
            yield *_judge(said), part
    if not parts and "pass" in graded:
        yield ALL, "overall", graded


def _judge(said: Mapping[str, object]) -> tuple[str, str]:
    kind = short(said.get("type")) or "assertion"
    if kind == HUMAN:
        return HUMAN, HUMAN
    provider = said.get("provider")
    provider = provider.get("id") if isinstance(provider, dict) else provider
    asked = said.get("metric") or said.get("value")
    question = asked if isinstance(asked, str) and asked else kind
    return (provider if isinstance(provider, str) else kind), " ".join(question.split())[:80]


_Judged = tuple[str, str, Mapping[str, Any]]


def _by_type(judged: list[list[_Judged]]) -> list[list[_Judged]]:
    """Name questions by assertion type if every result was asked for a different text."""
    asked = Counter(question for parts in judged for _, question, _ in parts)
    if len(judged) < 2 or any(n > 1 for n in asked.values()):
        return judged
    kinds = [
        [(who, short(at(part, "assertion.type")) or asked, part) for who, asked, part in parts]
        for parts in judged
    ]
    is_once = all(len({kind for _, kind, _ in parts}) == len(parts) for parts in kinds)
    return kinds if is_once else judged


# -- DeepEval: evaluation models are the coders, metrics are the questions -------------------------


_CASES = ("testCases", "test_cases", "conversationalTestCases", "test_results", "testResults")
_METRICS = ("metricsData", "metrics_data", "metricsMetadata")


def is_deepeval(source: Source, options: Options) -> bool:
    one = first_log(source, ".json")
    return one is not None and any(
        isinstance(case.get(key), list) for _, case in _cases(one.sample[:1]) for key in _METRICS
    )


def _cases(records: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    lists = (record.get(key) for record in records for key in _CASES)
    cases = (case for part in lists if isinstance(part, list) for case in part)
    return enumerate((case for case in cases if isinstance(case, dict)), 1)


def read_deepeval(found: Records) -> None:
    """Read the metrics of test cases; a case in several runs is one item."""
    logs = found.source.parts(".json")
    cases = [
        (row, case, log.stem)
        for log in logs
        for row, case in _cases(record for _, record in found.objects(log.objects))
    ]
    twice = Counter((short(case.get("name")), stem) for _, case, stem in cases)
    parts = []
    for row, case, stem in cases:
        name = short(case.get("name"))
        alone = twice[name, stem] == 1
        parts.append({"case": name or short(row) if alone else f"{name}#{case.get('order', row)}"})
    for item, (row, case, stem) in zip(several(parts), cases, strict=True):
        found.text(item, case.get("input"))
        metrics: list[Any] = next(
            (case[key] for key in _METRICS if isinstance(case.get(key), list)), []
        )
        for metric in found.members(metrics, "a metric", row):
            name = short(metric.get("name"))
            if metric.get("error"):
                found.skip(item, name)
                continue
            judge = metric.get("evaluationModel") or metric.get("evaluation_model")
            judge = judge or (stem if len(logs) > 1 else "no model")
            label = verdict(metric.get("success"), metric.get("score"), found.options)
            found.add(item, judge, name or "metric", label, row)


# -- lm-evaluation-harness: logged samples; models are the coders ----------------------------------


_NAMED = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT[\d-]+(?:\.\d+)?)?$")
_ENDINGS = (".jsonl", ".jsonl.gz")
_TEXTS = ("question", "text", "query", "prompt")


def is_lm_eval(source: Source, options: Options) -> bool:
    one = first_log(source, *_ENDINGS)
    return one is not None and any(
        record.keys() >= {"doc_id", "filtered_resps"} for record in one.sample[:1]
    )


def read_lm_eval(found: Records) -> None:
    """Read answers; targets are true labels, and tasks and filters are questions."""
    asked = found.options.label
    rows = [
        (row, record, *_about(log, in_folder=found.source.inside is not None))
        for log in found.source.parts(*_ENDINGS)
        for row, record in found.objects(log.objects)
    ]
    if asked is not None:
        known = {key for _, record, _, _ in rows for key in record}
        found.require(sorted(known), asked, "label")
    filters = {short(record.get("filter")) for _, record, _, _ in rows}
    tasks = {task for _, _, task, _ in rows}
    items = several(
        [{"doc": short(record.get("doc_id")), "task": task} for _, record, task, _ in rows]
    )
    for item, (row, record, task, model) in zip(items, rows, strict=True):
        parts = [task] if len(tasks) > 1 else []
        parts += [short(record.get("filter"))] if len(filters) > 1 else []
        question, doc = ", ".join(parts) or task, part_of(record.get("doc"))
        found.text(item, next((doc[word] for word in _TEXTS if word in doc), None))
        if asked is not None:
            found.add(item, model, question, record.get(asked), row)
            continue
        found.add(item, model, question, _answer(record.get("filtered_resps")), row)
        target = record.get("target")
        found.gold(item, question, target if isinstance(target, (str, int)) else None)


def _about(log: Source, *, in_folder: bool) -> tuple[str, str]:
    """Return the task from the name of a log, and the model from its folder."""
    path = str(log.path) if in_folder else str(Path(str(log.path)).absolute())
    folder, _, name = path.rpartition("/")
    match = _NAMED.fullmatch(name.removesuffix(".gz").removesuffix(".jsonl"))
    model = folder.rpartition("/")[2] if match else log.stem
    return match["task"] if match else "answer", (model or log.stem).replace("__", "/")


def _answer(given: object) -> object:
    """Return the filtered answer or, for scored choices, the index of the highest score."""
    if not isinstance(given, list):
        return given
    scored = [part[0] for part in given if isinstance(part, list) and len(part) == 2]
    if len(given) > 1 and len(scored) == len(given):
        numbers = [float(value) for value in scored]
        return str(numbers.index(max(numbers)))
    first = given[0] if given else None
    return first.strip() if isinstance(first, str) else first


# -- Langfuse: exported scores; people and evaluators are the coders -------------------------------


_NEEDED = {"name", "source", "value", "traceid"}
_OF_WHAT = ("observationid", "traceid", "sessionid", "datasetrunid")
_WHO = ("authorusername", "authoruserid", "author", "evaluatorname", "evaluatorid")


def _plain(key: object) -> str:
    """Normalize a field name: traceId, trace_id and "Trace ID" become equal."""
    return re.sub(r"[^a-z]", "", str(key).casefold())


def is_langfuse(source: Source, options: Options) -> bool:
    names: Iterable[Any] = source.header
    if source.is_json:
        names = (key for one in _scores(source.sample) if isinstance(one, dict) for key in one)
    return {_plain(name) for name in names} >= _NEEDED


def _scores(values: Iterable[object]) -> Iterable[Any]:
    """Yield the scores of a file: its records, or the ``data`` of API responses."""
    for value in values:
        inner = value.get("data") if isinstance(value, dict) else None
        yield from inner if isinstance(inner, list) else [value]


def read_langfuse(found: Records) -> None:
    """Read scores: categories and booleans by name, numbers unchanged."""
    if found.source.is_json:
        scores = enumerate(_scores(value for _, value in found.objects()), 1)
        rows = [(n, one) for n, value in scores for one in found.members([value], "a score", n)]
    else:
        table = found.table
        rows = [] if found.problems else list(table.records())
    unnamed = 0
    for row, record in rows:
        score = {_plain(key): value for key, value in record.items()}
        parts = [str(score[key]) for key in ("traceid", "observationid") if score.get(key)]
        item = "/".join(parts) or next((score[key] for key in _OF_WHAT if score.get(key)), None)
        who = next((score[key] for key in _WHO if score.get(key)), None)
        kind = str(score.get("source") or "")
        unnamed += who is None and kind.upper() == "ANNOTATION"
        label = score.get("stringvalue") or score.get("value")
        question = str(score.get("name") or "score")
        found.add(item, who or kind, question, label, row, score.get("id") or "")
    if unnamed:
        found.note(
            f"{unnamed:,} annotations do not name their author, so they count as the work of one "
            "coder, 'ANNOTATION'. Export the authors with them (author_user_id)."
        )
