"""The table of what is read, on the page on formats: made from the registry of readers.

``python docs/readers.py`` writes it anew between its marks; a test fails where the page differs.
"""

from __future__ import annotations

import re
from pathlib import Path

from annomodels.io.formats import FORMATS, Format

PAGE = Path(__file__).parent / "formats.md"
BEGIN = "<!-- Made by docs/readers.py from annomodels/io/shapes.toml: change it there. -->\n"
END = "<!-- End of what docs/readers.py makes. -->\n"
# names of files, columns and keys: words with an underscore, a star, a colon or a capital inside
_NAME = re.compile(
    r"[^\s,()|]*(?:[_*]|[a-z][A-Z]|[A-Z]{3}[a-z]|\.json|:(?=\w|$|\"))[^\s,()|]*|(?<!\w)\.\w+(?:\.\w+)+"
)


def as_markdown() -> str:
    """Table of the readers, in the order in which they are tried."""
    lines = ["| name | tool and export | known by | holds |", "|---|---|---|---|"]
    for form in FORMATS:
        known_by = _NAME.sub(r"`\g<0>`", form.signature)
        lines.append(f"| `{form.name}` | {_escaped(form.title)} | {known_by} | {_holds(form)} |")
    return "\n".join(lines) + "\n"


def renewed(page: str) -> str:
    """Page with the table as it is now.

    Raises
    ------
    ValueError
        When the page does not hold the two marks once, in their order.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in rest or END in before + after:
        raise ValueError(f"{PAGE.name} needs the marks once each: {BEGIN}{END}")
    return f"{before}{begin}\n{as_markdown()}\n{end}{after}"


def _holds(form: Format) -> str:
    words = {"labels": form.read, "marked text (`units=`)": form.spans}
    return ", ".join(word for word, holds in words.items() if holds)


def _escaped(text: str) -> str:
    return re.sub(r"([|*_<])", r"\\\1", text)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")
