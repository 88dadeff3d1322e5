"""Places in the sources that advise an option or a command, found by walking them.

A place is a call of ``Option`` or ``Verb``, or a text that names an option (``--force``) or a
command (``annomodels audit``) and is neither a docstring nor the declaration of an option.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from annomodels.cli.main import COMMANDS

PACKAGE = Path(__file__).parents[2] / "annomodels"

NAMED = re.compile(rf"(?<![\w\[-])--[a-z][a-z-]+|\bannomodels (?:{'|'.join(COMMANDS)})\b")
DECLARES = {"option", "as_command", "Verb"}  # calls whose texts are help, or are found themselves


@dataclass(frozen=True)
class Site:
    """One place that advises, and the text around it: `pattern` matches what people read."""

    file: str
    first: int
    last: int
    owner: str
    """Class and function that hold it."""
    named: str
    """What it names, such as ``Option repeats`` or ``--force``."""
    pattern: str = ""
    """Regular expression of the text, for a text that names options as they are typed."""

    @property
    def key(self) -> str:
        """Name that does not change with the lines above it."""
        return f"{self.file}:{self.owner}: {self.named}"


@cache
def all_sites() -> tuple[Site, ...]:
    """Every place of the package that advises."""
    found: list[Site] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name != "errors.py":
            found += list(_in_node(ast.parse(path.read_text("utf-8")), name, ""))
    return tuple(found)


def _in_node(node: ast.AST, file: str, owner: str) -> Iterator[Site]:
    for child in _children(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from _in_node(child, file, f"{owner}.{child.name}".lstrip("."))
            continue
        called = _called(child)
        if called in ("Option", "Verb"):
            yield Site(file, child.lineno, child.end_lineno, owner, f"{called} {_words(child)}")
        elif owner and isinstance(child, (ast.Constant, ast.JoinedStr)) and (text := _text(child)):
            yield Site(file, child.lineno, child.end_lineno or 0, owner, *text)
        if called not in DECLARES:
            yield from _in_node(child, file, owner)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Return the parts of a node without docstrings, decorators and annotations."""
    docstring = ast.get_docstring(node, clean=False) if isinstance(node, _WITH_DOCSTRING) else None
    for name, value in ast.iter_fields(node):
        if name in ("decorator_list", "annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            is_docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            is_piece = isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)
            if isinstance(child, ast.AST) and not is_piece and not (docstring and is_docstring):
                yield child


_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _called(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _words(call: ast.Call) -> str:
    return ", ".join(ast.unparse(argument) for argument in call.args)


def _text(node: ast.Constant | ast.JoinedStr) -> tuple[str, str] | None:
    """Return what a text names and its pattern, if it is a sentence that names something."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    fixed = [part.value if isinstance(part, ast.Constant) else None for part in parts]
    whole = "".join(part if isinstance(part, str) else "\0" for part in fixed)
    named = dict.fromkeys(NAMED.findall(whole))
    if not named or " " not in whole.strip():
        return None
    pattern = ".*?".join(re.escape(piece) for piece in " ".join(whole.split()).split("\0"))
    return ", ".join(named), pattern
