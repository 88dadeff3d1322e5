"""Formulas in the LaTeX that docutils can turn into MathML."""

from __future__ import annotations

import re

__all__ = ["known"]

# MathML lets brackets grow by themselves; docutils does not know the commands that LaTeX needs.
_SIZES = re.compile(r"\\[Bb]igg?[lrm]?(?![A-Za-z])")
_DOTS = re.compile(r"\\dots(?![A-Za-z])")


def known(tex: str) -> str:
    """Write a formula without the commands that docutils does not know."""
    return _DOTS.sub(r"\\ldots", _SIZES.sub("", tex))
