"""The worked examples run as a reader would run them, and say something."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.py"))


def test_there_are_three_examples() -> None:
    assert [path.stem for path in EXAMPLES] == ["ambiguous_items", "gold_standard", "poor_coders"]


@pytest.mark.calibration
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_and_leaves_nothing_behind(script: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=900,
    )
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) > 10
    assert not list(tmp_path.iterdir())
