"""Krippendorff (2004), Content Analysis, chapter 11: alpha of units, as DKPro Statistics has it."""

from __future__ import annotations

from typing import Any

import pytest

import annomodels as am


def test_two_coders_and_two_categories(cases: dict[str, Any]) -> None:
    held = cases["alpha_unitizing"]
    begin, length = held["continuum"]
    rows = [("t", coder, at, at + size, kind) for at, size, coder, kind in held["data"]]
    units = am.coefficients.Units.from_records(rows, lengths=length, begins=begin)
    got = {"alpha": am.coefficients.alpha_u(units).value}
    for category in units.labels:
        found = am.coefficients.alpha_u(units, category)
        parts = {"alpha": found.value, "Do": found.observed, "De": found.expected}
        got |= {f"{name}_{category}": value for name, value in parts.items()}
    assert set(got) == set(held["expected"])
    for name, (value, tolerance) in held["expected"].items():
        assert got[name] == pytest.approx(value, abs=tolerance), name
