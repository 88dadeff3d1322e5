"""lm-evaluation-harness: logged samples; models are the coders, their answers the labels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from annomodels.io.logs.common import first_log, part_of, several, short
from annomodels.io.records import Records
from annomodels.io.source import Options, Source

_NAMED = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT[\d-]+(?:\.\d+)?)?$")
_ENDINGS = (".jsonl", ".jsonl.gz")
_TEXTS = ("question", "text", "query", "prompt")


def is_lm_eval(source: Source, options: Options) -> bool:
    """Whether records hold ``doc_id`` and ``filtered_resps``."""
    one = first_log(source, *_ENDINGS)
    return one is not None and any(
        record.keys() >= {"doc_id", "filtered_resps"} for record in one.sample[:1]
    )


def read_lm_eval(found: Records) -> None:
    """Answers; the target is known truth, and tasks and filters are questions."""
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
    """Task and model of a log: its name, and the folder that it lies in."""
    path = str(log.path) if in_folder else str(Path(str(log.path)).absolute())
    folder, _, name = path.rpartition("/")
    match = _NAMED.fullmatch(name.removesuffix(".gz").removesuffix(".jsonl"))
    model = folder.rpartition("/")[2] if match else log.stem
    return match["task"] if match else "answer", (model or log.stem).replace("__", "/")


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
