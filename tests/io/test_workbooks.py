"""Files that libraries read, and what is said when these are missing or too old."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from annomodels import read
from annomodels.cli.main import main
from annomodels.errors import AnnotationError, MissingDependency

LONG = pd.DataFrame(
    {"item": [1, 1, 2, 2], "coder": list("abab"), "label": ["NA", "x", "None", "x"]}
)


@pytest.mark.parametrize(
    ("package", "name", "installed"),
    [
        ("python_calamine", "excel", "python-calamine"),
        ("cassis", "cas", "dkpro-cassis"),
        ("pyreadstat", "sav", "pyreadstat"),
    ],
)
def test_without_the_package_the_line_that_installs_it(
    package: str,
    installed: str,
    name: str,
    export: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    path = tmp_path / "votes.sav"
    path.write_bytes(b"$FL2")
    options: dict[str, Any] = {}
    if name != "sav":
        path, options = export(name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependency, match=rf"pip install {installed}\.$"):
        read(path, **options)
    assert main(["check", str(path), *(["--units", "exact"] if name == "cas" else [])]) == 5
    assert "pip install" in capsys.readouterr().err


def test_a_workbook_with_entities_is_refused(tmp_path: Path) -> None:
    packed = io.BytesIO()
    LONG.to_excel(packed, index=False)
    path = tmp_path / "bad.xlsx"
    bad = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e "boom">]><worksheet>&e;</worksheet>'
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(path, "w") as new:
        for part in old.namelist():
            new.writestr(part, bad if "sheet1" in part else old.read(part))
    with pytest.raises(AnnotationError, match="declares a document type"):
        read(path)


def test_inspect_logs_that_python_cannot_unpack_say_what_to_do(
    formats: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new.eval"
    path.write_bytes((formats / "logs" / "inspect_ai.eval").read_bytes())

    def unknown(*args: Any) -> Any:
        raise NotImplementedError("That compression method is not supported")

    monkeypatch.setattr(zipfile, "_get_decompressor", unknown)
    with pytest.raises(AnnotationError, match="inspect log convert, to the format json"):
        read(path)
