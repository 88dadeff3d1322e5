"""Lets tests import each other, and the data of the pages: the table of other packages."""

import importlib
import sys
from pathlib import Path

DOCS = str(Path(__file__).resolve().parents[2] / "docs")

sys.path.insert(0, DOCS)
importlib.import_module("elsewhere")
sys.path[0] = str(Path(__file__).parent)
