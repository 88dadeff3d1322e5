"""What cannot be computed is refused, and the refusal says what can."""

import operator
import tomllib
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
from annomodels.errors import AnnotationError, NotApplicable

FILE = Path(__file__).resolve().parents[1] / "cases" / "coefficients.toml"
GIVEN = tomllib.loads(FILE.read_text("utf-8"))


def data_of(name: str) -> am.Annotations:
    given = GIVEN["data"][name]
    if isinstance(given, str):
        return am.datasets.load(given)
    return am.Annotations.from_records(map(tuple, given))


@pytest.mark.parametrize("case", GIVEN["case"], ids=lambda case: case["says"][0])
def test_a_call_is_refused(case: dict[str, Any]) -> None:
    call = operator.attrgetter(case["call"])(am)
    data = map(data_of, case["data"])
    with pytest.raises((AnnotationError, NotApplicable)) as refused:
        call(*data, *case["arguments"], **case.get("options", {}))
    for words in case["says"]:
        assert words in str(refused.value)
