"""Shells complete commands and options, and every command can answer in JSON."""

import os
import subprocess
import sys

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
    assert completed("annomodels com") == ["compare"]
    assert "--threshold" in completed("annomodels gold --t")
    assert completed("annomodels gold --format t") == ["table", "tsv", "tex"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_script_is_printed_and_calls_this_program(shell: str) -> None:
    env = {**os.environ, "_ANNOMODELS_COMPLETE": f"{shell}_source"}
    done = subprocess.run(
        [sys.executable, "-m", "annomodels"], capture_output=True, text=True, env=env, timeout=900
    )
    assert done.returncode == 0, done.stderr
    assert f"_ANNOMODELS_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_answer_in_json(name: str) -> None:
    command = load_command(name)
    assert "--format" in {flag for option in command.params for flag in option.opts}
