"""What readers of evaluation logs share: verdicts, names of samples, and the files of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annomodels.errors import AnnotationError
from annomodels.io.source import Options, Source

SCORE = "score"


def verdict(passed: Any, score: Any, options: Options) -> Any:
    """Label of a judgement: "pass" or "fail" where there is a verdict, else the score."""
    if isinstance(passed, bool) and options.label != SCORE:
        return "pass" if passed else "fail"
    return score


def several(parts: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Names made of those parts that differ between the samples; the first part always stays."""
    values: dict[str, set[str]] = {}
    for part in parts:
        for key, value in part.items():
            values.setdefault(key, set()).add(value)
    for part in parts:
        first, *rest = part
        more = [f"{key} {part[key]}" for key in rest if len(values[key]) > 1 and part[key]]
        yield ", ".join([part[first], *more])


def logs_in(source: Source, *endings: str) -> list[Source]:
    """Give the logs of a folder or archive, or the one file."""
    if source.inside is None:
        return [source]
    return [source.member(name) for name in source.inside.ending(*endings)]


def first_log(source: Source, *endings: str) -> Source | None:
    """Give the first log of a folder, to tell the format by; None if it cannot be opened."""
    if source.inside is None:
        return source
    names = source.inside.ending(*endings)
    try:
        return source.member(names[0]) if names else None
    except AnnotationError:
        return None


def short(value: Any) -> str:
    """Text of a value of JSON, for names; "" for nothing."""
    return "" if value is None else str(value)
