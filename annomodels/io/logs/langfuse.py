"""Langfuse: exported scores; people and evaluators are the coders, names of scores questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from annomodels.io.source import Options, Source
from annomodels.io.tools.judgements import Judgements

_NEEDED = {"name", "source", "value"}
_OF_WHAT = ("observationid", "traceid", "sessionid", "datasetrunid")
_WHO = ("authorusername", "authoruserid", "author", "evaluatorname", "evaluatorid")


def _plain(key: str) -> str:
    """Name of a field without its spelling: traceId, trace_id and "Trace ID" are one."""
    return re.sub(r"[^a-z]", "", key.casefold())


def is_langfuse(source: Source, options: Options) -> bool:
    """Whether there are name, value and source of scores, and the trace they are of."""
    plain = {_plain(name) for name in _names(source)}
    return plain >= _NEEDED and "traceid" in plain


def _names(source: Source) -> Iterable[str]:
    if source.is_json:
        records = (record for record in _records(source.sample) if isinstance(record, dict))
        return [str(key) for record in records for key in record]
    return source.header


def _records(values: Iterable[Any]) -> Iterable[Any]:
    """Scores of a file: its records, or the ``data`` of answers of the API."""
    for value in values:
        inner = value.get("data") if isinstance(value, dict) else None
        yield from inner if isinstance(inner, list) else [value]


def read_langfuse(source: Source, options: Options, found: Judgements) -> None:
    """Columns of the scores; categories and booleans by their names, numbers as they are."""
    rows: Iterable[tuple[int, Any]]
    if source.is_json:
        rows = list(enumerate(_records(value for _, value in found.objects()), 1))
    else:
        table = found.table
        rows = [] if found.problems else table.records()
    unnamed = 0
    for row, record in rows:
        if not isinstance(record, Mapping):
            found.unreadable("a score", row)
            continue
        score = {_plain(str(key)): value for key, value in record.items()}
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
