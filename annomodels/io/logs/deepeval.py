"""DeepEval: test runs; the models that evaluate are the coders, and metrics the questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from annomodels.io.logs.common import first_log, logs_in, several, short, verdict
from annomodels.io.source import Options, Source
from annomodels.io.tools.judgements import Judgements

_CASES = ("testCases", "test_cases", "conversationalTestCases", "test_results", "testResults")
_METRICS = ("metricsData", "metrics_data", "metricsMetadata")


def is_deepeval(source: Source, options: Options) -> bool:
    """Whether a record holds test cases with data of metrics."""
    one = first_log(source, ".json")
    if one is None or not one.is_json:
        return False
    return any(_first(case, _METRICS) is not None for _, case in _cases(one.sample[:1]))


def _first(record: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((record[key] for key in keys if isinstance(record.get(key), list)), None)


def _cases(records: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Test cases of the runs, each with its number."""
    number = 0
    for record in records:
        for key in _CASES:
            cases = record.get(key)
            for case in cases if isinstance(cases, list) else ():
                if isinstance(case, dict):
                    number += 1
                    yield number, case


def read_deepeval(source: Source, options: Options, found: Judgements) -> None:
    """Columns of the metrics of test cases; the same case of several runs is one item."""
    logs = logs_in(source, ".json")
    cases = [
        (row, case, log.stem)
        for log in logs
        for row, case in _cases(record for _, record in found.objects(log.objects))
    ]
    twice = Counter((short(case.get("name")), stem) for _, case, stem in cases)
    names = several(
        [
            {"case": short(case.get("name") or row)}
            if twice[short(case.get("name")), stem] == 1
            else {"case": f"{short(case.get('name'))}#{short(case.get('order', row))}"}
            for row, case, stem in cases
        ]
    )
    for item, (row, case, stem) in zip(names, cases, strict=True):
        found.text(item, case.get("input"))
        for metric in _first(case, _METRICS) or ():
            if not isinstance(metric, dict):
                found.unreadable("a metric", row)
                continue
            if metric.get("error"):
                found.skip(item, short(metric.get("name")))
                continue
            judge = metric.get("evaluationModel") or metric.get("evaluation_model")
            judge = judge or (stem if len(logs) > 1 else "no model")
            label = verdict(metric.get("success"), metric.get("score"), options)
            found.add(item, judge, short(metric.get("name")) or "metric", label, row)
