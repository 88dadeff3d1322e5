"""Krippendorff (2004), Content Analysis, chapter 11: alpha of units, as DKPro Statistics has it."""

from __future__ import annotations

import math
from typing import Any

import pytest

import annomodels as am
from annomodels.coref import unitized_alpha


def test_two_coders_and_two_categories(cases: dict[str, Any]) -> None:
    held = cases["alpha_unitizing"]
    found = unitized_alpha([tuple(unit) for unit in held["data"]], *held["continuum"])
    got = {"alpha": found.value}
    for category, (value, observed, expected) in found.by_category.items():
        got |= {f"alpha_{category}": value, f"Do_{category}": observed, f"De_{category}": expected}
    assert set(got) == set(held["expected"])
    for name, (value, tolerance) in held["expected"].items():
        assert got[name] == pytest.approx(value, abs=tolerance), name


def test_what_cannot_be_measured_is_said() -> None:
    with pytest.raises(am.errors.AnnotationError) as caught:
        unitized_alpha([(0, 3, "a", "x"), (2, 3, "a", "x"), (8, 5, "a", "x")], 0, 10)
    assert [problem.what for problem in caught.value.problems] == [
        "The unit from 8 to 13 lies beyond text 'the text', which goes from 0 to 10.",
        "Two units of coder 'a' with the label 'x' overlap in text 'the text'.",
        "The units are of 1 coder.",
    ]
    full = unitized_alpha([(0, 1, "a", "x"), (0, 1, "b", "x")], 0, 1)
    assert math.isnan(full.value)
