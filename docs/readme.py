"""Paste the output of README's code below it, and the measured numbers between their marks.

``python docs/readme.py`` rewrites README.md; a test runs the same blocks.
"""

from __future__ import annotations

import re
from pathlib import Path

from evidence import FIGURE, figure, sentences  # files beside this one
from execute import kept_file, outputs

README = Path(__file__).resolve().parent.parent / "README.md"
PAPER = README.parent / "paper.md"
_TEXT = re.compile(r"\n+```text\n.*?^```$", re.M | re.S)
_MARK = re.compile(r"<!-- evidence -->.*?<!-- end -->", re.S)


def renewed(page: str) -> str:
    """Return the page with the output of its code as it is now."""
    parts, at = [], 0
    for found, (said, _) in outputs(page, "README"):
        end = found.end()
        old = _TEXT.match(page, end)
        parts += [page[at:end], f"\n```text\n{said.rstrip()}\n```" if said.strip() else ""]
        at = old.end() if old else end
    return with_evidence("".join([*parts, page[at:]]))


def stale(page: str) -> bool:
    """Return True if the page shows another output than its code has now; asked once per state."""
    kept = kept_file(page, "README")
    if not kept.exists():
        if renewed(page) != page:
            return True
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(page, "utf-8")
    return False


def with_evidence(page: str) -> str:
    """Return the page with the numbers of the measured tables."""
    text = sentences()["readme"]
    return _MARK.sub(lambda _: f"<!-- evidence -->{text}<!-- end -->", page)


if __name__ == "__main__":
    FIGURE.write_text(figure(), "utf-8")
    README.write_text(renewed(README.read_text("utf-8")), "utf-8")
    PAPER.write_text(with_evidence(PAPER.read_text("utf-8")), "utf-8")
