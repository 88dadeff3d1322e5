"""The page on planning prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "planning.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n+```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.calibration
@pytest.mark.slow
def test_the_page_prints_what_it_says() -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    found = BLOCK.findall(PAGE.read_text("utf-8"))
    assert len(found) == 7
    for code, said in found:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(PAGE), "exec"), names)
        assert out.getvalue() == said
