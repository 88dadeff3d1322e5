"""Notebooks from the tutorials: ``python docs/notebooks.py FOLDER``."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

__all__ = ["notebook"]

TUTORIALS = Path(__file__).resolve().parent / "tutorials"
_CODE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def notebook(page: str) -> dict[str, Any]:
    """Return a page as a notebook: its text as Markdown cells, its Python as code cells."""
    cells, at = [], 0
    for found in _CODE.finditer(page):
        cells += [_cell("markdown", page[at : found.start()]), _cell("code", found[1])]
        at = found.end()
    cells.append(_cell("markdown", page[at:]))
    kept = [{**cell, "id": f"cell-{n}"} for n, cell in enumerate(cells) if cell["source"]]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": kept, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _cell(kind: str, text: str) -> dict[str, Any]:
    plain = re.sub(r"^```\{code-block\} (\w+)$", r"```\1", text.strip(), flags=re.M)
    plain = re.sub(r"\[([^\]]*)\]\((?!http)[^)]*\)", r"\1", plain)  # pages are not beside it
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}}
    cell["source"] = plain.splitlines(keepends=True)
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(TUTORIALS.glob("*.md")):
        if path.stem != "index":
            made = json.dumps(notebook(path.read_text("utf-8")), indent=1, ensure_ascii=False)
            (folder / f"{path.stem}.ipynb").write_text(made + "\n", "utf-8")
