"""DeepEval: test runs; the models that evaluate are the coders, and metrics the questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from annomodels.io.logs.common import first_log, several, short, verdict
from annomodels.io.records import Records
from annomodels.io.source import Options, Source

_CASES = ("testCases", "test_cases", "conversationalTestCases", "test_results", "testResults")
_METRICS = ("metricsData", "metrics_data", "metricsMetadata")


def is_deepeval(source: Source, options: Options) -> bool:
    """Whether a record holds test cases with data of metrics."""
    one = first_log(source, ".json")
    return one is not None and any(
        isinstance(case.get(key), list) for _, case in _cases(one.sample[:1]) for key in _METRICS
    )


def _cases(records: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Test cases of the runs, each with its number."""
    lists = (record.get(key) for record in records for key in _CASES)
    cases = (case for part in lists if isinstance(part, list) for case in part)
    return enumerate((case for case in cases if isinstance(case, dict)), 1)


def read_deepeval(found: Records) -> None:
    """Metrics of test cases; the same case of several runs is one item."""
    logs = found.source.parts(".json")
    cases = [
        (row, case, log.stem)
        for log in logs
        for row, case in _cases(record for _, record in found.objects(log.objects))
    ]
    twice = Counter((short(case.get("name")), stem) for _, case, stem in cases)
    parts = []
    for row, case, stem in cases:
        name = short(case.get("name"))
        alone = twice[name, stem] == 1
        parts.append({"case": name or short(row) if alone else f"{name}#{case.get('order', row)}"})
    for item, (row, case, stem) in zip(several(parts), cases, strict=True):
        found.text(item, case.get("input"))
        metrics: list[Any] = next(
            (case[key] for key in _METRICS if isinstance(case.get(key), list)), []
        )
        for metric in found.members(metrics, "a metric", row):
            name = short(metric.get("name"))
            if metric.get("error"):
                found.skip(item, name)
                continue
            judge = metric.get("evaluationModel") or metric.get("evaluation_model")
            judge = judge or (stem if len(logs) > 1 else "no model")
            label = verdict(metric.get("success"), metric.get("score"), found.options)
            found.add(item, judge, name or "metric", label, row)
