"""Codebook: scale and labels of each question, by name or pattern."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from annomodels.data.annotations import SCALES
from annomodels.data.validation import some
from annomodels.errors import AnnotationError, Option, Problem, meant, raise_all
from annomodels.io.border import guarded
from annomodels.io.source import Source
from annomodels.io.tables.columns import known_column

QUESTION_WORDS = ("question", "variable", "name", "column")
LABEL_WORDS = ("labels", "values", "categories", "codes")
_NAMES = (QUESTION_WORDS, ("scale",), LABEL_WORDS)
_MARKS = "|;,"
_UNNAMED = "The labels answer one question that has no name: call it '*'."


@dataclass(frozen=True)
class Entry:
    """Scale and labels for the questions that match a pattern."""

    scale: str | None = None
    labels: tuple[str, ...] | None = None
    where: str = field(default="", repr=False, compare=False)


def is_pattern(name: str) -> bool:
    """Return True if a name contains a wildcard: ``*``, ``?`` or ``[``."""
    return not set("*?[").isdisjoint(name)


def fits(pattern: str, name: str) -> bool:
    return pattern == name or fnmatchcase(name, pattern)


class Codebook:
    """Scales and labels by question; later entries override earlier ones."""

    def __init__(self, scale: Any, codebook: Any = None) -> None:
        self._book = {} if codebook is None else _entries(codebook)
        self._said = _entries(scale) if isinstance(scale, Mapping) else {}
        if not isinstance(scale, Mapping) and scale not in SCALES:
            remedy = f"Use one of {', '.join(SCALES)}."
            raise AnnotationError(f"{scale!r} is not a scale.", remedy=remedy, code="unknown-scale")
        general = self._said.get("*", Entry(None if isinstance(scale, Mapping) else scale))
        own = [pair for pair in self._said.items() if pair[0] != "*"]
        self._all = [("*", general), *self._book.items(), *own]

    def of(self, question: str) -> Entry:
        found = Entry()
        for pattern, entry in self._all:
            if fits(pattern, question):
                found = Entry(entry.scale or found.scale, entry.labels or found.labels)
        return found

    def unfit(self, questions: Collection[str]) -> list[Problem]:
        book = {name: entry.where for name, entry in self._book.items()}
        said = dict.fromkeys(self._said, f"{Option('scale', ...)}")
        return [*unknown(said, questions), *unknown(book, questions)]


def unknown(names: Mapping[str, str], questions: Collection[str]) -> list[Problem]:
    known = f"The questions are {some(questions)}." if questions else _UNNAMED
    return [
        Problem(
            f"No question {'fits' if is_pattern(name) else 'is called'} {name!r}.",
            where,
            meant(name, questions) + known,
            code="unknown-question",
        )
        for name, where in names.items()
        if not any(fits(name, question) for question in questions)
    ]


def _entries(given: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Entry]:
    """Read a codebook from a table (question, scale, labels), JSON or a mapping."""
    if isinstance(given, Mapping):
        rows = [(str(name), value, f"codebook, {name!r}") for name, value in given.items()]
    else:
        source = Source(given)
        with guarded(source.name, "codebook"):
            rows = _rows(source)
    problems: list[Problem] = []
    out: dict[str, Entry] = {}
    for name, value, where in rows:
        said = {"scale": value} if isinstance(value, str) else value
        if not isinstance(said, Mapping):
            what = f"{value!r} does not describe a question."
            problems.append(Problem(what, where, "Give a scale, or an object of scale and labels."))
            continue
        scale, labels = said.get("scale") or None, said.get("labels") or None
        if scale is not None and scale not in SCALES:
            what, remedy = f"{scale!r} is not a scale.", f"Use one of {', '.join(SCALES)}."
            problems.append(Problem(what, where, remedy, code="unknown-scale"))
        if name in out:
            what = f"Question {name!r} is listed twice."
            problems.append(Problem(what, where, "Leave one out.", code="question-twice"))
        out[name] = Entry(scale, _labels(labels), where)
    raise_all(problems)
    return out


def _labels(given: Any) -> tuple[str, ...] | None:
    """Return the labels of a list, or of a string with separators ``|``, ``;`` or ``,``."""
    if given is None:
        return None
    if not isinstance(given, str):
        return tuple(map(str, given))
    mark = next((mark for mark in _MARKS if mark in given), _MARKS[0])
    return tuple(part.strip() for part in given.split(mark) if part.strip())


def _rows(source: Source) -> list[tuple[str, Any, str]]:
    if source.is_json and isinstance(source.documents, dict):
        return [
            (name, value, f"{source.name}, {name!r}") for name, value in source.documents.items()
        ]
    table = source.table
    raise_all([*table.problems, *table.doubled(table.header)])
    question, *about = (known_column(table.header, words) for words in _NAMES)
    columns = {role: name for role, name in zip(("scale", "labels"), about, strict=True) if name}
    if question is None or not columns:
        what = (
            "A codebook has the columns question, scale and labels; this table has "
            f"{some(table.header)}."
        )
        remedy = "Use these column names, and separate labels by bars (low|mid|high)."
        raise AnnotationError(what, source.name, remedy, code="no-codebook")
    out = []
    for n, row in enumerate(table.rows):
        said = {role: table.columns[name][n] for role, name in columns.items()}
        name = str(table.columns[question][n])
        if name:
            out.append((name, said, f"{source.name}, row {row}"))
    return out
