"""What readers of evaluation logs share: verdicts, names of samples, the first file of a folder."""

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


def first_log(source: Source, *endings: str) -> Source | None:
    """First log of a folder, or the one file, to tell the format by; None if it cannot be read."""
    try:
        names = [] if source.inside is None else source.inside.ending(*endings)[:1]
        return source.member(names[0]) if names else source if source.inside is None else None
    except AnnotationError:
        return None


def short(value: Any) -> str:
    """Text of a value of JSON, for names; "" for nothing."""
    return "" if value is None else str(value)


def part_of(value: Any) -> Mapping[str, Any]:
    """Object, or an empty one where there is none."""
    return value if isinstance(value, dict) else {}


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Objects in a list; none where there is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
