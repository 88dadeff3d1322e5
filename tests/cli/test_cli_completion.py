"""Shells complete commands and options, and every command can answer in JSON."""

import os
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from annomodels.cli.main import COMMANDS, cli, load_command


def asked(**variables: str) -> str:
    """Ask the program as a shell does."""
    words = [sys.executable, "-m", "annomodels"]
    env = {**os.environ, **variables}
    done = subprocess.run(words, capture_output=True, text=True, env=env, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout


def completed(words: str) -> list[str]:
    """Return what click offers for the last of the words."""
    *before, last = words.split(" ")
    offered = ShellComplete(cli, {}, "annomodels", "X").get_completions(before, last)
    return [each.value for each in offered]


@pytest.mark.slow
def test_commands_options_and_choices_are_completed() -> None:
    assert completed("com") == ["compare"]
    assert "--threshold" in completed("gold --t")
    assert completed("gold --format t") == ["table", "tsv", "tex"]
    words = {"COMP_WORDS": "annomodels gold --format t", "COMP_CWORD": "3"}
    said = asked(_ANNOMODELS_COMPLETE="bash_complete", **words)
    assert said.split() == ["plain,table", "plain,tsv", "plain,tex"]


def test_the_script_is_printed_and_calls_this_program() -> None:
    said = asked(_ANNOMODELS_COMPLETE="zsh_source")
    assert "_ANNOMODELS_COMPLETE=zsh_complete" in said


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_answer_in_json(name: str) -> None:
    command = load_command(name)
    assert "--format" in {flag for option in command.params for flag in option.opts}
