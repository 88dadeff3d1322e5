"""The pages on breakdowns and on other packages: their code runs, their table is complete."""

import re
from pathlib import Path

from elsewhere import ELSEWHERE, as_markdown

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_code_of_the_breakdown_page_runs_and_prints(capsys):
    page = (DOCS / "breakdowns.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    included = re.findall(r"generated/breakdowns-(\d)\.txt", page)
    assert included == [str(n + 1) for n in range(len(blocks))]
    names = {}
    for code in blocks:
        exec(code, names)
        assert capsys.readouterr().out.strip()


def test_the_page_on_other_packages_shows_every_row():
    assert "{include} generated/elsewhere.md" in (DOCS / "elsewhere.md").read_text("utf-8")
    text = as_markdown()
    assert text.count("\n| `") == len(ELSEWHERE)
    for row in text.splitlines():
        if row.startswith("| `"):
            assert len(re.findall(r"(?<!\\)\|", row)) == 5
