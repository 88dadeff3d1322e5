"""Run the code of a page while the documentation is built, and paste its output below it.

Blocks fenced with ``python`` and ``console`` run in the order of the page, in one namespace and one
empty folder. Printed text follows the block, then the value of its last line when it is an
expression: a figure as a drawing, anything else as text. Progress lines of commands, which end in
``...``, are left out. Code that does not run is fenced with ``{code-block}``.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["blocks", "executed", "kept_file", "outputs", "shows", "untrue"]

_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.M | re.S)
_KEPT = Path(__file__).parent / "_build" / "executed"
WIDTH = 100
_NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
_INTERVAL = rf"{_NUMBER}(?: to |–){_NUMBER}"
# "18 of 200 gold labels are wrong, 9 expected (3 to 21)": the actual number, and its interval
_ACTUAL = re.compile(rf"{_NUMBER}(?: of [\d,]+)?\b[^()\d]*\bwrong\b.*\bexpected\b.*?{_INTERVAL}")
# "22 of 24 intervals contain the actual share"; fewer than 85 % of intervals of 95 % are no chance
_COVERED = re.compile(rf"{_NUMBER} of {_NUMBER} intervals (?:contain|cover)")
FEWEST_COVERED = 0.85
_CELL = re.compile(rf"{_NUMBER} \({_INTERVAL}\)")


def blocks(page: str, language: str = "python") -> list[str]:
    """Return the blocks of a page that run."""
    return [code for found, code in _BLOCK.findall(page) if found == language]


def executed(page: str, name: str) -> str:
    """Return the text of a page with the output of its code, from the cache if nothing changed."""
    kept = kept_file(page, name)
    if kept.exists():
        return kept.read_text("utf-8")
    out, at = [], 0
    for n, (found, (said, value)) in enumerate(outputs(page, name), start=1):
        out.append(page[at : found.end()])
        out.append(_shown(said, value, f"{name}-{n}"))
        at = found.end()
    done = "".join([*out, page[at:]])
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(done, "utf-8")
    return done


def kept_file(page: str, name: str) -> Path:
    """Return where the output of a page is kept, for these sources of page and package."""
    digest = hashlib.sha256((page + name + _package()).encode()).hexdigest()
    return _KEPT / f"{digest[:32]}.md"


def outputs(page: str, name: str) -> Iterator[tuple[re.Match[str], tuple[str, Any]]]:
    """Yield each block that runs with its printed text and value."""
    import pandas as pd

    names: dict[str, Any] = {"__name__": "__main__"}
    options = ("display.width", WIDTH, "display.max_columns", 12, "display.max_colwidth", 60)
    with _empty_folder(), pd.option_context(*options):
        for n, found in enumerate(_BLOCK.finditer(page), start=1):
            if found[1] == "console":
                said, value = "".join(map(_command, _commands(found[2]))), None
            else:
                said, value = _run(found[2], names, f"<{name}, block {n}>")
            shown = said + ("" if value is None else repr(value))
            if lines := untrue(shown):
                raise RuntimeError(f"{name}, block {n} contradicts itself: {'; '.join(lines)}")
            yield found, (said, value)


def untrue(said: str) -> list[str]:
    """Return the lines of an output that disown it, or whose intervals miss what they show.

    >>> untrue("18 of 200 gold labels are wrong, 9 expected (3 to 21)")
    []
    >>> untrue("22 of 200 gold labels are wrong, 9 expected (3 to 21)")
    ['22 of 200 gold labels are wrong, 9 expected (3 to 21)']
    """
    found, compared = [], False
    for line in said.splitlines():
        words = line.split()
        if {"audit", "model"} <= set(words):
            compared = True  # a table of estimates: value, audit and model
        bad = "not reliable" in line
        if actual := _ACTUAL.search(line):
            number, low, high = map(_float, actual.groups())
            bad |= not low <= number <= high
        if covered := _COVERED.search(line):
            hits, of = map(_float, covered.groups())
            bad |= hits < FEWEST_COVERED * of
        cells = _CELL.findall(line)
        if compared and len(cells) == 3:
            (audit, *_), (_, low, high) = (map(_float, cell) for cell in cells[1:])
            bad |= not low <= audit <= high
        if bad:
            found.append(line.strip())
    return found


def _float(text: str) -> float:
    return float(text.replace(",", ""))


def shows(page: str, done: str) -> bool:
    """Return True if at least half of the blocks of a page show text or a figure."""
    n = len(_BLOCK.findall(page))
    return n > 0 and done.count("```text") + done.count("<figure") >= max(1, n // 2)


@cache
def _package() -> str:
    """Digest of the sources of the package, on which all output depends."""
    files = sorted((Path(__file__).parent.parent / "annomodels").rglob("*.py*"))
    sources = [f.read_bytes() for f in files if f.suffix in (".py", ".pyi")]
    return hashlib.sha256(b"".join(sources)).hexdigest()


@contextlib.contextmanager
def _empty_folder() -> Iterator[None]:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _commands(block: str) -> list[str]:
    """Commands of a console block: the lines after ``$``, with their continuations."""
    joined = re.sub(r"\\\n\s*", "", block)
    return [line[2:].partition("  #")[0] for line in joined.splitlines() if line.startswith("$ ")]


def _command(line: str) -> str:
    """Run one command line; its output, both streams in their order."""
    program = "".join(
        f'{name}() {{ "{sys.executable}" {module} "$@"; }}\n'
        for name, module in (("annomodels", "-m annomodels"), ("python", ""))
    )
    root = str(Path(__file__).parent.parent)
    env = {**os.environ, "COLUMNS": f"{WIDTH}", "CI": "1", "MPLBACKEND": "Agg", "PYTHONPATH": root}
    done = subprocess.run(
        ["bash", "-c", program + line],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode not in (0, 1, 141):  # 1: a gate failed; 141: head closed the pipe
        raise RuntimeError(f"{line}\n{done.stdout}")
    lines = [part for part in done.stdout.splitlines() if not part.endswith(" ...")]
    # rows of tables have gaps and stay as they are; a line below a heading ends with the page
    wrapped = [
        [part.rstrip()] if re.search(r"\t|\S  ", part) else textwrap.wrap(part, WIDTH)
        for part in (re.sub(f"^─{{{WIDTH},}}", "─" * WIDTH, part) for part in lines)
    ]
    return "".join(f"{part}\n" for parts in wrapped for part in parts)


def _run(code: str, names: dict[str, Any], where: str) -> tuple[str, Any]:
    """Run a block; its printed text and the value of its last line."""
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
    if any(kind.__module__.startswith("matplotlib") for kind in type(value).__mro__):
        from annomodels.plots import inline

        figure = inline(value, re.sub(r"[^\w-]", "-", key), "Figure", "Figure of the code above.")
        drawing = f"\n\n```{{raw}} html\n<figure class='drawn'>{figure}</figure>\n```\n"
        value = None
    else:
        drawing = ""
    text = said + ("" if value is None else f"{value!r}\n")
    return (f"\n\n```text\n{text.rstrip()}\n```\n" if text.strip() else "") + drawing
