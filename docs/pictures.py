"""Take the picture of the report that README and the home page show; needs Chromium on the path.

``python docs/pictures.py`` runs the command of README in an empty folder and photographs its page.
The words of the picture go into a file next to it; the build of the documentation compares them
with the page of today.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from html import unescape
from pathlib import Path

from reports import as_in_readme  # a file beside this one

PICTURE = Path(__file__).resolve().parent / "images" / "report.png"
WORDS = PICTURE.with_suffix(".txt")
SIZE = "1120,800"


def first_screen(page: Path) -> str:
    """Return the words of the first screen of a page: its sentence, states, warning and actions."""
    [shown] = re.findall(r"<section id=summary.*?</section>", page.read_text("utf-8"), re.S)
    words = unescape(re.sub(r"<[^>]+>", " ", shown)).split("\n")
    return "".join(f"{' '.join(line.split())}\n" for line in words if line.strip())


def browser() -> str:
    """Return the first Chromium on the path."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    raise SystemExit("No Chromium on the path. Install it, then run this script again.")


def photograph(page: Path, picture: Path, size: str = SIZE) -> None:
    """Write a picture of the first screen of a page."""
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=3000"]
    name = [f"--window-size={size}", f"--screenshot={picture}", page.resolve().as_uri()]
    subprocess.run([browser(), *options, *name], check=True, capture_output=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        page = as_in_readme(Path(folder))
        photograph(page, PICTURE)
        WORDS.write_text(first_screen(page), "utf-8")
