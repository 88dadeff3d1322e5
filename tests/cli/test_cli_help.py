"""Help is quick, light and complete; shells complete words, and all commands answer in JSON."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

import annomodels
from annomodels.cli.keys import KeyOption
from annomodels.cli.main import COMMANDS, FILES, cli, load_command

HEAVY = {
    "numpy", "pandas", "numba", "pymc", "pytensor", "arviz", "arviz_stats", "matplotlib",
    "nutpie", "xarray", "scipy", "pyarrow", "rich", "jinja2",
}  # fmt: skip


def _python(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True, text=True, check=True, timeout=900, env={**os.environ, **variables},
    )  # fmt: skip


@pytest.mark.parametrize(
    "words", [["--help"], [], ["--version"]], ids=["help", "nothing", "version"]
)
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    done = _python("-X", "importtime", "-m", "annomodels", *words)
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()
    }
    assert "click" in imported
    assert imported.isdisjoint(HEAVY)
    # some 130, a third of which Python starts with: what takes time is loading them
    assert done.stderr.count("import time:") < 250


def test_the_table_of_commands_is_the_folder_of_commands() -> None:
    folder = Path(annomodels.__file__).parent / "cli" / "commands"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert files == set(FILES)
    assert sorted(sum(FILES.values(), ())) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name: str, call) -> None:
    done = call(name, "--help")
    assert done.code == 0
    assert f"  annomodels {name}" in done.out
    whole = call(name, "--help-all" if "--help-all" in done.out else "--help").out
    for flag in ("--debug", "--quiet", "--verbose"):
        assert flag in whole
    assert 'default: ""' not in done.out
    command = load_command(name)
    assert command.name == name
    options = [option for option in command.params if option.param_type_name == "option"]
    assert all(option.help for option in options)


@pytest.mark.parametrize(
    ("verb", "command", "without"),
    [(annomodels.fit, "run", {"progress", "executor"}), (annomodels.read, "check", set())],
)
def test_every_keyword_of_a_verb_is_an_option_or_a_key_with_its_default(
    verb, command: str, without: set[str]
) -> None:
    options = {option.name: option for option in load_command(command).params}
    keywords = {
        name: known.default
        for name, known in inspect.signature(verb).parameters.items()
        if known.kind is known.KEYWORD_ONLY and name not in without
    }
    assert keywords.keys() <= options.keys()
    words = ["x.csv", "-o", "out", *["--seed", "0"] * (command == "run")]
    given = load_command(command).make_context(command, words).params
    assert {name: given[name] or None for name in keywords} == {
        name: default or None for name, default in keywords.items()
    }
    for name in keywords:
        assert str(options[name].help).endswith(".")
        assert "`" not in str(options[name].help)


def test_the_command_line_stays_small() -> None:
    """Bars of the issue on fewer words; a test counts what a reader of --help meets."""
    names, shown = set[str](), {}
    for name in COMMANDS:
        command = load_command(name)
        options = [each for each in command.params if isinstance(each, click.Option)]
        names |= {each.opts[-1] for each in options if not isinstance(each, KeyOption)}
        text = command.get_help(command.context_class(command, info_name=name))
        shown[name] = len(re.findall(r"^  -", text, re.MULTILINE))
    assert len(COMMANDS) == 15
    assert len(names) <= 75
    assert shown["run"] <= 28


def test_options_are_grouped_and_read_as_phrases(call) -> None:
    text = call("run", "--help").out
    places = [text.index(f"\n{title}:\n") for title in ("Common", "Data", "Model", "Output")]
    assert places == sorted(places)
    helps = [option.help for name in COMMANDS for option in load_command(name).params
             if option.param_type_name == "option"]  # fmt: skip
    assert not [text for text in helps if text.startswith(("Of ", "For ", "Whether ", "Which "))]


def test_a_missing_package_is_5_with_the_line_that_installs_it(call, monkeypatch) -> None:
    from annomodels import datasets

    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'pyreadstat'", name="pyreadstat")

    monkeypatch.setattr(datasets, "load", missing)
    done = call("check", "dataset:trains")
    assert done.code == 5
    assert "pip install pyreadstat" in done.err


def test_a_defect_is_one_sentence_and_a_traceback_only_with_debug(monkeypatch, capsys) -> None:
    from annomodels import datasets
    from annomodels.cli.main import main

    def broken(name: str) -> None:
        raise RuntimeError("the moon is down")

    monkeypatch.setattr(datasets, "load", broken)
    assert main(["check", "dataset:trains"]) == 70
    err = capsys.readouterr().err
    assert "RuntimeError: the moon is down" in err
    assert "Traceback" not in err
    assert main(["check", "dataset:trains", "--debug"]) == 70
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.slow
def test_colour_only_on_a_terminal(votes: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "annomodels", "check", "no-such-file.csv"],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    assert done.returncode == 3
    assert "\x1b" not in done.stderr


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
    done = _python("-m", "annomodels", _ANNOMODELS_COMPLETE="bash_complete", **words)
    assert done.stdout.split() == ["plain,table", "plain,tsv", "plain,tex"]


def test_the_script_is_printed_and_calls_this_program() -> None:
    done = _python("-m", "annomodels", _ANNOMODELS_COMPLETE="zsh_source")
    assert "_ANNOMODELS_COMPLETE=zsh_complete" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_answer_in_json(name: str) -> None:
    command = load_command(name)
    assert "--format" in {flag for option in command.params for flag in option.opts}
