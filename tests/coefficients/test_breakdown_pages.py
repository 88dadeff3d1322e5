"""The page on other packages: its table is complete."""

import re
from pathlib import Path

from elsewhere import ELSEWHERE, as_markdown

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_on_other_packages_shows_every_row():
    assert "{include} generated/elsewhere.md" in (DOCS / "elsewhere.md").read_text("utf-8")
    text = as_markdown()
    assert text.count("\n| `") == len(ELSEWHERE)
    for row in text.splitlines():
        if row.startswith("| `"):
            assert len(re.findall(r"(?<!\\)\|", row)) == 5
