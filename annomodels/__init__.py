"""Bayesian annotation models: gold labels, coder quality and ambiguous items.

Everything public is loaded when it is first used, so that ``import annomodels`` stays light. The
names are listed once, in ``__init__.pyi``, for type checkers and for this file.
"""

from __future__ import annotations

import importlib

try:
    from annomodels._version import __version__ as __version__  # written when a wheel is built
except ImportError:
    __version__ = "0.1.0"


def _listed() -> dict[str, str]:
    """Public names and their modules, from lines such as ``from MODULE import NAME as NAME``."""
    with open(__file__.rpartition(".")[0] + ".pyi", encoding="utf-8") as file:
        words = [line.split() for line in file if line.startswith("from ")]
    return {name: module for _, module, _, name, *_ in words}


_WHERE = _listed()

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'annomodels' has no attribute {name!r}")
    if _WHERE[name] == "annomodels":
        return importlib.import_module(f"annomodels.{name}")
    value = getattr(importlib.import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
