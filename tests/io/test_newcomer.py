"""Files that nobody had tried are read as meant, or refused with the true reason."""

import shlex
import tomllib
from pathlib import Path

import pytest

from annomodels.cli.main import main

FOLDER = Path(__file__).parent / "newcomer"
CASES = tomllib.loads((FOLDER / "cases.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_the_file_is_read_as_meant(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command has its exit code, says what is expected, and its proposed lines work."""
    monkeypatch.chdir(FOLDER)
    monkeypatch.setenv("COLUMNS", "400")
    case = CASES[name]
    code = main(shlex.split(case["line"]))
    printed = "".join(capsys.readouterr())
    assert code == case["code"], printed
    assert [words for words in case["says"] if words not in printed] == [], printed
    proposed = [line for line in printed.splitlines() if "annomodels check" in line]
    for line in proposed:
        assert main(shlex.split(line[line.index("annomodels check") :])[1:]) == 0, line
