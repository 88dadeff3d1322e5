"""Calls of the command line, written down as they are typed, with exit code and output.

Each file of ``transcripts/`` holds files (``> name``, up to an empty line) and cases (``== name``).
A case has files of its own, and calls: ``$ words``, what stdout and stderr then say, where ``...``
stands for any words, or alone for any lines, and ``exit N`` if it is not 0. ``ls`` and ``cat``
show what is there. In brackets behind a name: marks, and fixtures whose folder is copied.
"""

import io
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.conftest import Done

REFUSED = 3  # the data, and each problem has a remedy
MARKS = ("slow", "nuts", "calibration")


@dataclass
class Case:
    """What is there, and the calls, each with what it is to say."""

    name: str = ""
    words: tuple[str, ...] = ()
    files: dict[str, list[str]] = field(default_factory=dict)
    calls: list[tuple[str, list[str]]] = field(default_factory=list)


def cases_of(path: Path) -> list[Case]:
    """Read a transcript; what stands before its first case is there in all of them."""
    shared = case = Case()
    cases: list[Case] = []
    lines: list[str] = []  # of what was begun last
    in_file = False
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("== "):
            name, _, words = line[3:].rstrip("]").partition(" [")
            case = Case(f"{path.stem}: {name}", tuple(words.split()), dict(shared.files))
            cases.append(case)
            lines, in_file = [], False
        elif line.startswith("$ "):
            lines, in_file = [], False
            case.calls.append((line[2:], lines))
        elif line.startswith("> ") and not in_file:
            lines, in_file = [], True
            case.files[line[2:]] = lines
        elif in_file and not line:
            lines, in_file = [], False
        else:
            lines.append(line)
    return cases


def parameter(case: Case) -> object:
    marks = [getattr(pytest.mark, mark) for mark in MARKS if mark in case.words]
    return pytest.param(case, id=case.name, marks=marks)


TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
CASES = [parameter(case) for path in TRANSCRIPTS for case in cases_of(path)]


@pytest.mark.parametrize("case", CASES)
def test_the_command_line_answers_as_written(
    case: Case,
    call: Callable[..., Done],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in set(case.words) - {*MARKS}:
        shutil.copytree(request.getfixturevalue(word), tmp_path, dirs_exist_ok=True)
    for name, lines in case.files.items():
        path, _, encoding = name.partition(" ")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("".join(f"{line}\n" for line in lines), encoding or "utf-8")
    for words, lines in case.calls:
        done = carried_out(words, call, monkeypatch)
        said = [*spaced(done.out), *spaced(done.err), *[f"exit {done.code}"] * bool(done.code)]
        pattern = "".join(map(pattern_of, spaced("\n".join(lines))))
        assert re.fullmatch(pattern, "\n".join([*said, ""])), "\n".join(["", words, *said])
        assert ("FAILED " in done.err) == (done.code == 1), words
        if done.code == REFUSED:
            assert not done.out, words
            assert done.err.count("fix:") >= max(1, done.err.count("where:")), words


def spaced(text: str) -> list[str]:
    """Return the lines that say something, with one space for each gap."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def pattern_of(line: str) -> str:
    """Return what matches a line; dots alone stand for any lines, and in a line for any words."""
    if line == "...":
        return r"(?:.*\n)*?"
    return ".*?".join(map(re.escape, line.split("..."))) + "\n"


def carried_out(line: str, call: Callable[..., Done], monkeypatch: pytest.MonkeyPatch) -> Done:
    program, *words = shlex.split(line)
    if program == "ls":
        found = Path(*words).iterdir()
        names = sorted(path.name + "/" * path.is_dir() for path in found)
        return Done(0, "\n".join(names), "")
    if program == "cat":
        return Done(0, Path(*words).read_text("utf-8"), "")
    assert program == "annomodels", line
    if words[-2:-1] == ["<"]:
        typed = io.BytesIO(Path(words.pop()).read_bytes())
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(typed))
        words.pop()
    return call(*words)
