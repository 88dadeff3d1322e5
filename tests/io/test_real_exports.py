"""Real exports of labeling tools, beside the checkout: what is counted in them by other code."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from annomodels.cli.main import main

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("ANNOMODELS_SHARED") or ROOT.parent / "shared") / "exports"
pytestmark = [pytest.mark.slow, pytest.mark.shared]

# What options of the index are called now.
_NOW = {"--gold-column": "--truth-column", "keep": "all"}

# Files that are not read right yet. Strict: whoever mends one takes it out.
NOT_YET: set[str] = set()


def _entries() -> list[Any]:
    """Entries of the index, each with the mark it deserves."""
    index = FOLDER / "INDEX.json"
    if not index.is_file():
        return [pytest.param(None, id="no shared exports")]
    entries = json.loads(index.read_text("utf-8"))["entries"]
    wrong = pytest.mark.xfail(reason="not read right yet", strict=True)
    return [
        pytest.param(entry, id=entry["path"], marks=[wrong] if entry["path"] in NOT_YET else [])
        for entry in entries
    ]


@pytest.fixture
def checks(
    shared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, Any]:
    """Kinds of checks, as the script beside the exports makes them, but run in this process."""
    if not (FOLDER / "check.py").is_file():
        pytest.skip(f"There are no exports in {FOLDER}.")
    spec = importlib.util.spec_from_file_location("check_exports", FOLDER / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def call(_: str, words: list[str]) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([_NOW.get(word, word) for word in words])
        out, err = capsys.readouterr()  # the index has British spelling
        return code, out.replace("labeled", "labeled"), err.replace("labeled", "labeled")

    monkeypatch.setattr(module, "call", call)
    monkeypatch.chdir(FOLDER)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("CI", "1")
    return {"counts": module.counts, "refuse": module.refuse, "run": module.run}


@pytest.mark.parametrize("entry", _entries())
def test_a_real_export_is_read_right_or_refused_for_the_true_reason(
    entry: dict[str, Any], checks: dict[str, Any]
) -> None:
    faults = [checks[check["kind"]]("", check) for check in entry["checks"]]
    assert [fault for fault in faults if fault] == []
