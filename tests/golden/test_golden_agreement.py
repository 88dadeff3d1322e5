"""Numbers, texts and columns of agreement are those of the golden files.

A number that changes on purpose is recorded by ``python tests/golden/agreement_cases.py``; the
commit says why.
"""

import json

import pytest

from tests.golden import agreement_cases
from tests.golden.agreement_cases import differences


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
