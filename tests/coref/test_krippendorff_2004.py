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


def by_definition(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> int:
    total = 0
    for mine, theirs in ((one, other), (other, one)):
        for a, size in mine:
            meets = [(b, width) for b, width in theirs if a < b + width and b < a + size]
            total += sum((a - b) ** 2 + (a + size - b - width) ** 2 for b, width in meets)
            total += 2 * size**2 if not meets else 0
    return total


@pytest.mark.parametrize("seed", range(5))
def test_observed_disagreement_by_its_definition(seed: int) -> None:
    import numpy as np

    rng = np.random.default_rng(seed)
    marked = []
    for _ in range(2):
        ends = np.sort(rng.choice(60, 12, replace=False))
        marked.append([(int(a), int(b - a)) for a, b in zip(ends[::2], ends[1::2], strict=True)])
    rows = [(a, size, coder, "x") for coder, units in enumerate(marked) for a, size in units]
    found = unitized_alpha(rows, 0, 60)
    assert found.observed == pytest.approx(by_definition(*marked) / (2 * 60**2))
    order = rng.permutation(len(rows))
    moved = [(rows[n][0] + 7, *rows[n][1:]) for n in order]
    assert unitized_alpha(moved, 7, 60)[:3] == pytest.approx(found[:3])


def test_expected_disagreement_by_drawing_places() -> None:
    """A unit of two words in six, and nothing but gaps: every place counts alike."""
    found = unitized_alpha([(0, 2, "a", "x"), (4, 2, "b", "x")], 0, 6)
    # gaps of 4 words for both coders: 3 places for a unit of 2; the units against each other
    units = 2 * (1 / 3 * (16 - 12 + 2) + 4 * (3 + 3))
    assert found.expected == pytest.approx(2 / 6 * units / (12 * 11 - 2 * 2))
    assert found.value == pytest.approx(1 - found.observed / found.expected)


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
