"""promptfoo: results of evaluations; the judges of assertions are the coders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annomodels.io.logs.common import several, short, verdict
from annomodels.io.source import Options, Source
from annomodels.io.tools.judgements import Judgements

HUMAN, ALL = "human", "all assertions"


def is_promptfoo(source: Source, options: Options) -> bool:
    """Whether records hold results, or are results, with ``gradingResult``."""
    return any("gradingResult" in result for _, result in _results(source.sample[:2]))


def _results(records: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Results of one file: in ``results``, in ``results.results``, or one a line."""
    for record in records:
        inner = record.get("results", record)
        inner = inner.get("results", inner) if isinstance(inner, dict) else inner
        parts = inner if isinstance(inner, list) else [record]
        yield from enumerate((part for part in parts if isinstance(part, dict)), 1)


def read_promptfoo(source: Source, options: Options, found: Judgements) -> None:
    """Columns of the assertions: each metric is a question, and the judge of it is the coder."""
    results = list(_results(record for _, record in found.objects()))
    names = list(several([_key(result) for _, result in results]))
    judged = [list(_judged(result)) for _, result in results]
    questions = {question for parts in judged for coder, question, _ in parts if coder != HUMAN}
    only = next(iter(questions)) if len(questions) == 1 else "overall"
    for item, (row, result), parts in zip(names, results, judged, strict=True):
        response = result.get("response")
        found.text(item, response.get("output") if isinstance(response, dict) else None)
        if not parts:
            found.skip(item)
        for coder, question, part in parts:
            asked = only if coder == HUMAN else question
            label = verdict(part.get("pass"), part.get("score"), options)
            found.add(item, coder, asked, label, row)


def _key(result: Mapping[str, Any]) -> dict[str, str]:
    """Parts of the name of an output: which test, of which provider, with which prompt."""
    provider = result.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    test = result.get("testIdx")
    case = result.get("testCase")
    case = case if isinstance(case, dict) else {}
    name = test if test is not None else case.get("description") or result.get("id")
    return {
        "test": short(name),
        "provider": short(provider),
        "prompt": short(result.get("promptIdx")),
    }


def _judged(result: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Judge, question and verdict of each assertion; of all together where there are no parts."""
    graded = result.get("gradingResult")
    graded = graded if isinstance(graded, dict) else {}
    parts = graded.get("componentResults")
    parts = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    for part in parts:
        said = part.get("assertion")
        if isinstance(said, dict):
            yield *_judge(said), part
    if not parts and "pass" in graded:
        yield ALL, "overall", graded


def _judge(said: Mapping[str, Any]) -> tuple[str, str]:
    """Who judges an assertion, and what is asked: its metric, its words, or its type."""
    kind = short(said.get("type")) or "assertion"
    if kind == HUMAN:
        return HUMAN, HUMAN
    provider = said.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("id")
    asked = said.get("metric") or said.get("value")
    question = asked if isinstance(asked, str) and asked else kind
    return (provider if isinstance(provider, str) else kind), " ".join(question.split())[:80]
