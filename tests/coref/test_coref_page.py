"""The coreference pages: every block prints what stands below it, and every name is listed."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import annomodels as am


def test_the_page_prints_what_it_says(root: Path) -> None:
    text = (root / "docs" / "coref.md").read_text("utf-8")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    shown = 0
    printed = ""
    for n, (language, block) in enumerate(blocks):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block, f"<block {n}>", "exec"), names)
            printed = out.getvalue()
            assert not printed or blocks[n + 1][0] == "text", block
        elif printed:
            assert printed == block
            shown += 1
            printed = ""
    assert shown >= 10


def test_every_public_name_is_in_the_reference(root: Path) -> None:
    page = (root / "docs" / "coref-api.md").read_text("utf-8")
    listed = re.findall(r"^   (\w+)$", page, flags=re.MULTILINE)
    assert sorted(listed) == sorted(am.coref.__all__)
    assert not [name for name in am.coref.__all__ if not getattr(am.coref, name).__doc__]
