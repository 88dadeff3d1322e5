"""Files take their place whole or not at all, and never over a file unasked."""

from __future__ import annotations

import errno
from pathlib import Path

import pandas as pd
import pytest

from annomodels import read
from annomodels.errors import AnnomodelsError
from annomodels.io.writing import OutputError, atomic_path, guarded, write_table

FRAME = pd.DataFrame({"item": ["t1", "t1"], "coder": ["a", "b"], "label": ["NA", "=1"]})


@pytest.mark.parametrize(
    "name",
    ["a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "a.csv.gz", "a.jsonl.gz", "a", "a.b.csv"],
)
def test_what_is_written_can_be_read(tmp_path: Path, name: str) -> None:
    path = write_table(FRAME, tmp_path / name)
    data = read(path)
    assert data.to_frame().equals(read(write_table(FRAME, tmp_path / "plain.csv")).to_frame())
    assert data.labels == ("=1", "NA")
    assert {p.name for p in tmp_path.iterdir()} == {name, "plain.csv"}


def test_a_file_that_is_there_stays_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("mine")
    with pytest.raises(OutputError, match="A file with this name already exists"):
        write_table(FRAME, path)
    assert path.read_text() == "mine"
    write_table(FRAME, path, force=True)
    assert path.read_text().startswith("item,coder,label\n")


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("mine")

    def interrupted() -> None:
        with atomic_path(path, force=True) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EACCES, "permission to write"),
        (errno.EROFS, "read-only"),
    ],
)
def test_the_disk_speaks_in_sentences(tmp_path: Path, number: int, sentence: str) -> None:
    def failing() -> None:
        with atomic_path(tmp_path / "a.csv"):
            raise OSError(number, "no")

    with pytest.raises(OutputError, match=sentence) as caught:
        failing()
    assert isinstance(caught.value, AnnomodelsError)
    assert caught.value.problem.remedy
    assert not list(tmp_path.iterdir())


def test_other_errors_pass_through(tmp_path: Path) -> None:
    def failing() -> None:
        with atomic_path(tmp_path / "a.csv"):
            raise ConnectionError("not about the disk")

    with pytest.raises(ConnectionError):
        failing()


def test_folders_and_formats(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="folder does not exist"):
        write_table(FRAME, tmp_path / "no" / "a.csv")
    with pytest.raises(OutputError, match="folder with this name"):
        write_table(FRAME, tmp_path, "csv")
    with pytest.raises(OutputError, match="not written as 'xls'"):
        write_table(FRAME, tmp_path / "a.xls")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file, not a folder"):
        write_table(FRAME, tmp_path / "file" / "a.csv")


def test_a_file_that_appears_meanwhile_stays(tmp_path: Path) -> None:
    def racing() -> None:
        with atomic_path(tmp_path / "a.csv") as temporary:
            temporary.write_text("ours")
            (tmp_path / "a.csv").write_text("theirs")

    with pytest.raises(OutputError):
        racing()
    assert (tmp_path / "a.csv").read_text() == "theirs"


def test_formulas_are_guarded_only_for_spreadsheets(tmp_path: Path) -> None:
    frame = pd.DataFrame({"coder": ["=cmd()", "@a", "-1", "+x", "a=b"], "n": [-1, 2, 3, 4, 5]})
    plain = write_table(frame, tmp_path / "plain.csv").read_text()
    assert plain == "coder,n\n=cmd(),-1\n@a,2\n-1,3\n+x,4\na=b,5\n"
    safe = write_table(frame, tmp_path / "safe.csv", spreadsheet=True).read_text()
    assert safe == "coder,n\n'=cmd(),-1\n'@a,2\n-1,3\n'+x,4\na=b,5\n"
    assert guarded(-1) == -1
