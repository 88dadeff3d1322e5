"""Lets tests import the data of the pages: the table of other packages' functions."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

DOCS = str(Path(__file__).resolve().parents[2] / "docs")

sys.path.insert(0, DOCS)
importlib.import_module("elsewhere")
sys.path.remove(DOCS)
