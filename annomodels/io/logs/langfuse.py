"""Langfuse: exported scores; people and evaluators are the coders, names of scores questions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from annomodels.io.records import Records
from annomodels.io.source import Options, Source

_NEEDED = {"name", "source", "value", "traceid"}
_OF_WHAT = ("observationid", "traceid", "sessionid", "datasetrunid")
_WHO = ("authorusername", "authoruserid", "author", "evaluatorname", "evaluatorid")


def _plain(key: Any) -> str:
    """Name of a field without its spelling: traceId, trace_id and "Trace ID" are one."""
    return re.sub(r"[^a-z]", "", str(key).casefold())


def is_langfuse(source: Source, options: Options) -> bool:
    """Whether there are name, value and source of scores, and the trace they are of."""
    names: Iterable[Any] = source.header
    if source.is_json:
        names = (key for one in _scores(source.sample) if isinstance(one, dict) for key in one)
    return {_plain(name) for name in names} >= _NEEDED


def _scores(values: Iterable[Any]) -> Iterable[Any]:
    """Scores of a file: its records, or the ``data`` of answers of the API."""
    for value in values:
        inner = value.get("data") if isinstance(value, dict) else None
        yield from inner if isinstance(inner, list) else [value]


def read_langfuse(found: Records) -> None:
    """Scores; categories and booleans by their names, numbers as they are."""
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
            f"{unnamed:,} annotations do not say whose they are, so they count as those of one "
            "coder, 'ANNOTATION'. Export the authors with them (author_user_id)."
        )
