"""Real exports of labeling tools, beside the checkout: what is counted in them by other code."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annomodels.cli.main import main

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("ANNOMODELS_SHARED") or ROOT.parent / "shared") / "exports"
pytestmark = [pytest.mark.slow, pytest.mark.shared]

# What options of the index are called now; further options of reading are keys of --read.
_NOW = {
    "--gold-column": ["--truth"],
    "--every-question": ["--question", "*"],
    "--sets": ["--read", "sets"],
    "keep": ["all"],
}
_KEYS = {
    **{f"--{name.replace('_', '-')}": name for name in (
        "columns", "delimiter", "encoding", "repeats", "skip_rows", "chain_from",
    )},
    "--input-format": "format",
}  # fmt: skip

# Files that are not read right yet. Strict: whoever mends one takes it out.
NOT_YET: set[str] = set()


def _respelled(words: list[str]) -> Iterator[str]:
    """Words of a command with its options as they are called now."""
    rest = iter([new for word in words for new in _NOW.get(word, [word])])
    for word in rest:
        if word in _KEYS:
            yield from ("--read", f"{_KEYS[word]}={next(rest)}")
        else:
            yield word


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
        code = main(list(_respelled(words)))
        out, err = capsys.readouterr()
        return code, out, err.replace("--read columns=", "--columns ")

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
