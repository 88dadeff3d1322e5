"""Examples of what readers share, kept here because internal docstrings have one line."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

PARTS = re.split(
    r"^(annomodels\.io\.[\w.]+)\n=+\n",
    (Path(__file__).parent / "examples.txt").read_text("utf-8"),
    flags=re.M,
)[1:]


@pytest.mark.parametrize(
    ("module", "text"), list(zip(PARTS[::2], PARTS[1::2], strict=True)), ids=PARTS[::2]
)
def test_examples_of_a_module(module: str, text: str) -> None:
    names = dict(vars(importlib.import_module(module)))
    example = doctest.DocTestParser().get_doctest(text, names, module, "examples.txt", 0)
    assert example.examples
    lines: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(example, out=lines.append).failed
    assert not failed, "".join(lines)
