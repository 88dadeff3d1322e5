"""Run the Python of a page while the documentation is built, and put what it shows below it.

Every block fenced with ``python`` runs, in the order of the page and in one namespace, in an empty
folder. Printed text follows the block, and so does the value of its last line when it is an
expression: a figure as a drawing that follows the colours of the page, anything else as text. Code
that is not to run stands in ``{code-block} python``.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterator
from typing import Any

__all__ = ["blocks", "executed", "shows"]

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def blocks(page: str) -> list[str]:
    """Code of a page that runs."""
    return _BLOCK.findall(page)


def executed(page: str, name: str) -> str:
    """Text of a page with the output of its code."""
    import pandas as pd

    names: dict[str, Any] = {"__name__": "__main__"}
    out, at = [], 0
    with _empty_folder(), pd.option_context("display.width", 100, "display.max_columns", 12):
        for n, found in enumerate(_BLOCK.finditer(page), start=1):
            out.append(page[at : found.end()])
            out.append(_shown(*_run(found[1], names, f"<{name}, block {n}>"), f"{name}-{n}"))
            at = found.end()
    return "".join([*out, page[at:]])


def shows(page: str, done: str) -> bool:
    """Whether a page has code, and half of its blocks or more show text or a figure."""
    n = len(blocks(page))
    return n > 0 and done.count("```text") + done.count("<figure") >= max(1, n // 2)


@contextlib.contextmanager
def _empty_folder() -> Iterator[None]:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _run(code: str, names: dict[str, Any], where: str) -> tuple[str, Any]:
    """Run a block; give what it printed and the value of its last line."""
    tree = ast.parse(code, where)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, where, "exec"), names)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)
    return said.getvalue(), value


def _shown(said: str, value: Any, key: str) -> str:
    if type(value).__module__.startswith("matplotlib"):
        from annomodels.plots import inline

        figure = inline(value, re.sub(r"[^\w-]", "-", key), "Figure", "What the code above draws.")
        drawing = f"\n\n```{{raw}} html\n<figure class='drawn'>{figure}</figure>\n```\n"
        value = None
    else:
        drawing = ""
    text = said + ("" if value is None else f"{value!r}\n")
    return (f"\n\n```text\n{text.rstrip()}\n```\n" if text.strip() else "") + drawing
