"""Shells complete commands and options, and every command can answer in JSON."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from annomodels.cli.main import COMMANDS, load_command


def completed(words: str, *, shell: str = "bash") -> list[str]:
    """Ask what click offers for the last of the words."""
    env = {
        **os.environ,
        "_ANNOMODELS_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "annomodels"], capture_output=True, text=True, env=env, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_options_and_choices_are_completed() -> None:
    assert completed("annomodels com") == ["compare", "completion"]
    assert "--threshold" in completed("annomodels gold --t")
    assert completed("annomodels gold --format t") == ["table", "tsv", "tex"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_and_calls_this_program(shell: str, call) -> None:
    done = call("completion", shell)
    assert done.code == 0
    assert f"_ANNOMODELS_COMPLETE={shell}_complete" in done.out
    assert json.loads(call("completion", shell, "--json").out)["script"] == done.out


def test_bash_understands_the_script(tmp_path: Path, call) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("There is no bash here.")
    path = tmp_path / "completion"
    path.write_text(call("completion", "bash").out)
    subprocess.run([bash, "-n", str(path)], check=True, timeout=900)


def test_another_shell_is_a_usage_error(call) -> None:
    done = call("completion", "tcsh")
    assert done.code == 2
    assert "fish" in done.err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_answer_in_json(name: str) -> None:
    command = load_command(name)
    assert "--json" in {flag for option in command.params for flag in option.opts}
