"""Paths: files that are not there or may not be read, and several with and without names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from annomodels import read, scan
from annomodels.errors import AnnotationError
from annomodels.io import border

TONE = {"ana": "xyxyxy", "ben": "xyxyxx", "cem": "yyxyxy"}


def sheet(coder: str) -> pd.DataFrame:
    """Coding sheet of one coder, who is named nowhere in it."""
    rows = range(len(TONE[coder]))
    columns = {"ID": [f"t{n}" for n in rows], "tone": list(TONE[coder])}
    return pd.DataFrame({**columns, "depth": [n % 3 + 1 for n in rows]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "coding"
    place.mkdir()
    return place


def test_a_missing_file_is_told_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("x")
    with pytest.raises(AnnotationError, match=r"Did you mean votes\.csv"):
        read(tmp_path / "vote.csv")
    with pytest.raises(AnnotationError, match="does not exist either"):
        read(tmp_path / "elsewhere" / "votes.csv")
    with pytest.raises(AnnotationError, match=r"does not exist|cannot be read"):
        read("a\0b.csv")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("x")

    def closed(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(border, "_bytes_of", closed)
    with pytest.raises(AnnotationError, match="permission to read"):
        read(path)


def test_what_is_not_a_path(tmp_path: Path) -> None:
    with pytest.raises(AnnotationError, match="from_frame"):
        read({"item": []})  # type: ignore[arg-type]
    with pytest.raises(AnnotationError, match="from_records"):
        read([("t1", "ana", "yes")])  # type: ignore[arg-type]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_broken_link_is_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "nowhere.csv")
    with pytest.raises(AnnotationError, match="does not exist"):
        read(tmp_path / "link.csv")


def test_paths_at_which_there_is_nothing_are_all_named(folder: Path) -> None:
    with pytest.raises(AnnotationError) as caught:
        read({"ana": folder / "ana.csv", "ben": folder / "ben.csv"})
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("paths", [[None], [5], {"ana": 5}, [b"a.csv"]])
def test_what_is_no_path_is_said(paths: object) -> None:
    with pytest.raises(AnnotationError, match="A file name was expected"):
        read(paths)  # type: ignore[arg-type]
    if not isinstance(paths, dict):
        with pytest.raises(AnnotationError, match="A file name was expected"):
            scan(paths)  # type: ignore[arg-type]


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, object]]:
    from annomodels.cli.main import main

    def run(*words: object) -> dict[str, object]:
        capsys.readouterr()
        code = main(["check", *map(str, words), "--format", "json"])
        out, err = capsys.readouterr()
        if code != 0:
            return {"code": code, "err": err}
        checks = json.loads(out)["checks"]
        return {name: checks[name]["value"] for name in ("items", "coders", "labels_given")}

    return run


def test_paths_with_and_without_names(folder: Path, check: Callable[..., object]) -> None:
    for coder in TONE:
        sheet(coder).to_csv(folder / f"{coder}.csv", index=False)
    options = ("--item", "ID", "--label", "tone")
    wanted = {"items": 6, "coders": 3, "labels_given": 18}
    paths = [folder / f"{coder}.csv" for coder in TONE]
    assert check(folder, *options) == wanted
    assert check(*paths, *options) == wanted
    assert check(f"eve={paths[0]}", *paths[1:], *options) == wanted
    mapped = check(*paths, *options, "--read", "map=x=y")
    assert mapped["code"] == 3  # type: ignore[index]
    assert "All 2 labels become 'y'" in mapped["err"]  # type: ignore[index]
    assert check(*paths, *options, "--read", "map=xy")["code"] == 2  # type: ignore[index]
