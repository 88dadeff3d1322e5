"""The published cases of coreference measures."""

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def cases(root: Path) -> dict[str, Any]:
    """Clusterings, tables and chains with their expected numbers."""
    path = root / "tests" / "cases" / "coref_cases.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found
