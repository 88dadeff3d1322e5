"""``annomodels methods`` on a saved fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import annomodels as am
from annomodels.reporting.methods import bibtex, methods, methods_latex


@pytest.mark.slow
def test_each_form_is_what_the_function_gives(saved: Path, tmp_path: Path, call) -> None:
    fit = am.load(saved)
    command = str(fit.tree.attrs["command"])
    assert call("methods", saved).out == methods(fit, command)
    parts = json.loads(call("methods", saved, "--json").out)
    assert parts["bibtex"] == bibtex(fit)
    assert call("methods", saved, "-o", tmp_path / "m.tex").code == 0
    assert (tmp_path / "m.tex").read_text("utf-8") == methods_latex(fit, command)
    assert call("methods", saved, "-o", tmp_path / "m.bib").code == 0
    assert (tmp_path / "m.bib").read_text("utf-8") == bibtex(fit)


@pytest.mark.parametrize(
    ("words", "hint"),
    [(["--json", "--format", "md"], "cannot both"), (["--format", "docx"], "tex")],
)
def test_wrong_words_are_usage_errors(saved: Path, words: list[str], hint: str, call) -> None:
    done = call("methods", saved, *words)
    assert done.code == 2
    assert hint in done.err
