"""The page on formats names all of them, and its code runs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from annomodels.io.formats import FORMATS
from annomodels.io.span_builder import UNITS
from annomodels.io.writers.catalog import BACKS, LAYOUTS


@pytest.fixture
def page(root: Path) -> str:
    return (root / "docs" / "formats.md").read_text("utf-8")


def test_the_page_names_every_format_unit_and_writer(page: str) -> None:
    read, rest = page.split("## What the readers take care of")
    cells = re.findall(r"^\| `([a-z-]+)` \|", read, flags=re.MULTILINE)
    assert sorted(cells) == sorted(form.name for form in FORMATS)
    named = set(re.findall(r"`([a-z-]+)`", rest))
    assert named >= {*UNITS, *LAYOUTS, *BACKS}


@pytest.fixture
def readers(root: Path) -> ModuleType:
    """Script that makes the table."""
    spec = importlib.util.spec_from_file_location("readers", root / "docs" / "readers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_readers_is_the_registry(page: str, readers: ModuleType) -> None:
    assert page == readers.renewed(page), "run python docs/readers.py"
    changed = page.replace("| `mturk` |", "| `amt` |")
    assert changed != readers.renewed(changed) == page


def test_every_row_says_what_a_reader_gives(readers: ModuleType) -> None:
    rows = readers.as_markdown().splitlines()[2:]
    given = {row.split("`")[1]: row.rsplit(" | ", 1)[1] for row in rows}
    assert given["brat"] == "marked text (`units=`) |"
    assert given["mturk"] == "labels |"
    assert given["prodigy"] == "labels, marked text (`units=`) |"
    assert all(re.sub(r"\\\\.", "", row).count("|") == 5 for row in rows)


def test_a_page_without_the_marks_is_refused(page: str, readers: ModuleType) -> None:
    for broken in (page.replace(readers.END, ""), page + readers.BEGIN, ""):
        with pytest.raises(ValueError, match="marks"):
            readers.renewed(broken)


def test_the_code_of_the_page_runs_and_prints_what_it_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL))
    exec(compile(code, "<formats.md>", "exec"), {})
    printed = capsys.readouterr().out
    for said in re.findall(r"^print\(.*?\)\s+# (.*·.*)$", code, flags=re.MULTILINE):
        assert said in printed
