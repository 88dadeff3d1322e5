"""Numbers, texts and columns of agreement are those of the golden files.

A number that changes on purpose is recorded by ``python tests/golden/agreement_cases.py``; the
commit says why.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import agreement_cases


def differences(want: Any, got: Any, where: str) -> list[str]:
    """List the places where two documents differ; floats may by 1e-9."""
    if isinstance(want, dict) and isinstance(got, dict):
        if list(want) != list(got):
            return [f"{where}: {list(want)} is now {list(got)}"]
        return [text for key in want for text in differences(want[key], got[key], f"{where}/{key}")]
    if isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            return [f"{where}: {len(want)} values are now {len(got)}"]
        pairs = enumerate(zip(want, got, strict=True))
        return [text for n, pair in pairs for text in differences(*pair, f"{where}/{n}")]
    if isinstance(want, float) or isinstance(got, float):
        numbers = all(isinstance(one, (int, float)) for one in (want, got))
        if numbers and math.isclose(want, got, rel_tol=1e-9, abs_tol=1e-9):
            return []
    return [] if want == got else [f"{where}: {want!r} is now {got!r}"]


@pytest.mark.slow
def test_agreement_is_as_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")
    monkeypatch.setenv("COLUMNS", "100")
    want = agreement_cases.recorded()
    got = json.loads(json.dumps(agreement_cases.everything()))
    assert sorted(want) == sorted(got)
    found = [text for name in want for text in differences(want[name], got[name], name)]
    assert not found, "\n".join(found[:40])


def test_a_difference_is_seen() -> None:
    want = {"a": [1, 0.5, "x", None], "b": {"c": 2}}
    assert differences(want, want, "") == []
    for got in (
        {"a": [1, 0.5 + 1e-8, "x", None], "b": {"c": 2}},
        {"a": [1, 0.5, "y", None], "b": {"c": 2}},
        {"a": [1, 0.5, "x", 0.0], "b": {"c": 2}},
        {"a": [2, 0.5, "x", None], "b": {"c": 2}},
        {"a": [1, 0.5, "x", None], "b": {"d": 2}},
        {"a": [1, 0.5, "x"], "b": {"c": 2}},
    ):
        assert len(differences(want, got, "")) == 1
