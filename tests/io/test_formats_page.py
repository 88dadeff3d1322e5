"""The page on formats names all of them, and its code runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annomodels.io.formats import FORMATS
from annomodels.io.units import UNITS
from annomodels.io.writers.catalog import BACKS, LAYOUTS


@pytest.fixture
def page(root: Path) -> str:
    return (root / "docs" / "formats.md").read_text("utf-8")


def test_the_page_names_every_format_unit_and_writer(page: str) -> None:
    read, rest = page.split("## What the readers see to")
    cells = re.findall(r"^\| `([a-z-]+)` \|", read, flags=re.MULTILINE)
    assert sorted(cells) == sorted(form.name for form in FORMATS)
    named = set(re.findall(r"`([a-z-]+)`", rest))
    assert named >= {*UNITS, *LAYOUTS, *BACKS}


def test_the_code_of_the_page_runs_and_prints_what_it_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL))
    exec(compile(code, "<formats.md>", "exec"), {})
    printed = capsys.readouterr().out
    for said in re.findall(r"^print\(.*?\)\s+# (.*·.*)$", code, flags=re.MULTILINE):
        assert said in printed
