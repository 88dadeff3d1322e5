"""lm-evaluation-harness: logged samples; models are the coders, their answers the labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annomodels.io.logs.common import first_log, logs_in, several, short
from annomodels.io.source import Options, Source
from annomodels.io.tools.judgements import Judgements

_NAMED = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT[\d-]+(?:\.\d+)?)?$")
_OWN = ("doc_id", "filtered_resps")


def is_lm_eval(source: Source, options: Options) -> bool:
    """Whether records hold ``doc_id`` and ``filtered_resps``."""
    one = first_log(source, ".jsonl", ".jsonl.gz")
    if one is None or not one.is_json:
        return False
    return any(all(key in record for key in _OWN) for record in one.sample[:1])


def read_lm_eval(source: Source, options: Options, found: Judgements) -> None:
    """Columns of answers; the target is known truth, and tasks and filters are questions."""
    logs = logs_in(source, ".jsonl", ".jsonl.gz")
    rows = [
        (row, record, *_about(log, source))
        for log in logs
        for row, record in found.objects(log.objects)
    ]
    if options.label is not None:
        known = {key for _, record, _, _ in rows for key in record}
        found.require(sorted(known), options.label, "label")
    filters = {short(record.get("filter")) for _, record, _, _ in rows}
    tasks = {task for _, _, task, _ in rows}
    items = several(
        [{"doc": short(record.get("doc_id")), "task": task} for _, record, task, _ in rows]
    )
    for item, (row, record, task, model) in zip(items, rows, strict=True):
        parts = [task] if len(tasks) > 1 else []
        parts += [short(record.get("filter"))] if len(filters) > 1 else []
        question = ", ".join(parts) or task
        found.text(item, _text(record))
        if options.label is not None:
            found.add(item, model, question, record.get(options.label), row)
            continue
        found.add(item, model, question, _answer(record.get("filtered_resps")), row)
        target = record.get("target")
        found.gold(item, question, target if isinstance(target, (str, int)) else None)


def _about(log: Source, source: Source) -> tuple[str, str]:
    """Task and model of a log: its name, and the folder that it lies in."""
    path = str(log.path) if source.inside is not None else str(Path(str(log.path)).absolute())
    folder, _, name = path.rpartition("/")
    match = _NAMED.fullmatch(name.removesuffix(".gz").removesuffix(".jsonl"))
    task = match["task"] if match else "answer"
    model = folder.rpartition("/")[2] if match else log.stem
    return task, (model or log.stem).replace("__", "/")


def _answer(given: Any) -> Any:
    """Answer after the filter; of choices that are scored, the number of the likeliest."""
    if not isinstance(given, list):
        return given
    scored = [part[0] for part in given if isinstance(part, list) and len(part) == 2]
    if len(given) > 1 and len(scored) == len(given):
        numbers = [float(value) for value in scored]
        return str(numbers.index(max(numbers)))
    first = given[0] if given else None
    return first.strip() if isinstance(first, str) else first


def _text(record: Mapping[str, Any]) -> Any:
    doc = record.get("doc")
    asked = doc if isinstance(doc, dict) else {}
    words = ("question", "text", "query", "prompt")
    return next((asked[word] for word in words if word in asked), None)
