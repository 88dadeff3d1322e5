"""promptfoo: results of evaluations; the judges of assertions are the coders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annomodels.io.logs.common import objects_in, part_of, several, short, verdict
from annomodels.io.objects import at
from annomodels.io.records import Records
from annomodels.io.source import Options, Source

HUMAN, ALL = "human", "all assertions"


def is_promptfoo(source: Source, options: Options) -> bool:
    """Whether records hold results, or are results, with ``gradingResult``."""
    return any("gradingResult" in result for _, result in _results(source.sample[:2]))


def _results(records: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Results of one file: in ``results``, in ``results.results``, or one a line."""
    for record in records:
        inner = record.get("results", record)
        inner = inner.get("results", inner) if isinstance(inner, dict) else inner
        yield from enumerate(objects_in(inner) if isinstance(inner, list) else [record], 1)


def read_promptfoo(found: Records) -> None:
    """Take assertions: each metric is a question, and the judge of it is the coder."""
    results = list(_results(record for _, record in found.objects()))
    names = several([_key(result) for _, result in results])
    judged = [list(_judged(result)) for _, result in results]
    questions = {question for parts in judged for coder, question, _ in parts if coder != HUMAN}
    only = next(iter(questions)) if len(questions) == 1 else "overall"
    for item, (row, result), parts in zip(names, results, judged, strict=True):
        found.text(item, at(result, "response.output"))
        if not parts:
            found.skip(item)
        for coder, question, part in parts:
            label = verdict(part.get("pass"), part.get("score"), found.options)
            found.add(item, coder, only if coder == HUMAN else question, label, row)


def _key(result: Mapping[str, Any]) -> dict[str, str]:
    """Parts of the name of an output: which test, of which provider, with which prompt."""
    provider, test = result.get("provider"), result.get("testIdx")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    if test is None:
        test = at(result, "testCase.description") or result.get("id")
    prompt = result.get("promptIdx")
    return {"test": short(test), "provider": short(provider), "prompt": short(prompt)}


def _judged(result: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Judge, question and verdict of each assertion; of all together where there are no parts."""
    graded = part_of(result.get("gradingResult"))
    parts = objects_in(graded.get("componentResults"))
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
    provider = provider.get("id") if isinstance(provider, dict) else provider
    asked = said.get("metric") or said.get("value")
    question = asked if isinstance(asked, str) and asked else kind
    return (provider if isinstance(provider, str) else kind), " ".join(question.split())[:80]
