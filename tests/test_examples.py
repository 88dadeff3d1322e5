"""The worked examples run as a reader would run them, and say something."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from docs.execute import untrue

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_four_examples() -> None:
    names = ["ambiguous_items", "gold_spans", "gold_standard", "poor_coders"]
    assert [path.stem for path in EXAMPLES] == names


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
    assert untrue(run.stdout) == []
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "gate", "code", "said"),
    [
        ("dataset:boxcar", "", "0", "**Krippendorff's alpha "),
        ("dataset:boxcar", "alpha>2", "0", "Gate `alpha>2`: passed."),
        ("dataset:boxcar", "alpha<2", "1", "Gate `alpha<2`: **failed**."),
        ("none.csv", "alpha<2", "3", "Agreement was not computed."),
    ],
)
def test_the_github_action_comments_the_headline(
    data: str, gate: str, code: str, said: str, tmp_path: Path
) -> None:
    """Run the step that writes the comment, as GitHub does."""
    text = (ROOT / ".github/actions/agree/action.yml").read_text("utf-8")
    step = text.split("- id: agree", 1)[1].split("run: |\n", 1)[1].split("      env:", 1)[0]
    given = {"DATA": data, "FAIL_IF": gate, "OPTIONS": "", "GITHUB_STEP_SUMMARY": "summary.md"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", textwrap.dedent(step)],
        cwd=tmp_path,
        env={**os.environ, **given, "GITHUB_OUTPUT": "output.txt", "PATH": path},
        check=True,
    )
    assert (tmp_path / "output.txt").read_text() == f"code={code}\n"
    assert said in (tmp_path / "comment.md").read_text("utf-8")
