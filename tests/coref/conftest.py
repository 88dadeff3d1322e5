"""The published cases of coreference measures."""

import json
from pathlib import Path
from typing import Any

import pytest

from annomodels.coref import Document, document_of_judgments


@pytest.fixture(scope="session")
def cases(root: Path) -> dict[str, Any]:
    """Clusterings, tables and chains with their expected numbers."""
    path = root / "tests" / "cases" / "coref_cases.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


@pytest.fixture(scope="session")
def first_it() -> Document:
    """Make the first "it" of Poesio and Artstein (2005), utterance 3.1, by 18 coders."""
    answers = [["E2", "boxcar"]] * 9 + [["E2"]] * 6 + [["boxcar"]] * 3
    kinds = {"E2": "none", "boxcar": "none", "it": "phrase"}
    coders = {f"c{n:02}": (kinds, {"it": answer}) for n, answer in enumerate(answers)}
    return document_of_judgments("3.1", coders, order=["E2", "boxcar", "it"])
